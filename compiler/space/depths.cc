#include "compiler/space/depths.h"

#include <algorithm>
#include <array>
#include <bit>

// Numbers of members by depths. Both depths of a split are maxima over its sides, so a table over all pairs
// holds a state. The front of the pairs, stage 2 of the papers, is thus known before any class is.
namespace schaas::space {

/// Numbers of members by loop depth and memory depth.
template <class Number>
class DepthCounts<Number>::Table {
 public:
  /// False when the sum does not fit.
  bool add(Space::Depths depths, const Number& members) {
    Number& sum = numbers_[static_cast<std::size_t>(depths.loops)][static_cast<std::size_t>(depths.memory)];
    sum += members;
    return sum >= members;
  }
  std::vector<Entry> take() const {
    std::vector<Entry> entries;
    for (int loops = 0; loops <= max_indices; ++loops) {
      for (int memory = 0; memory <= max_indices; ++memory) {
        const Number& members = numbers_[static_cast<std::size_t>(loops)][static_cast<std::size_t>(memory)];
        if (members != 0) entries.push_back({{loops, memory}, members});
      }
    }
    return entries;
  }

 private:
  std::array<std::array<Number, max_indices + 1>, max_indices + 1> numbers_{};
};

template <class Number>
const std::vector<typename DepthCounts<Number>::Entry>& DepthCounts<Number>::of(StateId id, Watch& watch) {
  static const std::vector<Entry> none;
  if (const auto found = known_.find(id); found != known_.end()) return found->second;
  if (watch.stopped() || overflowed_) return none;
  const Expansion expansion = recursion_.expand(id);
  Table table;
  if (expansion.linear) {
    const IndexSet loops = recursion_.state(id).loops;
    const auto orders = static_cast<unsigned long>(recursion_.orders(id).count(loops));
    table.add({std::popcount(loops), 0}, Number(orders));
  }
  /// Both sides below `above` loops; `least`: what the split itself has.
  const auto combine = [&](StateId first, StateId second, int above, Space::Depths least,
                           std::uint64_t orders) {
    const std::vector<Entry>& ours = of(first, watch);
    const std::vector<Entry>& theirs = of(second, watch);
    for (const Entry& a : ours) {
      for (const Entry& b : theirs) {
        const Space::Depths depths{std::max(least.loops, above + std::max(a.depths.loops, b.depths.loops)),
                                   std::max({least.memory, a.depths.memory, b.depths.memory})};
        Number members = 0;
        if (!multiply(a.members, b.members, orders, members) || !table.add(depths, members))
          overflowed_ = true;
      }
    }
  };
  for (const Transition& t : expansion.transitions) {
    combine(t.producer, t.consumer, std::popcount(t.prefix), {0, std::popcount(t.temporary)},
            orders_of(recursion_, id, t));
  }
  for (const Join& join : expansion.joins) {
    combine(join.left, join.right, 0,
            {std::popcount(join.loops),
             std::max(std::popcount(join.left_temporary), std::popcount(join.right_temporary))},
            orders_of(recursion_, id, join));
  }
  if (watch.stopped() || overflowed_) return none;
  return known_[id] = table.take();
}

template class DepthCounts<Multiplicity>;
template class DepthCounts<mpz_class>;

}  // namespace schaas::space
