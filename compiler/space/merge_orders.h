#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "compiler/space/prefixes.h"

/// Orders of loops told apart by the merges they pay. A merge takes its steps once for every iteration of the
/// loops around it, so its term depends on which loops these are (docs/cost_model.md, "Intersections").
namespace schaas::space {

/// Terms of merges, sorted.
using Merges = std::vector<cost::Term>;

/// The term of each merge of a nest in this order.
Merges merges_of(const Context& context, const Order& order);

/// The legal orders of the subsets of one set of loops, counted by their merges. Not thread-safe.
class MergeOrders {
 public:
  using Counts = std::map<Merges, std::uint64_t>;  ///< number of orders by merges

  MergeOrders(const Context& context, IndexSet loops) : context_(context), loops_(loops) {}

  /// Orders of all loops that begin with `first` and end in `last`, `around` before it (-1: any loop).
  Counts between(int first, int around, int last);
  /// Orders of all loops that begin with `first` (-1: any loop).
  const Counts& beginning_with(int first) { return of(loops_, first); }

 private:
  const Counts& of(IndexSet set, int first);
  void extend(const Counts& by, IndexSet outside, int loop, Counts& into) const;

  const Context& context_;
  IndexSet loops_;
  std::map<std::pair<IndexSet, int>, Counts> known_;
};

}  // namespace schaas::space
