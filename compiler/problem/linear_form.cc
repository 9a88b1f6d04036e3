#include "compiler/problem/linear_form.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace schaas::problem {
namespace {

using index_notation::Call;
using index_notation::Coordinate;
using index_notation::Expression;
using index_notation::Literal;
using index_notation::Product;
using operators::Function;

constexpr double max_number = 1 << 30;
constexpr double max_factor = 1 << 15;

/// Returns a + times * b.
LinearForm sum_of(LinearForm a, const LinearForm& b, std::int64_t times) {
  a.number += times * b.number;
  for (const auto& [index, factor] : b.factors) a.factors[index] += times * factor;
  std::erase_if(a.factors, [](const auto& each) { return each.second == 0; });
  return a;
}

/// Returns the form of a product of whole numbers and one other form at most.
std::optional<LinearForm> form_of(const Product& product) {
  LinearForm out{1, {}};
  for (const Expression& factor : product.factors) {
    const auto part = linear_form(factor, true);
    if (!part) return std::nullopt;
    const LinearForm& number = out.factors.empty() ? out : *part;
    const LinearForm& other = out.factors.empty() ? *part : out;
    if (!number.factors.empty() || std::fabs(static_cast<double>(number.number)) > max_factor)
      return std::nullopt;
    out = sum_of(LinearForm{}, other, number.number);
    if (std::fabs(static_cast<double>(out.number)) >= max_number) return std::nullopt;
  }
  return out;
}

bool compares(Function function) {
  return function == Function::less || function == Function::less_equal || function == Function::greater ||
         function == Function::greater_equal || function == Function::equal;
}

void collect(const Expression& value, bool multiplies, std::vector<CoordinateComparison>& out) {
  if (const auto* product = std::get_if<Product>(&value.node)) {
    for (const Expression& factor : product->factors) collect(factor, multiplies, out);
  }
  const auto* call = std::get_if<Call>(&value.node);
  if (call == nullptr) return;
  if (auto comparison = comparison_of(value, multiplies)) {
    out.push_back(std::move(*comparison));
  } else if (call->function == Function::logical_and) {
    for (const Expression& argument : call->arguments) collect(argument, multiplies, out);
  } else if (call->function == Function::where) {
    const auto* otherwise = std::get_if<Literal>(&call->arguments[2].node);
    if (otherwise == nullptr || otherwise->value != 0) return;
    collect(call->arguments[0], multiplies, out);
    collect(call->arguments[1], multiplies, out);
  } else if (call->function == Function::divide || call->function == Function::negate) {
    collect(call->arguments.front(), multiplies, out);
  }
}

}  // namespace

std::optional<LinearForm> linear_form(const Expression& expression, bool multiplies) {
  if (const auto* literal = std::get_if<Literal>(&expression.node)) {
    const bool fits = std::fabs(literal->value) < max_number && literal->value == std::floor(literal->value);
    return fits ? std::optional(LinearForm{static_cast<std::int64_t>(literal->value), {}}) : std::nullopt;
  }
  if (const auto* coordinate = std::get_if<Coordinate>(&expression.node))
    return LinearForm{0, {{coordinate->index, 1}}};
  const auto* product = std::get_if<Product>(&expression.node);
  if (product != nullptr) return multiplies ? form_of(*product) : std::nullopt;
  const auto* call = std::get_if<Call>(&expression.node);
  if (call == nullptr) return std::nullopt;
  const bool subtracts = call->function == Function::subtract, negates = call->function == Function::negate;
  if (call->function != Function::add && !subtracts && !negates) return std::nullopt;
  LinearForm out;
  for (const Expression& argument : call->arguments) {
    const auto part = linear_form(argument, multiplies);
    if (!part) return std::nullopt;
    const bool minus = negates || (subtracts && &argument != &call->arguments.front());
    out = sum_of(std::move(out), *part, minus ? -1 : 1);
  }
  return out;
}

std::optional<CoordinateComparison> comparison_of(const Expression& expression, bool multiplies) {
  const auto* call = std::get_if<Call>(&expression.node);
  if (call == nullptr || !compares(call->function)) return std::nullopt;
  const auto left = linear_form(call->arguments[0], multiplies),
             right = linear_form(call->arguments[1], multiplies);
  if (!left || !right) return std::nullopt;
  return CoordinateComparison{call->function, sum_of(*left, *right, -1)};
}

std::vector<CoordinateComparison> comparisons_of(const Expression& value, bool multiplies) {
  std::vector<CoordinateComparison> out;
  collect(value, multiplies, out);
  return out;
}

bool has_equation(const Expression& value, const operators::Semiring& semiring) {
  const auto* product = std::get_if<Product>(&value.node);
  return product != nullptr && &semiring == &operators::plus_times() &&
         std::any_of(product->factors.begin(), product->factors.end(), [](const Expression& factor) {
           const auto comparison = comparison_of(factor, true);
           return comparison && comparison->function == Function::equal;
         });
}

}  // namespace schaas::problem
