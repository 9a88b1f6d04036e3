#include "compiler/problem/value_type_check.h"

#include <algorithm>
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
    if (operators::is_complex(type_.type)) SCHAAS_RETURN_IF_ERROR(check_complex(value));
    SCHAAS_RETURN_IF_ERROR(check_short(value));
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
    if (type_.part == ValueType::f64) return {};
    if (std::isinf(size) || size <= static_cast<double>(std::numeric_limits<float>::max())) return {};
    return at(where,
              support::invalid("number-range", "number `" + index_notation::print(where) +
                                                   "` cannot be told in values of 32 bits"),
              type_.part == type_.type ? "f64 can" : "c128 can");
  }

  /// Checks that functions have a value among complex numbers, and that what they order is real.
  Result<void> check_complex(const Expression& value) const {
    const auto* call = std::get_if<index_notation::Call>(&value.node);
    const auto* reduction = std::get_if<index_notation::Reduction>(&value.node);
    const auto wrong = [&](const std::string& why, const char* note) {
      return at(value,
                support::invalid("value-type", "`" + index_notation::print(value) + "` " + why +
                                                   "; the values are " + type_.name),
                note);
    };
    if (reduction != nullptr && orders(reduction->monoid) && !is_real(reduction->body.front()))
      return wrong("orders complex numbers", real_way_out);
    if (call == nullptr || operators::has_complex_values(call->function)) return {};
    if (!orders(call->function)) return wrong("is a function of real numbers", "f64 and f32 have it");
    const bool real = std::all_of(call->arguments.begin(), call->arguments.end(), is_real);
    return real ? Result<void>() : wrong("orders complex numbers", real_way_out);
  }

  static constexpr const char* real_way_out =
      "coordinates, numbers, `real`, `imag`, `abs` and what is made of them have an order";

  static bool orders(operators::Monoid monoid) {
    return monoid == operators::Monoid::minimum || monoid == operators::Monoid::maximum;
  }
  static bool orders(operators::Function function) {
    using enum operators::Function;
    return function == less || function == less_equal || function == greater || function == greater_equal ||
           function == minimum || function == maximum;
  }

  /// The value has no imaginary part, whatever its elements hold.
  static bool is_real(const Expression& value) {
    using enum operators::Function;
    if (std::holds_alternative<index_notation::Access>(value.node)) return false;
    if (const auto* call = std::get_if<index_notation::Call>(&value.node)) {
      const auto function = call->function;
      if (function == real || function == imag || function == abs || function == equal ||
          function == not_equal || function == logical_and || function == logical_or ||
          function == logical_not)
        return true;
      if (function == where) return is_real(call->arguments[1]) && is_real(call->arguments[2]);
    }
    const auto parts = index_notation::parts(value);
    return std::all_of(parts.begin(), parts.end(), is_real);
  }

  /// Checks what types of few bits, without a sign or of two truth values do not have.
  Result<void> check_short(const Expression& value) const {
    if (!type_.is_integer) return {};
    const auto wrong = [&](const char* code, const std::string& why, const std::string& note) {
      return at(value, support::invalid(code, "`" + index_notation::print(value) + "` " + why), note);
    };
    const std::string name = type_.name;
    if (std::holds_alternative<index_notation::Coordinate>(value.node) && type_.bytes < 4)
      return wrong("value-type", "counts to the extent, which may be beyond the numbers of " + name,
                   "compute with i32 or i64: operands may be stored as " + name + " (`@" + name + "`)");
    const auto* reduction = std::get_if<index_notation::Reduction>(&value.node);
    if (type_.type == ValueType::boolean && reduction != nullptr &&
        (reduction->monoid == operators::Monoid::sum || reduction->monoid == operators::Monoid::product))
      return wrong(
          "value-type", "counts; the values are bool",
          "`or` and `and` reduce truth values; i64 counts operands that are stored as bool (`@bool`)");
    const auto* call = std::get_if<index_notation::Call>(&value.node);
    const bool lowers = call != nullptr && (call->function == operators::Function::negate ||
                                            call->function == operators::Function::subtract);
    if (lowers && operators::is_unsigned(type_.type) && is_constant(value))
      return wrong("number-range", "is a number below 0, which " + name + " does not have",
                   "subtract from an element: x(i) - 1 wraps around");
    return {};
  }

  static bool is_constant(const Expression& value) {
    const auto parts = index_notation::parts(value);
    if (parts.empty()) return std::holds_alternative<index_notation::Literal>(value.node);
    return std::all_of(parts.begin(), parts.end(), [](const Expression& each) { return is_constant(each); });
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
    if (std::fabs(value) > largest || (value < 0 && operators::is_unsigned(type_.type)))
      return wrong(std::string("is beyond the numbers that ") + type_.name + " takes in an expression",
                   "an operand without indices can hold it");
    ++numbers_;
    bits_ += std::log2(std::fabs(value) + 2);
    if (numbers_ > 1 && type_.type != ValueType::boolean &&
        bits_ > std::log2(static_cast<double>(type_.largest) + 1))
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

/// Checks that the type has a zero of the semiring that none of its other numbers is taken for.
Result<void> check_semiring(const Problem& problem) {
  const bool is_boolean = problem.value_type == ValueType::boolean;
  if (operators::is_complex(problem.value_type) && problem.semiring != &operators::plus_times())
    return support::noting(
        support::invalid("value-type", std::string("values of ") + name(problem.value_type) +
                                           " have no sums of " + problem.semiring->name),
        "`plus-times`, that of a program without one, is theirs; f64 has the others");
  if (!operators::is_unsigned(problem.value_type)) return {};
  const auto& semiring = *problem.semiring;
  const bool adds = semiring.product == operators::Function::add || semiring.sum == operators::Monoid::sum;
  const bool ends_below = semiring.product == operators::Function::add && semiring.zero < 0;
  if (!(is_boolean ? adds : ends_below)) return {};
  return support::noting(
      support::invalid("value-type", std::string("values of ") + name(problem.value_type) + " have no " +
                                         (is_boolean ? "sums" : "-inf") + " of " + semiring.name),
      is_boolean ? "`or-and` is theirs, and that of a program without one" : "i64 and i32 have it");
}

/// Checks that an update of complex numbers does not order them.
Result<void> check_update(const std::string& expression, const Problem& problem) {
  const auto update = problem.statement.update;
  if (update != operators::Monoid::minimum && update != operators::Monoid::maximum) return {};
  return support::at(
      support::noting(support::invalid("value-type", std::string("`") + name(*update) +
                                                         "=` orders complex numbers; the values are " +
                                                         name(problem.value_type)),
                      "f64 and f32 have it; `+=` and `*=` update complex numbers"),
      "expression", expression, problem.statement.result.range);
}

}  // namespace

Result<void> check_value_type(const std::string& expression,
                              const std::vector<index_notation::Assignment>& written,
                              const Problem& problem) {
  if (problem.value_type == ValueType::f64) return {};
  SCHAAS_RETURN_IF_ERROR(check_semiring(problem));
  if (operators::is_complex(problem.value_type)) SCHAAS_RETURN_IF_ERROR(check_update(expression, problem));
  if (operators::is_integer(problem.value_type) || operators::is_complex(problem.value_type)) {
    ValueTypeCheck as_written(expression, problem);
    for (const auto& statement : written) SCHAAS_RETURN_IF_ERROR(as_written.check(statement.value));
  }
  ValueTypeCheck with_folded_constants(expression, problem);
  for (const auto& statement : problem.statements())
    SCHAAS_RETURN_IF_ERROR(with_folded_constants.check(statement.value));
  return {};
}

}  // namespace schaas::problem
