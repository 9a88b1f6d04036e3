#include "server/answers/user_names.h"

#include <algorithm>

#include "compiler/concrete_notation/printer.h"
#include "compiler/index_notation/rename.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/schedule/replay/factor_order.h"

// Two problems in the user's names. One has the canonical order of factors, by which cost variables are
// numbered; the other has the factors as written, and traces are replayed on it. Renaming rebuilds values,
// and sorts constraints and monomials again by the new names. Every canonical name has a user's name; one
// without is a bug.
namespace schaas::server {
namespace {

using Names = std::map<std::string, std::string>;

const std::string& renamed(const Names& names, const std::string& name) {
  const auto found = names.find(name);
  SCHAAS_CHECK(found != names.end(), "canonical name `" + name + "` has no user's name");
  return found->second;
}

// Rebuilds canonical values under the user's names.
class Renaming {
 public:
  explicit Renaming(const problem::Canonical& canonical)
      : both_{canonical.user_tensor, canonical.user_index} {}

  problem::Problem of(const problem::Problem& p) const {
    problem::Problem out = p;
    for (auto& statement : out.intermediates) statement = index_notation::renamed(statement, both_);
    out.statement = index_notation::renamed(p.statement, both_);
    out.formats.clear();
    for (const auto& [tensor, format] : p.formats) out.formats.emplace(renamed(tensors_, tensor), format);
    for (auto& constraint : out.constraints) constraint = {of(constraint.lhs), of(constraint.rhs)};
    std::sort(out.constraints.begin(), out.constraints.end());
    return out;
  }

 private:
  std::vector<problem::Monomial> of(std::vector<problem::Monomial> sum) const {
    for (auto& monomial : sum) {
      for (auto& [symbol, exponent] : monomial.powers) {
        symbol.name =
            renamed(symbol.kind == problem::Symbol::Kind::extent ? indices_ : tensors_, symbol.name);
      }
      std::sort(monomial.powers.begin(), monomial.powers.end());
    }
    std::sort(sum.begin(), sum.end());
    return sum;
  }

  const index_notation::Renaming both_;
  const Names& tensors_ = both_.tensors;
  const Names& indices_ = both_.indices;
};

/// Replaces the names of indices in a variable.
void rename_indices(cost::Variable& variable, const Names& names) {
  variable.index = renamed(names, variable.index);
  for (std::string& index : variable.outer) index = renamed(names, index);
  for (cost::Variable& list : variable.lists) rename_indices(list, names);
}

/// Maps the user's names of indices to indices of the request with their extents.
Names extents_of(const problem::Canonical& canonical) {
  Names extents;
  for (const auto& [ours, users] : canonical.user_index)
    extents.emplace(users, canonical.user_extent.at(ours));
  return extents;
}

}  // namespace

UserNames::UserNames(const problem::Canonical& canonical)
    : index_(canonical.user_index),
      tensor_(canonical.user_tensor),
      problem_(Renaming(canonical).of(canonical.problem)),
      as_written_(problem_),
      user_position_(canonical.user_positions),
      canonical_position_(user_position_.size()),
      extent_(extents_of(canonical)),
      variables_(variables_of(problem_)) {
  // Contractions alone have an order of factors to restore; programs keep the user's.
  if (!user_position_.empty()) {
    const auto factors = problem_.operands();
    auto written = factors;
    for (std::size_t n = 0; n < factors.size(); ++n) {
      const auto position = static_cast<std::size_t>(user_position_[n]);
      written[position] = factors[n];
      canonical_position_[position] = static_cast<int>(n);
    }
    as_written_.statement.value = index_notation::product_of(std::move(written));
  }
  for (const auto& [ours, users] : canonical.user_index) {
    to_user_.indices.emplace_back(ours, users);
    to_canonical_.indices.emplace_back(users, ours);
  }
  for (const auto& [ours, users] : canonical.user_tensor) {
    to_user_.tensors.emplace_back(ours, users);
    to_canonical_.tensors.emplace_back(users, ours);
  }
  for (const auto& tensor : canonical.problem.tensors())
    arguments_.push_back(renamed(canonical.user_tensor, tensor));
}

cost::Variables UserNames::variables_of(const problem::Problem& users) const {
  cost::Variables out = cost::variables_of(users);
  for (auto* variables : {&out.extents, &out.fibers, &out.lists})
    for (cost::Variable& variable : *variables) rename_indices(variable, extent_);
  return out;
}

schedule::Trace UserNames::to_user(const schedule::Trace& trace) const {
  return schedule::with_factors_at(schedule::rename(trace, to_user_.indices, to_user_.tensors), problem_,
                                   as_written_, user_position_);
}
// The inverse: first the order of factors, while names are still the user's.
schedule::Trace UserNames::to_canonical(const schedule::Trace& trace) const {
  return schedule::rename(schedule::with_factors_at(trace, as_written_, problem_, canonical_position_),
                          to_canonical_.indices, to_canonical_.tensors);
}

support::Result<std::string> UserNames::tree(const schedule::Trace& trace) const {
  SCHAAS_ASSIGN_OR_RETURN(const auto statement, schedule::apply(to_user(trace), as_written_));
  return concrete_notation::print_loop_tree(statement);
}

support::Result<std::string> UserNames::code(const schedule::Trace& trace) const {
  SCHAAS_ASSIGN_OR_RETURN(const auto statement, schedule::apply(to_user(trace), as_written_));
  return concrete_notation::print_indented(statement);
}

std::string UserNames::print(const frontier::Sizes& sizes) const {
  frontier::Sizes users;
  for (frontier::Size size : sizes) {
    const auto& names = size.symbol.kind == problem::Symbol::Kind::extent ? index_ : tensor_;
    const auto found = names.find(size.symbol.name);
    if (found == names.end()) continue;  // a copy, no tensor of the user's
    size.symbol.name = found->second;
    users.push_back(std::move(size));
  }
  return frontier::print(users, as_written_);
}

}  // namespace schaas::server
