#pragma once
#include <complex>
#include <limits>

#include "schaas/expression.h"
#include "schaas/tensor.h"

namespace schaas::client {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A number with the scale of its rounding errors. A kernel that computes the same in another order is off by
/// some units of rounding times `magnitude`. For a sum that is the sum of the absolute values of its terms; a
/// function scales it by the amplification of its argument. Infinity: the number cannot be compared (a
/// comparison of two numbers that rounding cannot tell apart, a derivative without bound).
struct Judged {
  double value = 0;
  double magnitude = 0;
  bool exact = false;               ///< given, not computed: nothing was rounded on the way
  ValueType type = ValueType::f64;  ///< an integer type: the number is `integer`, always exact
  std::int64_t integer = 0;
  double imaginary = 0;  ///< imaginary part of a complex number, whose real one is `value`
};

/// A number of the input.
Judged given(double value);
/// An integer of the input, or computed.
Judged given(std::int64_t value, ValueType type);
/// A complex number of the input.
Judged given(std::complex<double> value, ValueType type);
/// Two numbers are the same, but for their rounding.
bool are_equal(const Judged& a, const Judged& b);
/// The number counts as true.
bool is_true(const Judged& x);
/// The number as one of that type.
Judged given(double value, ValueType type);

/// Rounding may decide between numbers closer than this share of their magnitudes.
constexpr double rounding_share = 1e-5;

/// Functions of one argument. Where one argument is an integer, the result is, and others are taken for such:
/// they are constants like the identity of a monoid. Integers wrap around.
Judged apply(Function function, const Judged& x);
/// Functions of two; those of more are folded from the left.
Judged apply(Function function, const Judged& a, const Judged& b);
Judged fold(Monoid fold, const Judged& a, const Judged& b);
/// `x` folded `times` times; the identity for none.
Judged repeated(Monoid fold, const Judged& x, double times);

}  // namespace schaas::client
