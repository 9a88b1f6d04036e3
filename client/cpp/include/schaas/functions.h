#pragma once
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

/// Scalar functions, monoids, and semirings as the client understands them. They are separate from the
/// compiler's tables, so that an error in one of the two is found by comparing results. docs/language.md
/// gives the meanings.
namespace schaas::client {

/// Conditions are numbers: 0 is false, everything else is true; a comparison gives 1 or 0.
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
  where,
  negate,
  abs,
  exp,
  log,
  sqrt,
  sin,
  cos,
  tan,
  tanh,
  sigmoid,
  relu,
  sign,
  floor,
  ceil,
  round,
};

/// Spelling and arity of a call; infix operators have no call.
struct CallForm {
  Function function;
  const char* name;
  std::size_t least, most;  ///< arguments
};
/// Null: no function has this name.
const CallForm* call_named(std::string_view name);

/// The name of a call or the operator, as a statement has it; `-` for both subtraction and negation.
const char* written(Function function);

/// Folds of reductions and updates.
enum class Fold { sum, product, minimum, maximum, logical_or, logical_and };
std::optional<Fold> fold_named(std::string_view name);  ///< sum, prod, min, max, or, and
const char* written(Fold fold);                         ///< the inverse of fold_named
double identity(Fold fold);                             ///< 0, 1, +infinity, -infinity, 0, 1

/// Semiring: the operators of implied sums and of `*`, and the value of an element that is not stored.
struct Semiring {
  const char* name;
  Fold sum;
  Function product;  ///< multiply, add, minimum, maximum or logical_and
  double zero;       ///< identity of the sum, annihilates the product
  double one;        ///< identity of the product
};
const std::vector<Semiring>& semirings();  ///< plus-times first

}  // namespace schaas::client
