#include "compiler/operators/operators.h"

#include <array>
#include <cmath>
#include <utility>

#include "compiler/support/result.h"

// One table of functions, monoids and semirings, which front end, merge lattice, loop IR and code generation
// share. A new function is a row here and a case in `evaluate`; code generators and oracles have cases of
// their own (docs/decisions/0005). Values are those of double arithmetic. Comparisons with NaN are false, so
// a minimum or maximum keeps a NaN in its first argument and drops one in its second.
// A monoid is associative and commutative up to rounding, with its identity; a semiring's zero is the
// identity of its sum and annihilates its product. Sparsity rests on the latter: products are skipped where
// an operand stores nothing.
namespace schaas::operators {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Function, name, infix sign, precedence, arity, any more arguments (nodes of any length). Rows may have any
// order.
constexpr std::array<FunctionFacts, 47> table = {{
    {Function::add, "add", "+", 4, 2, true},
    {Function::subtract, "subtract", "-", 4, 2, false},
    {Function::multiply, "multiply", "*", 5, 2, true},
    {Function::divide, "divide", "/", 5, 2, false},
    {Function::power, "pow", "", 0, 2, false},
    {Function::minimum, "min", "", 0, 2, true},
    {Function::maximum, "max", "", 0, 2, true},
    {Function::less, "less", "<", 3, 2, false},
    {Function::less_equal, "less-equal", "<=", 3, 2, false},
    {Function::greater, "greater", ">", 3, 2, false},
    {Function::greater_equal, "greater-equal", ">=", 3, 2, false},
    {Function::equal, "equal", "==", 3, 2, false},
    {Function::not_equal, "not-equal", "!=", 3, 2, false},
    {Function::logical_and, "and", "", 0, 2, true},
    {Function::logical_or, "or", "", 0, 2, true},
    {Function::logical_not, "not", "", 0, 1, false},
    {Function::where, "where", "", 0, 3, false},
    {Function::negate, "negate", "-", 6, 1, false},
    {Function::abs, "abs", "", 0, 1, false},
    {Function::exp, "exp", "", 0, 1, false},
    {Function::expm1, "expm1", "", 0, 1, false},
    {Function::log, "log", "", 0, 1, false},
    {Function::log1p, "log1p", "", 0, 1, false},
    {Function::log2, "log2", "", 0, 1, false},
    {Function::log10, "log10", "", 0, 1, false},
    {Function::sqrt, "sqrt", "", 0, 1, false},
    {Function::sin, "sin", "", 0, 1, false},
    {Function::cos, "cos", "", 0, 1, false},
    {Function::tan, "tan", "", 0, 1, false},
    {Function::asin, "asin", "", 0, 1, false},
    {Function::acos, "acos", "", 0, 1, false},
    {Function::atan, "atan", "", 0, 1, false},
    {Function::sinh, "sinh", "", 0, 1, false},
    {Function::cosh, "cosh", "", 0, 1, false},
    {Function::tanh, "tanh", "", 0, 1, false},
    {Function::sigmoid, "sigmoid", "", 0, 1, false},
    {Function::erf, "erf", "", 0, 1, false},
    {Function::relu, "relu", "", 0, 1, false},
    {Function::sign, "sign", "", 0, 1, false},
    {Function::floor, "floor", "", 0, 1, false},
    {Function::ceil, "ceil", "", 0, 1, false},
    {Function::round, "round", "", 0, 1, false},
    {Function::conj, "conj", "", 0, 1, false},
    {Function::real, "real", "", 0, 1, false},
    {Function::imag, "imag", "", 0, 1, false},
    {Function::add_absorbing_largest, "add_absorbing_largest", "", -1, 2, true},
    {Function::add_absorbing_smallest, "add_absorbing_smallest", "", -1, 2, true},
}};

constexpr std::array<std::pair<Monoid, const char*>, 6> monoids = {{{Monoid::sum, "sum"},
                                                                    {Monoid::product, "prod"},
                                                                    {Monoid::minimum, "min"},
                                                                    {Monoid::maximum, "max"},
                                                                    {Monoid::logical_or, "or"},
                                                                    {Monoid::logical_and, "and"}}};

// Applies a function that takes any number of arguments to two of them.
double fold(Function function, double a, double b) {
  switch (function) {
    case Function::add:
    case Function::add_absorbing_largest:  // infinities absorb by themselves
    case Function::add_absorbing_smallest:
      return a + b;
    case Function::multiply:
      return a * b;
    case Function::minimum:
      return b < a ? b : a;
    case Function::maximum:
      return b > a ? b : a;
    case Function::logical_and:
      return a != 0 && b != 0 ? 1 : 0;
    case Function::logical_or:
      return a != 0 || b != 0 ? 1 : 0;
    default:
      SCHAAS_CHECK(false, "a function that is not folded");
  }
}

// Applies a function of exactly two arguments.
double of_two(Function function, double a, double b) {
  switch (function) {
    case Function::subtract:
      return a - b;
    case Function::divide:
      return a / b;
    case Function::power:
      return std::pow(a, b);
    case Function::less:
      return a < b ? 1 : 0;
    case Function::less_equal:
      return a <= b ? 1 : 0;
    case Function::greater:
      return a > b ? 1 : 0;
    case Function::greater_equal:
      return a >= b ? 1 : 0;
    case Function::equal:
      return a == b ? 1 : 0;
    case Function::not_equal:
      return a != b ? 1 : 0;
    default:
      SCHAAS_CHECK(false, "a function of two numbers without a case");
  }
}

double of_one(Function function, double x) {
  switch (function) {
    case Function::logical_not:
      return x == 0 ? 1 : 0;
    case Function::negate:
      return -x;
    case Function::abs:
      return std::fabs(x);
    case Function::exp:
      return std::exp(x);
    case Function::expm1:
      return std::expm1(x);
    case Function::log:
      return std::log(x);
    case Function::log1p:
      return std::log1p(x);
    case Function::log2:
      return std::log2(x);
    case Function::log10:
      return std::log10(x);
    case Function::sqrt:
      return std::sqrt(x);
    case Function::sin:
      return std::sin(x);
    case Function::cos:
      return std::cos(x);
    case Function::tan:
      return std::tan(x);
    case Function::asin:
      return std::asin(x);
    case Function::acos:
      return std::acos(x);
    case Function::atan:
      return std::atan(x);
    case Function::sinh:
      return std::sinh(x);
    case Function::cosh:
      return std::cosh(x);
    case Function::tanh:
      return std::tanh(x);
    case Function::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Function::erf:
      return std::erf(x);
    case Function::relu:
      return x > 0 ? x : 0;
    case Function::sign:
      return x > 0 ? 1 : x < 0 ? -1 : 0;
    case Function::floor:
      return std::floor(x);
    case Function::ceil:
      return std::ceil(x);
    case Function::round:
      // Halves go to the even neighbour, the default rounding mode.
      return std::nearbyint(x);
    case Function::conj:
    case Function::real:
      return x;
    case Function::imag:
      return 0;
    default:
      SCHAAS_CHECK(false, "a function of one number without a case");
  }
}

}  // namespace

// Looks a row up by its function; 47 rows need no index.
const FunctionFacts& facts(Function function) {
  for (const auto& row : table) {
    if (row.function == function) return row;
  }
  SCHAAS_CHECK(false, "a function without facts");
}

std::optional<Function> function_named(std::string_view name, Callers callers) {
  for (const auto& row : table) {
    const bool known = row.precedence == 0 || (row.precedence < 0 && callers == Callers::loop_ir);
    if (known && name == row.name) return row.function;
  }
  return std::nullopt;
}

std::optional<Function> product_named(std::string_view name) {
  for (const Semiring& semiring : semirings())
    if (facts(semiring.product).name == name) return semiring.product;
  return function_named(name, Callers::loop_ir);  // integers have products that absorb
}

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const auto& row : table) {
    if (row.precedence == 0) names.emplace_back(row.name);
  }
  return names;
}

bool is_truth(Function function) {
  switch (function) {
    case Function::less:
    case Function::less_equal:
    case Function::greater:
    case Function::greater_equal:
    case Function::equal:
    case Function::not_equal:
    case Function::logical_and:
    case Function::logical_or:
    case Function::logical_not:
      return true;
    default:
      return false;
  }
}

const char* simple_power(double exponent) {
  static constexpr std::pair<double, const char*> names[] = {
      {2, "square"}, {3, "cube"}, {-1, "inverse"}, {0.5, "root"}, {-0.5, "inverse_root"}};
  for (const auto& [power, name] : names)
    if (power == exponent) return name;
  return nullptr;
}

// Division and square root are instructions; these are polynomials or calls of the mathematical library.
bool is_costly(Function function) {
  switch (function) {
    case Function::power:
    case Function::exp:
    case Function::expm1:
    case Function::log:
    case Function::log1p:
    case Function::log2:
    case Function::log10:
    case Function::sin:
    case Function::cos:
    case Function::tan:
    case Function::asin:
    case Function::acos:
    case Function::atan:
    case Function::sinh:
    case Function::cosh:
    case Function::tanh:
    case Function::sigmoid:
    case Function::erf:
      return true;
    default:
      return false;
  }
}

double evaluate(Function function, const std::vector<double>& arguments) {
  const FunctionFacts& known = facts(function);
  SCHAAS_CHECK(arguments.size() >= known.arity && (known.any_more || arguments.size() == known.arity),
               "a function with another number of arguments");
  // The arguments are values already, so nothing is left out by the choice.
  if (function == Function::where) return arguments[0] != 0 ? arguments[1] : arguments[2];
  if (known.any_more) {
    double value = arguments[0];
    for (std::size_t n = 1; n < arguments.size(); ++n) value = fold(function, value, arguments[n]);
    return value;
  }
  return known.arity == 1 ? of_one(function, arguments[0]) : of_two(function, arguments[0], arguments[1]);
}

const char* name(Monoid monoid) {
  for (const auto& [known, text] : monoids) {
    if (known == monoid) return text;
  }
  return "";
}

std::optional<Monoid> monoid_named(std::string_view name) {
  for (const auto& [known, text] : monoids) {
    if (name == text) return known;
  }
  return std::nullopt;
}

Function combine(Monoid monoid) {
  switch (monoid) {
    case Monoid::sum:
      return Function::add;
    case Monoid::product:
      return Function::multiply;
    case Monoid::minimum:
      return Function::minimum;
    case Monoid::maximum:
      return Function::maximum;
    case Monoid::logical_or:
      return Function::logical_or;
    case Monoid::logical_and:
      return Function::logical_and;
  }
  return Function::add;
}

// Idempotent monoids fold a value once or many times alike; a product does with its annihilator.
EqualValues folding_of_equal_values(Monoid monoid, std::optional<double> value) {
  switch (monoid) {
    case Monoid::minimum:
    case Monoid::maximum:
    case Monoid::logical_or:
    case Monoid::logical_and:
      return EqualValues::as_one;
    case Monoid::product:
      return value == 0 ? EqualValues::as_one : EqualValues::one_by_one;
    case Monoid::sum:
      return EqualValues::as_multiple;
  }
  return EqualValues::one_by_one;
}

double identity(Monoid monoid) {
  switch (monoid) {
    case Monoid::sum:
    case Monoid::logical_or:
      return 0;
    case Monoid::product:
    case Monoid::logical_and:
      return 1;
    case Monoid::minimum:
      return infinity;
    case Monoid::maximum:
      return -infinity;
  }
  return 0;
}

// Name, sum, product, zero (identity of the sum, annihilator of the product), identity of the product.
const std::vector<Semiring>& semirings() {
  static const std::vector<Semiring> known = {
      {"plus-times", Monoid::sum, Function::multiply, 0, 1},
      {"min-plus", Monoid::minimum, Function::add, infinity, 0},
      {"max-plus", Monoid::maximum, Function::add, -infinity, 0},
      // Zero is the identity of the maximum among numbers from 0 on only.
      {"max-times", Monoid::maximum, Function::multiply, 0, 1},
      {"min-max", Monoid::minimum, Function::maximum, infinity, -infinity},
      {"max-min", Monoid::maximum, Function::minimum, -infinity, infinity},
      {"or-and", Monoid::logical_or, Function::logical_and, 0, 1},
  };
  return known;
}

const Semiring& plus_times() { return semirings().front(); }

const Semiring* semiring_named(std::string_view name) {
  for (const auto& each : semirings()) {
    if (name == each.name) return &each;
  }
  return nullptr;
}

}  // namespace schaas::operators
