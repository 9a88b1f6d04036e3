#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "compiler/space/contraction.h"
#include "compiler/space/prefixes.h"
#include "compiler/space/space.h"

/// The states of the space and the transitions between them (docs/schedule_space.md). Everything the
/// space answers (counts, classes, trees, members) is one fold over this graph. A state's transitions lead to
/// states with fewer loops or fewer operands, so the graph has no cycle.
namespace schaas::space {

using StateId = std::uint32_t;

/// What is left to compute: a sequence of operands, originals by number, temporaries by their remaining
/// indices.
struct State {
  static constexpr std::uint32_t temporary_flag = 1U << 16;
  enum class End : std::uint8_t { none, left, right };

  std::array<std::uint32_t, max_operands> slots{};
  std::uint8_t size = 0;
  End newest = End::none;     ///< where the newest temporary stands: it never is a side of a split alone
  bool final_result = false;  ///< computes the problem's result
  bool joins = false;         ///< double-producer combinations are allowed here
  IndexSet loops = 0;         ///< the union of the operands' indices (more under Rule::published)
  IndexSet out = 0;           ///< indices of the target within `loops`
  bool operator==(const State&) const = default;
};

/// producer and consumer below common loops `prefix`, in any of `orders` orders.
struct Transition {
  StateId producer = 0, consumer = 0;
  IndexSet prefix = 0;
  IndexSet temporary = 0;  ///< indices of the temporary: shared, not in the prefix
  std::uint8_t split = 0;
  bool producer_left = true;
  std::uint64_t orders = 1;
};

/// Two producers, both stored whole, combined by one more nest.
struct Join {
  StateId left = 0, right = 0;
  IndexSet loops = 0;  ///< of the combining nest
  IndexSet left_temporary = 0, right_temporary = 0;
  std::uint8_t split = 0;
  std::uint64_t orders = 1;
};

struct Expansion {
  bool done = false;
  std::uint32_t members = 0;  ///< bit n: original operand n takes part
  std::uint64_t linear = 0;   ///< orders of the linear nest
  std::vector<Transition> transitions;
  std::vector<Join> joins;
};

class Recursion {
 public:
  Recursion(const problem::Problem& problem, Options options);

  const Contraction& contraction() const { return contraction_; }
  /// One root per operand order p <= reverse(p), the order as written first.
  const std::vector<StateId>& roots() const { return roots_; }
  const std::vector<std::vector<int>>& operand_orders() const { return operand_orders_; }

  std::size_t size() const { return states_.size(); }
  const State& state(StateId id) const { return *states_[id]; }
  /// The state's transitions, found on first use. The reference stays valid.
  const Expansion& expand(StateId id);
  /// True once a state could not be added: the answer in progress is not to be used.
  bool overflowed() const { return overflowed_; }

  /// Loop orders of a state with these originals, and what its loops count.
  Orders& orders(std::uint32_t members, bool final_result);
  const Context& context(std::uint32_t members, bool final_result);
  /// Orders and context of a state.
  Orders& orders(StateId id) { return orders(expand(id).members, state(id).final_result); }
  const Context& context(StateId id) { return context(expand(id).members, state(id).final_result); }

  /// The cost term of the state's linear nest when `last` is its innermost loop (-1: no loop at all).
  cost::Term leaf_term(StateId id, int last);
  /// The cost term of a combining nest of temporaries.
  cost::Term join_term(StateId id, IndexSet loops, int last) const;
  /// Weight above contiguous of the same nests, whatever the profile: ranks members of one class.
  int leaf_jumps(StateId id, int last) const;
  int join_jumps(StateId id, int last) const;
  /// The innermost loops a nest over `loops` can have with their numbers of orders.
  std::vector<std::pair<int, std::uint64_t>> innermost_choices(StateId id, IndexSet loops);

 private:
  struct StateHash {
    std::size_t operator()(const State& state) const;
  };
  struct PerContext {
    Context context;
    Orders orders;
  };
  StateId intern(const State& state);
  IndexSet indices_of(const State& state, int slot) const;
  void add_fusions(const State& state, Expansion& expansion, int split, bool producer_left);
  void add_join(const State& state, Expansion& expansion, int split);
  cost::Access leaf_class(StateId id, int last) const;
  cost::Access join_class(StateId id, int last) const;
  PerContext& per_context(std::uint32_t members, bool final_result);

  Contraction contraction_;
  Options options_;
  bool overflowed_ = false;
  std::unordered_map<State, StateId, StateHash> ids_;
  std::vector<const State*> states_;  ///< keys of ids_, whose addresses are stable
  std::vector<std::unique_ptr<Expansion>> expansions_;
  std::vector<StateId> roots_;
  std::vector<std::vector<int>> operand_orders_;
  std::unordered_map<std::uint32_t, std::unique_ptr<PerContext>> contexts_;
};

}  // namespace schaas::space
