#include "compiler/index_notation/gradient/patterns.h"

#include <algorithm>
#include <utility>

#include "compiler/index_notation/arithmetic.h"
#include "compiler/support/contains.h"

namespace schaas::index_notation {
namespace {

using operators::Function;

bool are_distinct(const std::vector<std::string>& indices) {
  return std::set<std::string>(indices.begin(), indices.end()).size() == indices.size();
}

}  // namespace

Expression mask_of(const Access& base) { return call(Function::not_equal, {{base, {}}, number(0)}); }

Patterns::Patterns(const std::vector<Step>& steps, const std::set<std::string>& sparse) : sparse_(sparse) {
  for (const Step& step : steps) define(step);
}

// Keeps the base with the most modes among those that every term of the step has.
void Patterns::define(const Step& step) {
  if (step.fold) return;
  const auto& indices = step.statement.result.indices;
  std::optional<std::vector<Access>> common;
  for (const SummedTerm& summed : step.terms) {
    for (const QuotientTerm& term : quotient_terms(summed.value)) {
      std::vector<Access> bases = bases_of(term);
      const auto is_elsewhere = [&](const Access& base) {
        return !are_distinct(base.indices) || (common && !support::contains(*common, base)) ||
               std::any_of(base.indices.begin(), base.indices.end(),
                           [&](const auto& index) { return !support::contains(indices, index); });
      };
      bases.erase(std::remove_if(bases.begin(), bases.end(), is_elsewhere), bases.end());
      common = std::move(bases);
    }
  }
  if (!common || common->empty()) return;
  const Access& base =
      *std::max_element(common->begin(), common->end(),
                        [](const Access& a, const Access& b) { return a.indices.size() < b.indices.size(); });
  Pattern pattern{base.tensor, {}};
  for (const auto& index : base.indices)
    pattern.modes.push_back(
        static_cast<std::size_t>(std::find(indices.begin(), indices.end(), index) - indices.begin()));
  patterns_.emplace(step.statement.result.tensor, std::move(pattern));
}

std::optional<Access> Patterns::base_of(const Access& access) const {
  if (sparse_.count(access.tensor) != 0) return Access{access.tensor, access.indices, {}, {}};
  const auto found = patterns_.find(access.tensor);
  if (found == patterns_.end()) return std::nullopt;
  Access base{found->second.base, {}, {}, {}};
  for (const std::size_t mode : found->second.modes) base.indices.push_back(access.indices[mode]);
  return base;
}

// A factor `B(i,j) != 0` lies at the entries of B as B(i,j) does.
std::vector<Access> Patterns::bases_of(const QuotientTerm& term) const {
  std::vector<Access> bases;
  for (const Expression& part : term.above) {
    const auto* access = std::get_if<Access>(&part.node);
    const auto* called = std::get_if<Call>(&part.node);
    if (called != nullptr && called->function == Function::not_equal && is_number(called->arguments[1], 0))
      access = std::get_if<Access>(&called->arguments[0].node);
    if (access == nullptr) continue;
    if (auto base = base_of(*access)) bases.push_back(std::move(*base));
  }
  return bases;
}

bool Patterns::has_factor(const QuotientTerm& term, const Access& base) const {
  return support::contains(bases_of(term), base);
}

}  // namespace schaas::index_notation
