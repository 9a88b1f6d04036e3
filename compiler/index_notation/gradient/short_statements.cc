#include "compiler/index_notation/gradient/short_statements.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "compiler/index_notation/arithmetic.h"
#include "compiler/support/limits.h"

namespace schaas::index_notation {
namespace {

using support::Limits;
using Side = std::vector<Expression>;

std::size_t accesses_of(const Side& side) {
  std::size_t count = 0;
  for (const Expression& part : side) count += operands(part).size();
  return count;
}
std::size_t accesses_of(const QuotientTerm& term) {
  return accesses_of(term.above) + accesses_of(term.below);
}

// Returns the access to a new intermediate that holds a product, and defines that before.
Expression computed_before(std::vector<Assignment>& statements, QuotientTerm product, FreshNames& names) {
  Access access{names.fresh("V"), indices_of(product), {}, {}};
  statements.push_back({access, value_of({std::move(product)}, access), std::nullopt, {}});
  return {std::move(access), {}};
}

// Multiplies the two factors that have the fewest indices together.
void join_two(std::vector<Assignment>& statements, Side& side, FreshNames& names) {
  std::size_t first = 0, second = 1, fewest = std::numeric_limits<std::size_t>::max();
  for (std::size_t a = 0; a < side.size(); ++a) {
    for (std::size_t b = a + 1; b < side.size(); ++b) {
      const std::size_t count = indices_of({1, {side[a], side[b]}, {}}).size();
      if (count >= fewest) continue;
      first = a, second = b, fewest = count;
    }
  }
  Expression joined = computed_before(statements, {1, {side[first], side[second]}, {}}, names);
  side.erase(side.begin() + static_cast<std::ptrdiff_t>(second));
  side[first] = std::move(joined);
}

// Computes the factor with the most operands before.
void take_largest_out(std::vector<Assignment>& statements, Side& side, FreshNames& names) {
  const auto largest = std::max_element(
      side.begin(), side.end(),
      [](const Expression& a, const Expression& b) { return operands(a).size() < operands(b).size(); });
  *largest = computed_before(statements, {1, {*largest}, {}}, names);
}

void shorten(std::vector<Assignment>& statements, QuotientTerm& term, FreshNames& names) {
  const auto factors = [&](const Side& side) {
    const bool has_number = &side == &term.above && std::abs(term.factor) != 1;
    return side.size() + (has_number ? 1 : 0);
  };
  for (Side* side : {&term.above, &term.below})
    while (factors(*side) > Limits::factors) join_two(statements, *side, names);
  while (accesses_of(term) > Limits::operands) {
    Side& side = accesses_of(term.above) >= accesses_of(term.below) ? term.above : term.below;
    if (accesses_of(side) == side.size()) {
      join_two(statements, side, names);
    } else {
      take_largest_out(statements, side, names);
    }
  }
}

// Several terms are summed before they are masked.
Expression masked_value(const std::vector<QuotientTerm>& terms, const Access& result,
                        const std::optional<Expression>& mask) {
  if (!mask) return value_of(terms, result);
  return multiplied({*mask, value_with_explicit_sums(terms, result)});
}

}  // namespace

void append_statement(std::vector<Assignment>& statements, const Access& result,
                      std::vector<QuotientTerm> terms, FreshNames& names,
                      const std::optional<Expression>& mask) {
  if (mask && terms.size() == 1) {
    QuotientTerm only = std::move(terms.front());
    only.above.insert(only.above.begin(), *mask);
    return append_statement(statements, result, {std::move(only)}, names, std::nullopt);
  }
  for (QuotientTerm& term : terms) shorten(statements, term, names);
  const std::size_t limit = Limits::operands - (mask ? 1 : 0);
  const auto count = [&](std::size_t end) {
    std::size_t all = 0;
    for (std::size_t n = 0; n < end; ++n) all += accesses_of(terms[n]);
    return all;
  };
  while (terms.size() > 1 && count(terms.size()) > limit) {
    std::size_t taken = 1;
    while (taken + 1 < terms.size() && count(taken + 1) < limit) ++taken;
    const auto end = terms.begin() + static_cast<std::ptrdiff_t>(taken);
    Access part{names.fresh("V"), result.indices, {}, {}};
    statements.push_back({part, masked_value({terms.begin(), end}, part, mask), std::nullopt, {}});
    terms.erase(terms.begin(), end);
    terms.push_back({1, {{std::move(part), {}}}, {}});
  }
  statements.push_back({result, masked_value(terms, result, mask), std::nullopt, {}});
}

}  // namespace schaas::index_notation
