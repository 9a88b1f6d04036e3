#pragma once
#include <bit>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "compiler/space/contraction.h"

/// Orders of loops under a precedence: counted, numbered and listed without enumerating permutations.
namespace schaas::space {

using Order = std::vector<std::uint8_t>;  ///< index numbers, outermost first

/// No loop of the set has to stand inside of `last`.
inline bool may_end(const Precedence& before, IndexSet loops, int last) {
  for (IndexSet rest = loops; rest != 0; rest &= rest - 1) {
    if ((before[static_cast<std::size_t>(std::countr_zero(rest))] >> last) & 1U) return false;
  }
  return true;
}

/// The orders of subsets under one precedence. Not thread-safe (counts are remembered).
class Orders {
 public:
  explicit Orders(const Precedence& before);

  /// Number of orders of `loops` in which x comes after before[x] & loops; 0 when the precedence is cyclic.
  std::uint64_t count(IndexSet loops);
  /// Counts those that end in `last`.
  std::uint64_t count_ending_in(IndexSet loops, int last);
  /// Counts those that begin with `first` (-1: with any) and end in `last`, `around` before it (-1:
  /// any).
  std::uint64_t count_between(IndexSet loops, int first, int around, int last);
  /// Decides whether there are any, given that `loops` has an order at all. Thread-safe.
  bool any_between(IndexSet loops, int first, int around, int last) const;
  /// The order with this number, 0 <= number < count(loops), lexicographic.
  Order at(IndexSet loops, std::uint64_t number);
  /// All orders, lexicographic; stops when `visit` returns false.
  bool each(IndexSet loops, const std::function<bool(const Order&)>& visit);

  /// The loops that some other of `loops` must be outside of.
  IndexSet bound(IndexSet loops) const {
    IndexSet set = 0;
    for (IndexSet rest = loops & constrained_; rest != 0; rest &= rest - 1) {
      const int x = std::countr_zero(rest);
      if ((before_[static_cast<std::size_t>(x)] & loops) != 0) set |= IndexSet{1} << x;
    }
    return set;
  }
  /// True when x may come next after `placed` within `loops`.
  bool available(int x, IndexSet placed, IndexSet loops) const {
    return (before_[static_cast<std::size_t>(x)] & loops & ~placed) == 0;
  }

 private:
  bool extend(IndexSet placed, IndexSet loops, Order& order, const std::function<bool(const Order&)>& visit);
  std::uint64_t count_bound(IndexSet loops);

  Precedence before_;
  IndexSet constrained_ = 0;  ///< the indices with anything before them
  std::unordered_map<IndexSet, std::uint64_t> counts_;
};

/// Length of common prefixes: as long as both sides go the same way, or shorter as well.
enum class Prefixes { maximal, every };

/// Visits the distinct maximal common prefixes of the orders of `loops`, restricted to two sides with union
/// `loops` (docs/schedule_space.md, The recursion). A set q is one when it is closed under the precedence
/// within `loops`, holds shared indices only, and some unshared index may follow it. Calls `visit` with each
/// such set that leaves both sides a loop, ascending; the prefix's orders are those of q itself. With
/// Prefixes::every nothing need follow: what both sides still share is not fused.
template <class Visit>
void each_common_prefix(const Orders& orders, IndexSet producer, IndexSet consumer, Prefixes kind,
                        const Visit& visit) {
  const IndexSet loops = producer | consumer;
  const IndexSet shared = producer & consumer;
  const IndexSet bound = orders.bound(loops);
  const IndexSet unshared_free = loops & ~shared & ~bound;
  const bool any_may_follow = kind == Prefixes::every || unshared_free != 0;
  const auto all_available = [&](IndexSet set, IndexSet placed) {
    for (IndexSet rest = set & bound; rest != 0; rest &= rest - 1) {
      if (!orders.available(std::countr_zero(rest), placed, loops)) return false;
    }
    return true;
  };
  const auto any_available = [&](IndexSet set, IndexSet placed) {
    for (IndexSet rest = set; rest != 0; rest &= rest - 1) {
      if (orders.available(std::countr_zero(rest), placed, loops)) return true;
    }
    return false;
  };
  // Subsets of `shared`, ascending: s = (s - shared) & shared.
  for (IndexSet q = 0;; q = (q - shared) & shared) {
    const bool both_left = (producer & ~q) != 0 && (consumer & ~q) != 0;
    if (both_left && (any_may_follow || any_available(loops & ~shared, q)) && all_available(q, q)) visit(q);
    if (q == shared) break;
  }
}

}  // namespace schaas::space
