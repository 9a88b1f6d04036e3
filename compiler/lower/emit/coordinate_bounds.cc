#include "compiler/lower/emit/coordinate_bounds.h"

#include <cmath>
#include <map>
#include <optional>
#include <utility>

// Comparisons as linear forms: `a <= b` becomes `a - b <= 0`, which is solved for the index where its
// coefficient is 1 or -1. Bounds are whole numbers, so `<` and `<=` differ by one.
namespace schaas::lower {
namespace {

using loop_ir::ExpressionPtr;
using operators::Function;

/// The number plus each coordinate times its factor.
struct LinearForm {
  std::int64_t number = 0;
  std::map<int, std::int64_t> factors;
};

/// Larger numbers are left alone, so that no sum overflows.
constexpr double max_number = 1 << 30;

LinearForm sum_of(LinearForm a, const LinearForm& b, std::int64_t times) {
  a.number += times * b.number;
  for (const auto& [index, factor] : b.factors) a.factors[index] += times * factor;
  return a;
}

std::optional<LinearForm> linear_form(const ValuePtr& value, bool multiplies);

/// Returns the form of a product of whole numbers and one other form at most.
std::optional<LinearForm> linear_form(const Multiplied& product) {
  LinearForm out{1, {}};
  for (const ValuePtr& factor : product.factors) {
    const auto part = linear_form(factor, true);
    if (!part) return std::nullopt;
    const LinearForm& number = out.factors.empty() ? out : *part;
    const LinearForm& other = out.factors.empty() ? *part : out;
    if (!number.factors.empty() || std::fabs(static_cast<double>(number.number)) > 1 << 15)
      return std::nullopt;
    out = sum_of(LinearForm{}, other, number.number);
    if (std::fabs(static_cast<double>(out.number)) >= max_number) return std::nullopt;
  }
  return out;
}

std::optional<LinearForm> linear_form(const ValuePtr& value, bool multiplies) {
  if (const auto* constant = std::get_if<Constant>(&value->node)) {
    const bool fits =
        std::fabs(constant->value) < max_number && constant->value == std::floor(constant->value);
    return fits ? std::optional(LinearForm{static_cast<std::int64_t>(constant->value), {}}) : std::nullopt;
  }
  if (const auto* coordinate = std::get_if<Coordinate>(&value->node))
    return LinearForm{0, {{coordinate->index, 1}}};
  const auto* product = std::get_if<Multiplied>(&value->node);
  if (product != nullptr) return multiplies ? linear_form(*product) : std::nullopt;
  const auto* call = std::get_if<Called>(&value->node);
  if (call == nullptr) return std::nullopt;
  const bool subtracts = call->function == Function::subtract, negates = call->function == Function::negate;
  if (call->function != Function::add && !subtracts && !negates) return std::nullopt;
  LinearForm out;
  for (const ValuePtr& argument : call->arguments) {
    const auto part = linear_form(argument, multiplies);
    if (!part) return std::nullopt;
    const bool minus = negates || (subtracts && &argument != &call->arguments.front());
    out = sum_of(std::move(out), *part, minus ? -1 : 1);
  }
  return out;
}

bool compares(Function function) {
  return function == Function::less || function == Function::less_equal || function == Function::greater ||
         function == Function::greater_equal || function == Function::equal;
}

/// Turns `a < b` into `b > a`.
Function turned(Function function) {
  switch (function) {
    case Function::less:
      return Function::greater;
    case Function::less_equal:
      return Function::greater_equal;
    case Function::greater:
      return Function::less;
    case Function::greater_equal:
      return Function::less_equal;
    default:
      return function;
  }
}

class CoordinateBounds {
 public:
  CoordinateBounds(const SummedLoop& loop, const Scope& scope)
      : index_(loop.index), multiplies_(loop.multiplies), scope_(scope), range_(loop.all) {}

  /// Narrows the range to where the value may differ from zero.
  void narrow(const ValuePtr& value) {
    if (const auto* product = std::get_if<Multiplied>(&value->node)) {
      for (const ValuePtr& factor : product->factors) narrow(factor);
    }
    const auto* call = std::get_if<Called>(&value->node);
    if (call == nullptr) return;
    if (compares(call->function)) return compare(*call);
    if (call->function == Function::logical_and) {
      for (const ValuePtr& argument : call->arguments) narrow(argument);
    } else if (call->function == Function::where) {
      const auto* otherwise = std::get_if<Constant>(&call->arguments[2]->node);
      if (otherwise == nullptr || otherwise->value != 0) return;
      narrow(call->arguments[0]);
      narrow(call->arguments[1]);
    } else if (call->function == Function::divide || call->function == Function::negate) {
      narrow(call->arguments.front());
    }
  }

  /// Returns the range, which may be empty and then ends where it begins.
  loop_ir::Range found() && {
    if (narrowed_) range_.end = loop_ir::apply(Function::maximum, {range_.begin, range_.end});
    return std::move(range_);
  }

 private:
  void compare(const Called& comparison) {
    const auto left = linear_form(comparison.arguments[0], multiplies_),
               right = linear_form(comparison.arguments[1], multiplies_);
    if (!left || !right) return;
    LinearForm rest = sum_of(*left, *right, -1);
    const std::int64_t factor = std::exchange(rest.factors[index_], 0);
    if (factor != 1 && factor != -1) return;
    // index + rest <= 0 is index <= -rest; rest - index <= 0 is index >= rest.
    const auto bound = expression(rest, -factor);
    if (bound) apply(factor == 1 ? comparison.function : turned(comparison.function), *bound);
  }

  std::optional<ExpressionPtr> expression(const LinearForm& form, std::int64_t times) const {
    ExpressionPtr sum = loop_ir::integer(times * form.number);
    for (const auto& [index, factor] : form.factors) {
      if (factor == 0) continue;
      const auto known = scope_.coordinates.find(index);
      if (known == scope_.coordinates.end()) return std::nullopt;
      sum = loop_ir::add(loop_ir::multiply(loop_ir::name(known->second), loop_ir::integer(times * factor)),
                         std::move(sum));
    }
    return sum;
  }

  void apply(Function function, const ExpressionPtr& bound) {
    const auto above = loop_ir::add(bound, loop_ir::integer(1));
    narrowed_ = true;
    if (function == Function::greater || function == Function::greater_equal || function == Function::equal)
      range_.begin =
          loop_ir::apply(Function::maximum, {range_.begin, function == Function::greater ? above : bound});
    if (function == Function::less || function == Function::less_equal || function == Function::equal)
      range_.end = loop_ir::minimum(range_.end, function == Function::less ? bound : above);
  }

  int index_;
  bool multiplies_;
  const Scope& scope_;
  loop_ir::Range range_;
  bool narrowed_ = false;
};

}  // namespace

loop_ir::Range bounded_by_coordinates(const ValuePtr& value, const SummedLoop& loop, const Scope& scope) {
  CoordinateBounds bounds(loop, scope);
  bounds.narrow(value);
  return std::move(bounds).found();
}

}  // namespace schaas::lower
