#pragma once
#include <optional>
#include <vector>

#include "compiler/problem/problem.h"

/// Products with numbers, signs, divisors and functions among their factors. Multiplication distributes over
/// the semiring's sum for any kind of factor. Such a statement is searched as the contraction of the elements
/// of its factors.
namespace schaas::problem {

/// Rewrites a statement that sums one product as one of a number, elements and functions of one element each,
/// unless it is a contraction:
///     A(i,k) = -sum(j)(B(i,j) * C(j,k)) / d(i)    A(i,k) = -1 * B(i,j) * C(j,k) * (1 / d(i))
/// Only dense elements may divide. A product with an equation of coordinates, as shifts are, becomes one sum:
///     A(i) = sum(k)(sum(p)(B(p) * (p == i + k)) * w(k))    A(i) = sum(k,p)(B(p) * (p == i + k) * w(k))
/// Other problems stay as they are. So does the expression around a
/// written-out sum when the result is dense: it is computed once, after the sum.
Problem with_factors_apart(Problem problem);

/// A factor in the position of an element of the contraction: a function of it, with its divisor.
struct ElementFunction {
  index_notation::Access element;
  index_notation::Expression value;
};

/// A product of a number and functions of elements: the contraction of these elements, and the functions to
/// apply.
struct Factors {
  Problem contraction;
  std::optional<double> scale;
  std::vector<ElementFunction> functions;

  /// Returns the product of the number, if any, and these elements, replaced by their functions.
  index_notation::Expression product(const std::vector<index_notation::Access>& elements,
                                     std::optional<double> number) const;
};

/// A divisor stands beside an element that has all of its indices, a sparse one if there is any. Nothing for
/// a contraction, and for problems that differ from one by more than their factors: no sum, several
/// statements, more than Limits::factors elements. Nothing either with costly functions
/// (index_notation/costly_calls.h), a function that is not zero at an unstored sparse element, or a divisor
/// without such an element.
std::optional<Factors> factors_of(const Problem& problem);

/// The problem is searched as one contraction: it is one, or that of the elements of its factors.
bool is_one_product(const Problem& problem);

}  // namespace schaas::problem
