#include "compiler/cost/tie_order.h"

#include <algorithm>
#include <bit>
#include <cmath>

// Sums are compared as multisets: by the smallest term that one has more often. That order, unlike the
// lexicographic one of sums of different lengths, does not change when the same terms are added to both.
namespace schaas::cost {
namespace {

constexpr int log_of_extent = 6;

/// Compares as `<=>` does: less when `a` has the smaller one of the first terms in which they differ.
std::weak_ordering compare(std::span<const Term> a, std::span<const Term> b) {
  const auto [ours, theirs] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (ours == a.end() && theirs == b.end()) return std::weak_ordering::equivalent;
  if (ours == a.end()) return std::weak_ordering::greater;
  if (theirs == b.end()) return std::weak_ordering::less;
  return *ours <=> *theirs;
}

}  // namespace

double reference_elements(Term temporary) {
  return std::ldexp(1.0, log_of_extent * std::popcount(temporary & variables_mask));
}

bool stays_before(const TiedClass& a, const TiedClass& b) {
  if (a.elements != b.elements) return a.elements < b.elements;
  const auto by_time = compare(a.time, b.time);
  return by_time != 0 ? by_time < 0 : compare(a.memory, b.memory) < 0;
}

}  // namespace schaas::cost
