#pragma once
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Operations on numbers: functions, the monoids of reductions, the semirings of contractions. Shared by
/// index notation, concrete notation and loop IR. Conditions are numbers: 0 is false, everything else is
/// true; a comparison gives 1 or 0.
namespace schaas::operators {

/// Multiplication of a product is not among them: index notation has a node of its own for it. On the way to
/// loop IR it becomes `multiply` (or what the semiring multiplies with).
enum class Function {
  add,
  subtract,
  multiply,
  divide,
  power,
  minimum,
  maximum,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  logical_and,
  logical_or,
  logical_not,
  where,  ///< ternary where(condition, then, otherwise): only the chosen one matters
  negate,
  abs,
  exp,
  expm1,  ///< exp(x) - 1, exact near 0
  log,
  log1p,  ///< log(1 + x), exact near 0
  log2,
  log10,
  sqrt,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  sigmoid,
  erf,
  relu,
  sign,
  floor,
  ceil,
  round,
  conj,                    ///< the complex conjugate; of real numbers the number, as is `real`
  real,                    ///< the real part, as a number of the same type
  imag,                    ///< the imaginary part, as a number of the same type; 0 of real numbers
  add_absorbing_largest,   ///< loop IR: integer sum, the largest if an argument is the largest
  add_absorbing_smallest,  ///< loop IR: the same with the smallest
};

struct FunctionFacts {
  Function function;
  const char* name;   ///< text of a call: "max", "where"; of an infix operator a word for messages
  const char* infix;  ///< "+", "<="; "" for calls; "-" also for negate, written before its argument
  int precedence;     ///< precedence of infix operators, higher binds tighter; 0 for calls; -1: loop IR alone
  std::size_t arity;  ///< minimum number of arguments
  bool any_more;      ///< takes any number from `arity` on: associative and commutative
};
const FunctionFacts& facts(Function function);
enum class Callers { language, loop_ir };
/// The function a call names ("exp", "max"); nothing for other words.
std::optional<Function> function_named(std::string_view name, Callers callers = Callers::language);
/// The product of a semiring that loop IR names: "multiply", "add", "and", "min", ...
std::optional<Function> product_named(std::string_view name);
/// All words that name a function, for suggestions.
std::vector<std::string> function_names();
/// True for functions whose values are 0 or 1: comparisons, and, or, not.
bool is_truth(Function function);
/// One that takes as long as dozens of additions: exp, log, sin, ...
bool is_costly(Function function);
/// Returns the name of what raises to this power without a call of pow, "square" for 2; null when nothing
/// does.
const char* simple_power(double exponent);
/// The value in double arithmetic, as a kernel computes it. `arguments` as many as the arity asks.
double evaluate(Function function, const std::vector<double>& arguments);

/// Associative and commutative with an identity: what a reduction folds with.
enum class Monoid { sum, product, minimum, maximum, logical_or, logical_and };
const char* name(Monoid monoid);  ///< "sum", "prod", "min", "max", "or", "and"
std::optional<Monoid> monoid_named(std::string_view name);
Function combine(Monoid monoid);  ///< add, multiply, minimum, ...
double identity(Monoid monoid);   ///< 0, 1, +infinity, -infinity, 0, 1
/// Ways to fold many equal values: one by one, as one of them, or as their number times the value.
enum class EqualValues { one_by_one, as_one, as_multiple };
/// Min, max, and, or fold equal values as one, whatever they are, and so does a product of zeros. A sum folds
/// their number times the value. `value`: nothing where it is not known yet.
EqualValues folding_of_equal_values(Monoid monoid, std::optional<double> value);

/// A commutative semiring: what the implied sums and the `*` of a product mean. Elements a format does not
/// store are its zero, which is the identity of the sum and annihilates the product.
struct Semiring {
  const char* name;
  Monoid sum;
  Function product;
  double zero;
  double one;  ///< identity of the product
};
/// plus-times (the default), min-plus, max-plus, max-times (numbers >= 0), min-max, max-min, or-and.
const std::vector<Semiring>& semirings();
const Semiring& plus_times();
const Semiring* semiring_named(std::string_view name);  ///< null: unknown

}  // namespace schaas::operators
