#pragma once
#include <optional>
#include <vector>

#include "compiler/problem/problem.h"

namespace schaas::problem {

/// The one element that an expression is a function of, however often it is read; nothing when it reads
/// another one, none, or reduces.
std::optional<index_notation::Access> element_of(const index_notation::Expression& expression);

/// The value where every element is the semiring's zero, of an expression that reduces nothing. Zero
/// annihilates other factors and divisors, whatever they are.
double value_at_zero(const index_notation::Expression& expression, const operators::Semiring& semiring);

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
