#include "compiler/problem/extent_range.h"

#include <algorithm>
#include <vector>

namespace schaas::problem {
namespace {

/// Returns c for a constraint 1*x <= c or c <= 1*x with x the extent of `index`.
std::optional<std::int64_t> bound(const std::vector<Monomial>& alone, const std::vector<Monomial>& constant,
                                  const std::string& index) {
  if (alone.size() != 1 || constant.size() != 1) return std::nullopt;
  const auto& variable = alone.front();
  if (variable.coefficient != 1 || variable.powers.size() != 1 || !constant.front().powers.empty())
    return std::nullopt;
  const auto& [symbol, exponent] = variable.powers.front();
  if (symbol.kind != Symbol::Kind::extent || symbol.name != index || exponent != 1) return std::nullopt;
  return constant.front().coefficient;
}

}  // namespace

ExtentRange extent_range(const Problem& problem, const std::string& index) {
  ExtentRange range;
  for (const auto& constraint : problem.constraints) {
    if (const auto upper = bound(constraint.lhs, constraint.rhs, index))
      range.most = std::min(range.most.value_or(*upper), *upper);
    if (const auto lower = bound(constraint.rhs, constraint.lhs, index))
      range.least = std::max(range.least.value_or(*lower), *lower);
  }
  return range;
}

}  // namespace schaas::problem
