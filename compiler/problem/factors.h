#pragma once
#include <optional>
#include <vector>

#include "compiler/problem/problem.h"

/// Products with numbers, signs, divisors and functions among their factors. Multiplication distributes over
/// the semiring's sum whatever a factor is made of, so such a statement is searched as the contraction of the
/// elements that its factors are made of.
namespace schaas::problem {

/// The same problem, its statement as a product of a number, elements and functions of one element each, when
/// it is a sum of one such product and no contraction:
///     A(i,k) = -sum(j)(B(i,j) * C(j,k)) / d(i)    A(i,k) = -1 * B(i,j) * C(j,k) * (1 / d(i))
/// Only dense elements may divide. Other problems stay as they are, and so does what stands around a sum that is
/// written out when the result is dense: it is computed once, after the sum.
Problem with_factors_apart(Problem problem);

/// What stands where the contraction has the element alone: a function of it, with what it is divided by.
struct ElementFunction {
  index_notation::Access element;
  index_notation::Expression value;
};

/// A product of a number and functions of elements: the contraction of these elements, and what to make of
/// its factors.
struct Factors {
  Problem contraction;
  std::optional<double> scale;
  std::vector<ElementFunction> functions;

  /// The product of these elements, functions in their places, and of the number when there is one.
  index_notation::Expression product(const std::vector<index_notation::Access>& elements,
                                     std::optional<double> number) const;
};

/// A divisor stands beside an element that has all of its indices, a sparse one if there is any. Nothing for a
/// contraction, and for what is none but for its factors: a statement that sums nothing, several statements, a
/// sparse element whose function is not zero where the element is, functions that take long
/// (index_notation/costly_calls.h), more than Limits::factors elements, a divisor without such an element.
std::optional<Factors> factors_of(const Problem& problem);

}  // namespace schaas::problem
