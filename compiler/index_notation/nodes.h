#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/operators/operators.h"
#include "compiler/support/source_range.h"

/// Index notation: what the user writes. See README.md for grammar and semantics.
namespace schaas::index_notation {

struct Expression;

/// A whole number of the text, or the name of a scalar operand that holds it.
using Bound = std::variant<std::int64_t, std::string>;

/// Part of a mode that an access reads: the coordinates of `begin:end:step` with the meaning of numpy, or
/// `begin` alone when `is_fixed`.
struct Range {
  std::optional<Bound> begin{}, end{}, step{};
  bool is_fixed = false;
};

/// A tensor with one index variable per mode; a scalar has none. `ranges` is empty where each mode is read
/// whole, and else has one element per mode; the index of a fixed mode is "".
struct Access {
  std::string tensor;
  std::vector<std::string> indices;
  support::SourceRange range{};                      ///< range of the whole access
  std::vector<support::SourceRange> index_ranges{};  ///< one per index; empty when not parsed from text
  std::vector<std::optional<Range>> ranges{};
};

/// A product of factors, flattened: no factor is itself a Product; at least two factors.
struct Product {
  std::vector<Expression> factors;
};

/// A number.
struct Literal {
  double value = 0;
};

/// The coordinate of an index as a number, written as the index alone: `i * x(i)`.
struct Coordinate {
  std::string index;
};

/// A function of its arguments; `multiply` is never among them (Product). Sums are flattened: no argument of
/// `add` is itself an `add`. Comparisons and `subtract`, `divide` have two arguments, `negate` one.
struct Call {
  operators::Function function = operators::Function::add;
  std::vector<Expression> arguments;
};

/// `max(j)(body)`: the monoid folded over all values of the indices, none of which is seen outside.
struct Reduction {
  operators::Monoid monoid = operators::Monoid::sum;
  std::vector<std::string> indices;
  std::vector<Expression> body;  ///< exactly one
};

/// Closed node set; equality is structural and ignores ranges.
struct Expression {
  std::variant<Access, Product, Literal, Call, Reduction, Coordinate> node;
  support::SourceRange range{};
};

/// `result = value` with implied sums (implied_sums.h). An index of `value` that is neither on the left nor
/// reduced explicitly is summed over each additive term that has it. With `update`, `result += value`: the
/// value is folded into what the result holds.
struct Assignment {
  Access result;
  Expression value;
  std::optional<operators::Monoid> update{};
  support::SourceRange range{};
};

/// Statements in order. All but the last define intermediates; the last one's target is the result. Under a
/// semiring the implied reduction is its sum, a Product multiplies with its product and Call `add` is its
/// sum; everything else keeps its own meaning.
struct Program {
  const operators::Semiring* semiring = &operators::plus_times();
  std::vector<Assignment> statements;

  const Access& result() const { return statements.back().result; }
};

bool operator==(const Range& a, const Range& b);
bool operator==(const Access& a, const Access& b);
bool operator==(const Product& a, const Product& b);
bool operator==(const Literal& a, const Literal& b);
bool operator==(const Coordinate& a, const Coordinate& b);
bool operator==(const Call& a, const Call& b);
bool operator==(const Reduction& a, const Reduction& b);
bool operator==(const Expression& a, const Expression& b);
bool operator==(const Assignment& a, const Assignment& b);
bool operator==(const Program& a, const Program& b);

/// Returns the range of a mode, or none where the mode is read whole.
const Range* mode_range(const Access& access, std::size_t mode);

/// Returns the parts of an expression, left to right: factors, arguments, the body of a reduction.
const std::vector<Expression>& parts(const Expression& expression);
/// The same operation on other parts, as many as it has.
Expression with_parts(Expression expression, std::vector<Expression> parts);

/// All accesses of an expression, left to right (the operands of a product).
std::vector<Access> operands(const Expression& expression);
/// True for a single access or a product of accesses. It is a contraction, which the schedule space searches,
/// when every index not on the left is summed.
bool is_product(const Expression& expression);
/// A single access, or the product of several.
Expression product_of(std::vector<Access> factors);
/// The same expression with every access as `changed` gives it.
Expression with_accesses(const Expression& expression, const std::function<Access(Access)>& changed);
/// The indices that stand as numbers in an expression, distinct, left to right.
std::vector<std::string> coordinates(const Expression& expression);
/// All index variables in order of first appearance: the result's, then the operands', then those that stand
/// as numbers; statement by statement.
std::vector<std::string> index_variables(const Assignment& assignment);
std::vector<std::string> index_variables(const std::vector<Assignment>& statements);
/// The indices that an access has, or that stand as numbers, outside of every reduction over them, in order
/// of first appearance.
std::vector<std::string> free_indices(const Expression& expression);
/// True when the expression has `index` free.
bool has_free(const Expression& expression, const std::string& index);

}  // namespace schaas::index_notation
