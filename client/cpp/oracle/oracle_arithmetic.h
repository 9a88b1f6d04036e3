#pragma once
#include <limits>

#include "schaas/expression.h"

namespace schaas::client {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A number with the scale of its rounding errors. A kernel that computes the same in another order is off by
/// some units of rounding times `magnitude`. For a sum that is the sum of the absolute values of its terms; a
/// function scales it by the amplification of its argument. Infinity: the number cannot be compared (a
/// comparison of two numbers that rounding cannot tell apart, a derivative without bound).
struct Judged {
  double value = 0;
  double magnitude = 0;
  bool exact = false;  ///< given, not computed: nothing was rounded on the way
};

/// A number of the input.
Judged given(double value);

/// Rounding may decide between numbers closer than this share of their magnitudes.
constexpr double rounding_share = 1e-5;

/// Functions of one argument.
Judged apply(Function function, const Judged& x);
/// Functions of two; those of more are folded from the left.
Judged apply(Function function, const Judged& a, const Judged& b);
Judged fold(Monoid fold, const Judged& a, const Judged& b);
/// `x` folded `times` times; the identity for none.
Judged repeated(Monoid fold, const Judged& x, double times);

}  // namespace schaas::client
