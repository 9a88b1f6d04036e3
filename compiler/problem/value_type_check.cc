#include "compiler/problem/value_type_check.h"

#include <cmath>
#include <limits>

#include "compiler/index_notation/printer.h"

// Constants are folded and compared in double by the front end and the search, while kernels wrap integers
// around. Both agree as long as no constant part of an expression leaves the range. Literals v stay below the
// product of all |v| + 2, whatever sums, products, comparisons and extremes combine them.
namespace schaas::problem {
namespace {

using index_notation::Expression;
using support::Diagnostic;
using support::Result;

constexpr double max_exact = 9007199254740992;  // 2^53: double tells all integers up to here

class ValueTypeCheck {
 public:
  ValueTypeCheck(const std::string& text, const Problem& problem)
      : text_(text), problem_(problem), type_(operators::facts(problem.value_type)) {}

  Result<void> check(const Expression& value) {
    if (const auto* literal = std::get_if<index_notation::Literal>(&value.node)) {
      SCHAAS_RETURN_IF_ERROR(type_.is_integer ? integer(literal->value, value)
                                              : single(literal->value, value));
    }
    const auto* call = std::get_if<index_notation::Call>(&value.node);
    if (call != nullptr && type_.is_integer && !operators::has_integer_values(call->function)) {
      return at(value,
                support::invalid("value-type", "`" + index_notation::print(value) +
                                                   "` is no integer; the values are " + type_.name),
                "f64 and f32 have quotients, powers and roots");
    }
    for (const auto& part : index_notation::parts(value)) SCHAAS_RETURN_IF_ERROR(check(part));
    return {};
  }

 private:
  Result<void> single(double value, const Expression& where) const {
    const double size = std::fabs(value);
    if (std::isinf(size) || size <= static_cast<double>(std::numeric_limits<float>::max())) return {};
    return at(where,
              support::invalid("number-range", "number `" + index_notation::print(where) +
                                                   "` cannot be told in values of 32 bits"),
              "f64 can");
  }

  Result<void> integer(double value, const Expression& where) {
    const auto wrong = [&](const std::string& why, const std::string& note) {
      return at(where,
                support::invalid("number-range", "number `" + index_notation::print(where) + "` " + why),
                note);
    };
    const auto& semiring = *problem_.semiring;
    if (std::isinf(value)) {
      if (value == semiring.zero || value == semiring.one) return {};
      return wrong(
          std::string("is no value of ") + type_.name + " under " + semiring.name,
          "under min-plus `inf` stands for the largest integer, under max-plus `-inf` for the smallest");
    }
    if (value != std::floor(value))
      return wrong(std::string("is no integer; the values are ") + type_.name, "f64 and f32 take it");
    const double largest = std::min(static_cast<double>(type_.largest), max_exact);
    if (std::fabs(value) > largest)
      return wrong(std::string("is beyond the numbers that ") + type_.name + " takes in an expression",
                   "an operand without indices can hold it");
    ++numbers_;
    bits_ += std::log2(std::fabs(value) + 2);
    if (numbers_ > 1 && bits_ > 8 * static_cast<double>(type_.bytes) - 1)
      return wrong("and those before it may overflow together", "an operand without indices can hold it");
    return {};
  }

  Diagnostic at(const Expression& where, Diagnostic error, const std::string& note) const {
    return support::at(support::noting(std::move(error), note), "expression", text_, where.range);
  }

  const std::string& text_;
  const Problem& problem_;
  const operators::ValueTypeFacts& type_;
  int numbers_ = 0;  ///< finite literals so far
  double bits_ = 0;  ///< logarithm of the product of all |v| + 2
};

}  // namespace

Result<void> check_value_type(const std::string& expression,
                              const std::vector<index_notation::Assignment>& written,
                              const Problem& problem) {
  if (problem.value_type == ValueType::f64) return {};
  if (operators::is_integer(problem.value_type)) {
    ValueTypeCheck as_written(expression, problem);
    for (const auto& statement : written) SCHAAS_RETURN_IF_ERROR(as_written.check(statement.value));
  }
  ValueTypeCheck with_folded_constants(expression, problem);
  for (const auto& statement : problem.statements())
    SCHAAS_RETURN_IF_ERROR(with_folded_constants.check(statement.value));
  return {};
}

}  // namespace schaas::problem
