#pragma once
#include <string>
#include <variant>
#include <vector>

#include "compiler/support/source_range.h"

/// Index notation: what the user writes. See README.md for grammar and semantics.
namespace schaas::index_notation {

struct Expression;

/// A tensor with one index variable per mode; a scalar has none.
struct Access {
  std::string tensor;
  std::vector<std::string> indices;
  support::SourceRange range{};                        ///< of the whole access
  std::vector<support::SourceRange> index_ranges{};    ///< one per index; empty when not parsed from text
};

/// A product of factors, flattened: no factor is itself a Product; at least two factors.
struct Product {
  std::vector<Expression> factors;
};

/// Closed node set; equality is structural and ignores ranges.
struct Expression {
  std::variant<Access, Product> node;
  support::SourceRange range{};
};

/// `result = value` with implied sums: every index of `value` missing from `result` is summed.
struct Assignment {
  Access result;
  Expression value;
  support::SourceRange range{};
};

bool operator==(const Access& a, const Access& b);
bool operator==(const Product& a, const Product& b);
bool operator==(const Expression& a, const Expression& b);
bool operator==(const Assignment& a, const Assignment& b);

/// The accesses of an expression, left to right (the operands of a product).
std::vector<Access> operands(const Expression& expression);
/// A single access, or the product of several.
Expression product_of(std::vector<Access> factors);
/// All index variables in order of first appearance: the result's, then the operands'.
std::vector<std::string> index_variables(const Assignment& assignment);

}  // namespace schaas::index_notation
