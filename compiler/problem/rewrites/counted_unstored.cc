#include "compiler/problem/rewrites/counted_unstored.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/index_notation/arithmetic.h"
#include "compiler/index_notation/printer.h"
#include "compiler/index_notation/rename.h"
#include "compiler/index_notation/verifier.h"
#include "compiler/problem/sparse_factors.h"
#include "compiler/support/contains.h"

// A reduction is the combination of its values at stored entries and of one value for all other coordinates.
// The latter counts once, or as often as there are such coordinates. Their number is an intermediate, one for
// each operand and indices. A stored zero counts as unstored on both sides.
namespace schaas::problem {
namespace {

using index_notation::Access;
using index_notation::Assignment;
using index_notation::call;
using index_notation::Expression;
using index_notation::Reduction;
using operators::Function;
using operators::Monoid;
using operators::ValueType;
using Indices = std::vector<std::string>;

bool counts_exactly(ValueType type) {
  return type == ValueType::f64 || type == ValueType::i64 || type == ValueType::u64;
}

class Counting {
 public:
  explicit Counting(const Problem& problem) : problem_(problem), fresh_(problem.program()) {}

  /// Returns the expression with its reductions split.
  Expression of(const Expression& expression) {
    std::vector<Expression> parts;
    for (const Expression& part : index_notation::parts(expression)) parts.push_back(of(part));
    Expression out = parts.empty() ? expression : index_notation::with_parts(expression, std::move(parts));
    const auto* reduction = std::get_if<Reduction>(&out.node);
    auto split = reduction == nullptr ? std::nullopt : this->split(*reduction);
    return split ? *std::move(split) : out;
  }

  /// Definitions of the numbers that were asked since the last call.
  std::vector<Assignment> take_definitions() { return std::exchange(definitions_, {}); }

 private:
  std::optional<Expression> split(const Reduction& reduction) {
    const Monoid monoid = reduction.monoid;
    if (monoid != Monoid::sum && monoid != Monoid::minimum && monoid != Monoid::maximum) return std::nullopt;
    const auto unstored = unstored_body(reduction, problem_);
    if (!unstored || unstored->varies || unstored->number == operators::identity(monoid)) return std::nullopt;
    // A search may distribute factors over the two parts, and 0 times infinity is no number.
    if (unstored->number && !std::isfinite(*unstored->number)) return std::nullopt;
    const auto operand = only_operand(reduction);
    if (!operand || !is_reduced_above(*operand, reduction.indices)) return std::nullopt;
    const Expression& body = reduction.body.front();
    const Expression stored =
        call(Function::not_equal, {Expression{*operand, {}}, index_notation::number(0)});
    const Expression nothing = index_notation::number(operators::identity(monoid));
    const Expression own{
        Reduction{monoid, reduction.indices, {call(Function::where, {stored, body, nothing})}}, {}};
    const Expression count = number_of_unstored(*operand, reduction.indices);
    Expression other = unstored->number ? index_notation::number(*unstored->number)
                                        : index_notation::with_replaced(body, Expression{*operand, {}},
                                                                        index_notation::number(0));
    if (monoid == Monoid::sum) other = index_notation::multiplied({count, std::move(other)});
    other = call(Function::where,
                 {call(Function::not_equal, {count, index_notation::number(0)}), std::move(other), nothing});
    return call(operators::combine(monoid), {own, std::move(other)});
  }

  /// Returns the only sparse access with a reduced index, if it has all of them, others as well and none
  /// twice.
  std::optional<Access> only_operand(const Reduction& reduction) const {
    std::optional<Access> found;
    for (const Access& access : index_notation::operands(reduction.body.front())) {
      const auto known = problem_.formats.find(access.tensor);
      const bool is_sparse = known != problem_.formats.end() && !known->second.all_dense();
      const auto reduced =
          std::count_if(reduction.indices.begin(), reduction.indices.end(),
                        [&](const std::string& index) { return support::contains(access.indices, index); });
      if (!is_sparse || reduced == 0 || (found && *found == access)) continue;
      const std::set<std::string> distinct(access.indices.begin(), access.indices.end());
      const auto all = static_cast<std::ptrdiff_t>(reduction.indices.size());
      if (found || reduced != all || distinct.size() != access.indices.size() ||
          access.indices.size() == reduction.indices.size())
        return std::nullopt;
      found = access;
    }
    return found;
  }

  /// The operand stores a reduced index above one that stays, in a dense level. Loops over that level take
  /// no less than counting its coordinates; rows of a list may be far fewer.
  bool is_reduced_above(const Access& operand, const Indices& reduced) const {
    const format::TensorFormat& format = problem_.formats.at(operand.tensor);
    bool above = false;
    for (std::size_t level = 0; level < format.levels.size(); ++level) {
      const auto mode = static_cast<std::size_t>(format.mode_order[level]);
      const bool is_reduced = support::contains(reduced, operand.indices[mode]);
      if (above && !is_reduced) return true;
      if (is_reduced && format::is_sparse(format.levels[level])) return false;
      above = above || is_reduced;
    }
    return false;
  }

  Expression number_of_unstored(const Access& operand, const Indices& reduced) {
    const Expression element{operand, {}};
    const Expression stored = call(Function::not_equal, {element, index_notation::number(0)});
    Expression all = index_notation::number(1);
    for (const std::string& index : reduced) {
      const Expression coordinate{index_notation::Coordinate{index}, {}};
      const Expression one = call(Function::greater_equal, {coordinate, index_notation::number(0)});
      const Expression extent{Reduction{Monoid::sum, {index}, {one}}, {}};
      all = &index == &reduced.front() ? extent : index_notation::multiplied({std::move(all), extent});
    }
    Expression count =
        call(Function::subtract, {std::move(all), Expression{Reduction{Monoid::sum, reduced, {stored}}, {}}});
    const auto [known, is_new] = names_.try_emplace(index_notation::print(count));
    if (is_new) {
      Indices kept = operand.indices;
      std::erase_if(kept, [&](const std::string& index) { return support::contains(reduced, index); });
      known->second = Access{fresh_.fresh(operand.tensor + "_unstored"), kept, {}, {}};
      definitions_.push_back({known->second, std::move(count), std::nullopt, {}});
    }
    return Expression{known->second, {}};
  }

  const Problem& problem_;
  std::map<std::string, Access> names_;  ///< by what they count
  index_notation::FreshNames fresh_;
  std::vector<Assignment> definitions_;
};

}  // namespace

Problem with_unstored_counted(Problem problem) {
  if (problem.semiring != &operators::plus_times() || !counts_exactly(problem.value_type) ||
      problem.profile != Profile::standard)
    return problem;
  Counting counting(problem);
  std::vector<Assignment> statements;
  for (Assignment& statement : problem.statements()) {
    const Expression written = explicit_value(statement, problem);
    Expression value = counting.of(written);
    for (Assignment& definition : counting.take_definitions()) statements.push_back(std::move(definition));
    if (value != written) statement.value = std::move(value);
    statements.push_back(std::move(statement));
  }
  if (statements.size() == problem.intermediates.size() + 1) return problem;
  Problem out = problem;
  out.statement = std::move(statements.back());
  statements.pop_back();
  out.intermediates = std::move(statements);
  return index_notation::verify(out.program(), "").ok() ? out : problem;
}

}  // namespace schaas::problem
