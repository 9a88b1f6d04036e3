#include "compiler/space/prefixes.h"

#include <bit>

#include "compiler/support/result.h"

// Linear extensions of a precedence. To count them is #P-complete in general (Brightwell and Winkler,
// Counting linear extensions, 1991), but sets have at most 16 loops here. Counts are remembered by set and go
// by the last element. Loops without any relation are interleaved by a formula. Numbering divides by the
// counts of what may come next, so orders are found without listing those before them.
namespace schaas::space {

Orders::Orders(const Precedence& before) : before_(before) {
  for (std::size_t x = 0; x < before.size(); ++x) {
    if (before[x] != 0) constrained_ |= IndexSet{1} << x;
  }
}

/// Counts by the last element. Indices without any precedence relation within `loops` are interleaved by
/// formula, so the remembered sets stay few.
std::uint64_t Orders::count(IndexSet loops) {
  IndexSet related = bound(loops);
  for (IndexSet rest = related; rest != 0; rest &= rest - 1) {
    related |= before_[static_cast<std::size_t>(std::countr_zero(rest))] & loops;
  }
  std::uint64_t product = count_bound(related);
  for (int n = std::popcount(related) + 1; n <= std::popcount(loops); ++n)
    product *= static_cast<std::uint64_t>(n);
  return product;
}

/// Counts orders of related loops by the one that is last, remembering each set.
std::uint64_t Orders::count_bound(IndexSet loops) {
  if (loops == 0) return 1;
  if (const auto found = counts_.find(loops); found != counts_.end()) return found->second;
  std::uint64_t sum = 0;
  for (IndexSet rest = loops; rest != 0; rest &= rest - 1)
    sum += count_ending_in(loops, std::countr_zero(rest));
  counts_[loops] = sum;
  return sum;
}

std::uint64_t Orders::count_ending_in(IndexSet loops, int last) {
  return may_end(before_, loops, last) ? count(loops & ~(IndexSet{1} << last)) : 0;
}

bool Orders::any_between(IndexSet loops, int first, int around, int last) const {
  const auto bit = [](int x) { return IndexSet{1} << x; };
  if (!may_end(before_, loops, last)) return false;
  IndexSet rest = loops & ~bit(last);
  if (around >= 0) {
    if (!may_end(before_, rest, around)) return false;
    rest &= ~bit(around);
  }
  if (first < 0) return true;
  if (rest == 0) return first == (around >= 0 ? around : last);
  return (rest & bit(first)) != 0 && available(first, 0, loops);
}

std::uint64_t Orders::count_between(IndexSet loops, int first, int around, int last) {
  if (!any_between(loops, first, around, last)) return 0;
  for (int x : {first, around, last}) {
    if (x >= 0) loops &= ~(IndexSet{1} << x);
  }
  return count(loops);
}

Order Orders::at(IndexSet loops, std::uint64_t number) {
  Order order;
  IndexSet left = loops;
  while (left != 0) {
    bool found = false;
    for (IndexSet rest = left; rest != 0 && !found; rest &= rest - 1) {
      const int x = std::countr_zero(rest);
      if (!available(x, loops & ~left, loops)) continue;
      const std::uint64_t block = count(left & ~(IndexSet{1} << x));
      if (number >= block) {
        number -= block;
        continue;
      }
      order.push_back(static_cast<std::uint8_t>(x));
      left &= ~(IndexSet{1} << x);
      found = true;
    }
    SCHAAS_CHECK(found, "order number out of range");
  }
  return order;
}

bool Orders::each(IndexSet loops, const std::function<bool(const Order&)>& visit) {
  Order order;
  return extend(0, loops, order, visit);
}

bool Orders::extend(IndexSet placed, IndexSet loops, Order& order,
                    const std::function<bool(const Order&)>& visit) {
  if (placed == loops) return visit(order);
  for (IndexSet rest = loops & ~placed; rest != 0; rest &= rest - 1) {
    const int x = std::countr_zero(rest);
    if (!available(x, placed, loops)) continue;
    order.push_back(static_cast<std::uint8_t>(x));
    const bool go_on = extend(placed | (IndexSet{1} << x), loops, order, visit);
    order.pop_back();
    if (!go_on) return false;
  }
  return true;
}

}  // namespace schaas::space
