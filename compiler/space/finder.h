#pragma once
#include <unordered_map>
#include <vector>

#include <gmpxx.h>

#include "compiler/space/loop_trees.h"
#include "compiler/space/member.h"
#include "compiler/space/sums.h"
#include "compiler/space/watch.h"

namespace schaas::space {

/// Goes down the recursion with one cost class in hand: which transitions can still give exactly these terms.
class Finder {
 public:
  /// A member with its penalty: lower is better (docs/cost_model.md, "Inside a class").
  struct Ranked {
    std::int64_t penalty = 0;
    TreeId tree = 0;
    MemberPtr member;
  };
  struct Answer {
    mpz_class members;          ///< exact
    std::vector<TreeId> trees;  ///< sorted, distinct; cut off beyond the limit
    bool trees_cut = false;
    std::vector<Ranked> best;  ///< one member per loop tree, best first
  };

  Finder(Recursion& recursion, Sums& sums, TreeTable& trees, std::size_t best, std::size_t max_trees)
      : recursion_(recursion), sums_(sums), trees_(trees), best_(best), max_trees_(max_trees) {}

  /// `outermost`: no loop is above, so the state's first loop is what threads share out.
  const Answer& of(StateId id, SumId time, SumId memory, bool outermost, Watch& watch);
  /// Bytes of the answers, about.
  std::size_t bytes() const { return bytes_; }
  /// Adds the trees and the best members of another root.
  static void add(Answer& into, const Answer& more, std::size_t best);

 private:
  struct Goal {
    StateId id;
    SumId time, memory;
    bool outermost;
    bool operator==(const Goal&) const = default;
  };
  struct GoalHash {
    std::size_t operator()(const Goal& goal) const;
  };
  struct Parts;
  void linear(const Goal& goal, Answer& answer, Watch& watch);
  /// The legal orders of `loops` that `wanted` says yes to, at most `limit` of them; true when there are
  /// more.
  template <class Wanted>
  bool orders_of(StateId id, IndexSet loops, std::size_t limit, std::vector<Order>& orders,
                 const Wanted& wanted);
  void fused(const Goal& goal, std::size_t choice, Answer& answer, Watch& watch);
  void joined(const Goal& goal, std::size_t choice, Answer& answer, Watch& watch);
  /// Every way to deal out the terms to two sides with these loops.
  template <class Visit>
  void deal(const std::vector<cost::Term>& time, const std::vector<cost::Term>& memory, IndexSet first,
            IndexSet second, const Visit& visit);
  void combine(Answer& answer, Member::Kind kind, const Goal& goal, std::size_t choice,
               const std::vector<Order>& orders, const Answer& producers, const Answer& consumers,
               Watch& watch);
  void finish(Answer& answer) const;
  std::int64_t order_penalty(StateId id, const Order& order) const;
  std::int64_t phase_penalty(StateId id, const Order& order) const;
  /// Appends the loops from a member down to the leaf that writes its target, outermost first. Or down to the
  /// one that reads the operand at an end of its state.
  static void append_writer(const Member& member, Order& loops);
  void append_reader(const Member& member, bool left, Order& loops) const;

  Recursion& recursion_;
  Sums& sums_;
  TreeTable& trees_;
  std::size_t best_;
  std::size_t max_trees_;
  std::size_t bytes_ = 0;
  std::unordered_map<Goal, std::unique_ptr<Answer>, GoalHash> known_;
};

}  // namespace schaas::space
