#include "schaas/functions.h"

#include <limits>
#include <utility>

namespace schaas::client {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

constexpr CallForm calls[] = {
    {Function::minimum, "min", 2, any_number},
    {Function::maximum, "max", 2, any_number},
    {Function::logical_and, "and", 2, any_number},
    {Function::logical_or, "or", 2, any_number},
    {Function::logical_not, "not", 1, 1},
    {Function::where, "where", 3, 3},
    {Function::power, "pow", 2, 2},
    {Function::abs, "abs", 1, 1},
    {Function::exp, "exp", 1, 1},
    {Function::log, "log", 1, 1},
    {Function::sqrt, "sqrt", 1, 1},
    {Function::sin, "sin", 1, 1},
    {Function::cos, "cos", 1, 1},
    {Function::tan, "tan", 1, 1},
    {Function::tanh, "tanh", 1, 1},
    {Function::sigmoid, "sigmoid", 1, 1},
    {Function::relu, "relu", 1, 1},
    {Function::sign, "sign", 1, 1},
    {Function::floor, "floor", 1, 1},
    {Function::ceil, "ceil", 1, 1},
    {Function::round, "round", 1, 1},
};

constexpr std::pair<Function, const char*> operators[] = {
    {Function::add, "+"},         {Function::subtract, "-"},   {Function::multiply, "*"},
    {Function::divide, "/"},      {Function::negate, "-"},     {Function::less, "<"},
    {Function::less_equal, "<="}, {Function::greater, ">"},    {Function::greater_equal, ">="},
    {Function::equal, "=="},      {Function::not_equal, "!="},
};

}  // namespace

const CallForm* call_named(std::string_view name) {
  for (const CallForm& form : calls) {
    if (name == form.name) return &form;
  }
  return nullptr;
}

const char* written(Function function) {
  for (const auto& [known, text] : operators) {
    if (known == function) return text;
  }
  for (const CallForm& form : calls) {
    if (form.function == function) return form.name;
  }
  return "";
}

std::optional<Fold> fold_named(std::string_view name) {
  if (name == "sum") return Fold::sum;
  if (name == "prod") return Fold::product;
  if (name == "min") return Fold::minimum;
  if (name == "max") return Fold::maximum;
  if (name == "or") return Fold::logical_or;
  if (name == "and") return Fold::logical_and;
  return std::nullopt;
}

const char* written(Fold fold) {
  for (const char* name : {"sum", "prod", "min", "max", "or", "and"}) {
    if (fold_named(name) == fold) return name;
  }
  return "";
}

double identity(Fold fold) {
  switch (fold) {
    case Fold::sum:
    case Fold::logical_or:
      return 0;
    case Fold::product:
    case Fold::logical_and:
      return 1;
    case Fold::minimum:
      return infinity;
    case Fold::maximum:
      return -infinity;
  }
  return 0;
}

const std::vector<Semiring>& semirings() {
  static const std::vector<Semiring> known = {
      {"plus-times", Fold::sum, Function::multiply, 0, 1},
      {"min-plus", Fold::minimum, Function::add, infinity, 0},
      {"max-plus", Fold::maximum, Function::add, -infinity, 0},
      {"max-times", Fold::maximum, Function::multiply, 0, 1},
      {"min-max", Fold::minimum, Function::maximum, infinity, -infinity},
      {"max-min", Fold::maximum, Function::minimum, -infinity, infinity},
      {"or-and", Fold::logical_or, Function::logical_and, 0, 1},
  };
  return known;
}

}  // namespace schaas::client
