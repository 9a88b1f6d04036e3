#pragma once
#include <cmath>
#include <complex>

#include "compiler/operators/operators.h"

/// Numbers of the dense oracle: a value in double and how far other orders of operations may be from it.
namespace schaas::test_support {

/// A value, what it is made of, and whether every order of operations gives it exactly, in f32 too.
struct Number {
  double value = 0;  ///< of complex numbers the real part
  double magnitude = 0;
  bool exact = true;
  double imaginary = 0;

  bool open() const { return std::isnan(magnitude); }
  bool is_zero() const { return value == 0 && imaginary == 0; }
  std::complex<double> both_parts() const { return {value, imaginary}; }
};

/// Returns a number for which any result is right.
Number open_number();
/// A number that is stored or written.
Number leaf(std::complex<double> value);
/// Rounding may carry `x` over `border`.
bool near(const Number& x, double border);
/// Compares two numbers; open where rounding may decide.
Number comparison(operators::Function function, const Number& a, const Number& b);
/// Combines two numbers that are not open, in any order, as a monoid or a product does.
Number combined(operators::Function function, const Number& a, const Number& b);
/// A function of one number. Rounding of the argument grows by the derivative, and the result is rounded.
Number of_one(operators::Function function, const Number& x);
/// Divides; exact only if the quotient times the divisor is the dividend.
Number quotient(const Number& a, const Number& b);
/// Raises to a power; rounding of both arguments grows by the derivatives.
Number power(const Number& a, const Number& b);

}  // namespace schaas::test_support
