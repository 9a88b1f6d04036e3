#include "compiler/space/merge_orders.h"

#include <algorithm>
#include <bit>

// A table over the sets of loops placed so far, outermost first. The orders of a set are those of the set
// without its last loop, with one more merge when that loop merges. Sets are far fewer than orders.
namespace schaas::space {
namespace {

/// Calls visit(x, the others) for the members of a set.
template <class Visit>
void each_member(IndexSet set, const Visit& visit) {
  for (IndexSet rest = set; rest != 0; rest &= rest - 1) {
    const int x = std::countr_zero(rest);
    visit(x, set & ~(IndexSet{1} << x));
  }
}

cost::Term merge_term(const Context& context, IndexSet outside, int loop) {
  return cost::make_term(trips_of(context, outside) | context.steps[static_cast<std::size_t>(loop)],
                         cost::Access::merged);
}

}  // namespace

Merges merges_of(const Context& context, const Order& order) {
  Merges merges;
  IndexSet outside = 0;
  for (const std::uint8_t loop : order) {
    if ((context.merges >> loop) & 1U) merges.push_back(merge_term(context, outside, loop));
    outside |= IndexSet{1} << loop;
  }
  std::sort(merges.begin(), merges.end());
  return merges;
}

/// Adds the orders `by` with one more loop inside, and its merge where it merges.
void MergeOrders::extend(const Counts& by, IndexSet outside, int loop, Counts& into) const {
  const bool merging = ((context_.merges >> loop) & 1U) != 0;
  for (const auto& [merges, orders] : by) {
    Merges more = merges;
    if (merging) {
      const cost::Term term = merge_term(context_, outside, loop);
      more.insert(std::upper_bound(more.begin(), more.end(), term), term);
    }
    into[std::move(more)] += orders;
  }
}

const MergeOrders::Counts& MergeOrders::of(IndexSet set, int first) {
  const auto [position, added] = known_.try_emplace({set, first});
  if (!added) return position->second;
  Counts counts;
  if (set == 0) {
    counts[{}] = 1;
  } else {
    each_member(set, [&](int last, IndexSet others) {
      if (first >= 0 && (last == first) != (others == 0)) return;
      if (may_end(context_.before, set, last))
        extend(of(others, others == 0 ? -1 : first), others, last, counts);
    });
  }
  return known_[{set, first}] = std::move(counts);
}

/// Counts the orders of the other loops, then puts `around` and `last` inside.
MergeOrders::Counts MergeOrders::between(int first, int around, int last) {
  IndexSet set = loops_;
  if (!may_end(context_.before, set, last)) return {};
  set &= ~(IndexSet{1} << last);
  if (around >= 0) {
    if (!may_end(context_.before, set, around)) return {};
    set &= ~(IndexSet{1} << around);
  }
  if (first >= 0 && set == 0 && first != (around >= 0 ? around : last)) return {};
  if (first >= 0 && set != 0 && ((set >> first) & 1U) == 0) return {};
  Counts counts = of(set, set == 0 ? -1 : first);
  for (const int next : {around, last}) {
    if (next < 0) continue;
    Counts longer;
    extend(counts, set, next, longer);
    set |= IndexSet{1} << next;
    counts = std::move(longer);
  }
  return counts;
}

}  // namespace schaas::space
