#pragma once
#include <optional>
#include <vector>

#include "compiler/problem/problem.h"

namespace schaas::problem {

/// The expression reduces something.
bool has_reduction(const index_notation::Expression& expression);

/// The one element that an expression is a function of, however often it is read; nothing when it reads
/// another one, none, or reduces.
std::optional<index_notation::Access> element_of(const index_notation::Expression& expression);

/// The value where every element is the semiring's zero, of an expression that reduces nothing. Zero
/// annihilates other factors and divisors, whatever they are.
double value_at_zero(const index_notation::Expression& expression, const operators::Semiring& semiring);

/// The body of a reduction where sparse operands store nothing along the reduced indices.
struct UnstoredBody {
  std::optional<double> number{};  ///< its value; nothing where that depends on other elements
  bool varies = false;             ///< it has one of the reduced indices
};

/// Returns what a reduction folds at coordinates that no sparse operand stores. Nothing when no sparse
/// operand has one of the reduced indices. A zero annihilates other factors and is zero divided by anything.
///     max(i)(exp(B(i,j)))          1
///     sum(i)(abs(B(i,j) - m(j)))   the same for all i
///     sum(i)(abs(B(i,j) - x(i)))   varies
std::optional<UnstoredBody> unstored_body(const index_notation::Reduction& reduction, const Problem& problem);

/// Returns the sparse arguments whose missing elements make the expression zero. They are factors, factors of
/// a dividend, arguments of functions that are zero at zero, and conditions that otherwise choose zero.
std::vector<index_notation::Access> sparse_factors(const index_notation::Expression& expression,
                                                   const Problem& problem);

/// The definition sums, in so many words or over an index that its target does not have.
bool sums(const index_notation::Assignment& definition);

/// Returns the value of a definition with all sums as Reduction, the sum around a contraction included.
index_notation::Expression explicit_value(const index_notation::Assignment& definition,
                                          const Problem& problem);

}  // namespace schaas::problem
