#include "compiler/problem/rewrites/scaled_sums.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/index_notation/arithmetic.h"
#include "compiler/index_notation/implied_sums.h"

// Multiplication and division by one value commute with a sum. Each sum is taken apart into its elements,
// which stay inside, and scales. One factor of another kind leaves the sum as it was. Rejected: moving what
// has indices, such as d(i). A row without entries sums to 0, and 0 / d(i) may be NaN.
namespace schaas::problem {
namespace {

using index_notation::Access;
using index_notation::Assignment;
using index_notation::Call;
using index_notation::Expression;
using index_notation::Product;
using index_notation::Reduction;

constexpr std::size_t min_elements = 3;

class ScaledSum {
 public:
  /// `indices`: those that the sum of `body` is over.
  explicit ScaledSum(std::vector<std::string> indices) : indices_(std::move(indices)) {}

  /// Returns the sum with its scales outside; nothing when there are none or nothing is left to split.
  std::optional<Expression> of(const Expression& body) {
    if (indices_.empty() || !take(body) || elements_.size() < min_elements ||
        (scales_.empty() && divisors_.empty()))
      return std::nullopt;
    scales_.push_back(
        {Reduction{operators::Monoid::sum, indices_, {index_notation::product_of(elements_)}}, body.range});
    Expression out = index_notation::multiplied(std::move(scales_));
    for (Expression& divisor : divisors_)
      out = index_notation::call(operators::Function::divide, {std::move(out), std::move(divisor)});
    return out;
  }

 private:
  /// It has one value: at a coordinate without entries the sum is 0, whatever it would be divided by there.
  static bool is_scalar(const Expression& factor) { return index_notation::free_indices(factor).empty(); }

  bool take(const Expression& factor) {
    if (const auto* product = std::get_if<Product>(&factor.node))
      return std::all_of(product->factors.begin(), product->factors.end(),
                         [&](const Expression& each) { return take(each); });
    if (const auto* access = std::get_if<Access>(&factor.node)) {
      elements_.push_back(*access);
      return true;
    }
    const auto* quotient = std::get_if<Call>(&factor.node);
    if (quotient != nullptr && quotient->function == operators::Function::divide) {
      if (!is_scalar(quotient->arguments[1])) return false;
      divisors_.push_back(quotient->arguments[1]);
      return take(quotient->arguments[0]);
    }
    if (!is_scalar(factor)) return false;
    scales_.push_back(factor);
    return true;
  }

  std::vector<std::string> indices_;
  std::vector<Access> elements_;
  std::vector<Expression> scales_, divisors_;
};

/// Rewrites the sums that are written out.
Expression with_written_sums(const Expression& value) {
  if (const auto* sum = std::get_if<Reduction>(&value.node); sum != nullptr) {
    if (sum->monoid == operators::Monoid::sum)
      if (auto scaled = ScaledSum(sum->indices).of(sum->body.front())) return *std::move(scaled);
  }
  std::vector<Expression> parts;
  for (const Expression& part : index_notation::parts(value)) parts.push_back(with_written_sums(part));
  return parts.empty() ? value : index_notation::with_parts(value, std::move(parts));
}

/// Rewrites the terms of a statement, with the sums that they imply.
Expression with_terms(const Expression& value, const Assignment& statement) {
  if (index_notation::is_additive(value)) {
    std::vector<Expression> parts;
    for (const Expression& part : index_notation::parts(value)) parts.push_back(with_terms(part, statement));
    return index_notation::with_parts(value, std::move(parts));
  }
  if (auto scaled = ScaledSum(index_notation::implied_indices(statement, value)).of(value))
    return *std::move(scaled);
  return with_written_sums(value);
}

}  // namespace

Problem with_scales_outside_sums(Problem problem) {
  const bool one_term =
      problem.intermediates.empty() && index_notation::signed_terms(problem.statement.value).size() == 1;
  if (one_term || problem.semiring != &operators::plus_times()) return problem;
  for (Assignment& definition : problem.intermediates)
    definition.value = with_terms(definition.value, definition);
  const auto known = problem.formats.find(problem.statement.result.tensor);
  if (known == problem.formats.end() || known->second.all_dense())
    problem.statement.value = with_terms(problem.statement.value, problem.statement);
  return problem;
}

}  // namespace schaas::problem
