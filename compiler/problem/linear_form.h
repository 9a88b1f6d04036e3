#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/index_notation/nodes.h"

namespace schaas::problem {

/// A number and the sum of coordinates times their factors.
struct LinearForm {
  std::int64_t number = 0;
  std::map<std::string, std::int64_t> factors{};  ///< by index; none is 0
};

/// Returns the form of a sum of coordinates, of whole multiples of them and of whole numbers. Nothing of
/// other expressions, and none with factors from 2^15 or numbers from 2^30 on, so that no sum overflows.
/// `multiplies`: products are those of numbers.
std::optional<LinearForm> linear_form(const index_notation::Expression& expression, bool multiplies);

/// A comparison of coordinates: of a form, the left side without the right one, with 0.
struct CoordinateComparison {
  operators::Function function = operators::Function::equal;
  LinearForm difference;
};

/// Returns the comparison that an expression is, if it is one of linear forms.
std::optional<CoordinateComparison> comparison_of(const index_notation::Expression& expression,
                                                  bool multiplies);

/// Returns comparisons of coordinates that hold wherever the value differs from 0. They are factors of
/// products, parts of an `and`, and conditions of a `where` that is 0 otherwise.
std::vector<CoordinateComparison> comparisons_of(const index_notation::Expression& value, bool multiplies);

/// Tells whether a product has an equation of coordinates among its factors, outside of which it is 0.
/// Products of semirings other than plus-times have none.
bool has_equation(const index_notation::Expression& value, const operators::Semiring& semiring);

}  // namespace schaas::problem
