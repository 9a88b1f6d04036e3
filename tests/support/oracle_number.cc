#include "tests/support/oracle_number.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

// Each number has a magnitude, the sum of the absolute values of its terms. Rounding errors are bounded
// relative to it, in any order of summation (Higham, Accuracy and Stability of Numerical Algorithms, chapter
// 4). Numbers near the jump of a comparison, or of the kind 0 * infinity, have magnitude NaN: any result is
// right. `exact` marks numbers that neither order nor f32 can change, so that comparisons of them stay
// determined.
namespace schaas::test_support {

using operators::Function;

Number open_number() { return {0, std::numeric_limits<double>::quiet_NaN(), false}; }

namespace {

/// Rounding beyond this share of a magnitude is a mistake, below it may decide a comparison.
constexpr double doubt = 1e-3;

/// Partial results of sums and products around it fit the 24 bits of f32.
bool few_bits(double value, double magnitude) {
  return std::isinf(value) || (magnitude < 32768 && value * 256 == std::floor(value * 256));
}

/// Makes a number of a computed value; one that f32 may not hold is open.
Number made(double value, double magnitude, bool exact) {
  if (!std::isfinite(value)) return {value, 0, exact};
  const double size = std::fabs(value);
  if (size > 1e30 || (size > 0 && size < 1e-30)) return open_number();  // f32 may not hold it
  return {value, std::max(magnitude, size), exact && few_bits(value, magnitude)};
}

/// The same of a complex value, whose parts are rounded relative to the magnitude of the whole.
Number made(std::complex<double> value, double magnitude, bool exact) {
  const double x = value.real(), y = value.imag();
  if (y == 0) return made(x, magnitude, exact);
  const double size = std::hypot(x, y);
  if (!std::isfinite(size) || size > 1e30 || size < 1e-30) return open_number();
  return {x, std::max(magnitude, size), exact && few_bits(x, magnitude) && few_bits(y, magnitude), y};
}

Number truth(bool yes) { return {yes ? 1.0 : 0.0, 1, true}; }

}  // namespace

Number leaf(std::complex<double> value) { return made(value, std::abs(value), true); }

bool near(const Number& x, double border) {
  return !x.exact && std::hypot(x.value - border, x.imaginary) <= doubt * std::max(x.magnitude, 1e-30);
}

Number comparison(Function function, const Number& a, const Number& b) {
  const Number difference{a.value - b.value, a.magnitude + b.magnitude, a.exact && b.exact,
                          a.imaginary - b.imaginary};
  if (std::isfinite(difference.value) && near(difference, 0)) return open_number();
  switch (function) {
    case Function::less:
      return truth(a.value < b.value);
    case Function::less_equal:
      return truth(a.value <= b.value);
    case Function::greater:
      return truth(a.value > b.value);
    case Function::greater_equal:
      return truth(a.value >= b.value);
    case Function::equal:
      return truth(a.value == b.value && a.imaginary == b.imaginary);
    default:
      return truth(a.value != b.value || a.imaginary != b.imaginary);
  }
}

Number combined(Function function, const Number& a, const Number& b) {
  const bool exact = a.exact && b.exact;
  switch (function) {
    case Function::add:
      if (std::isinf(a.value) && b.value == -a.value) return open_number();  // or a sum times infinity
      return made(a.both_parts() + b.both_parts(), a.magnitude + b.magnitude, exact);
    case Function::multiply: {
      if (a.imaginary != 0 || b.imaginary != 0) {
        if (!std::isfinite(a.value) || !std::isfinite(b.value)) return open_number();
        return made(a.both_parts() * b.both_parts(), a.magnitude * b.magnitude, exact);
      }
      const double product = a.value * b.value;
      if (std::isnan(product) && (a.value == 0 || b.value == 0)) return open_number();
      return made(product, a.magnitude * b.magnitude, exact);
    }
    case Function::minimum:
    case Function::maximum: {
      if (std::isnan(a.value) || std::isnan(b.value)) return open_number();
      const bool first = function == Function::minimum ? a.value < b.value : a.value > b.value;
      return made(first ? a.value : b.value, std::max(a.magnitude, b.magnitude), exact);
    }
    default: {  // and, or
      if (near(a, 0) || near(b, 0)) return open_number();
      const bool x = !a.is_zero();
      const bool y = !b.is_zero();
      return truth(function == Function::logical_and ? x && y : x || y);
    }
  }
}

Number of_one(Function function, const Number& x) {
  const double v = x.value;
  const double m = x.magnitude;
  switch (function) {
    case Function::logical_not:
      return near(x, 0) ? open_number() : truth(x.is_zero());
    case Function::negate:
      return made(-x.both_parts(), m, x.exact);
    case Function::abs:
      return x.imaginary == 0 ? made(std::fabs(v), m, x.exact) : made(std::hypot(v, x.imaginary), m, false);
    case Function::conj:
      return made(std::conj(x.both_parts()), m, x.exact);
    case Function::real:
      return made(v, m, x.exact);
    case Function::imag:
      return made(x.imaginary, m, x.exact);
    case Function::relu:
      return made(v > 0 ? v : 0, m, x.exact);
    case Function::sign:
      return near(x, 0) ? open_number() : made(v > 0 ? 1 : v < 0 ? -1 : 0, 1, true);
    case Function::floor:
    case Function::ceil:
    case Function::round: {
      const double border = function == Function::round ? std::floor(v) + 0.5 : std::nearbyint(v);
      if (near(x, border)) return open_number();
      const double whole = function == Function::floor  ? std::floor(v)
                           : function == Function::ceil ? std::ceil(v)
                                                        : std::nearbyint(v);
      return made(whole, m, true);
    }
    case Function::exp:
      return made(std::exp(v), std::exp(v) * (1 + m), false);
    case Function::log:
      if (near(x, 0)) return open_number();
      return made(std::log(v), 1 + std::fabs(std::log(v)) + m / std::fabs(v), false);
    case Function::sqrt:
      if (near(x, 0)) return open_number();
      return made(std::sqrt(v), v == 0 ? 0 : std::sqrt(v) + m / std::sqrt(v), false);
    case Function::sin:
      return made(std::sin(v), 1 + m, false);
    case Function::cos:
      return made(std::cos(v), 1 + m, false);
    case Function::tan: {
      const double t = std::tan(v);
      return made(t, (1 + t * t) * (1 + m), false);
    }
    case Function::expm1:
      return made(std::expm1(v), std::exp(v) * (1 + m), false);
    case Function::log1p:
      if (near(x, -1)) return open_number();
      return made(std::log1p(v), 1 + std::fabs(std::log1p(v)) + m / std::fabs(1 + v), false);
    case Function::log2:
    case Function::log10: {
      if (near(x, 0)) return open_number();
      const double log = function == Function::log2 ? std::log2(v) : std::log10(v);
      return made(log, 2 + std::fabs(log) + 2 * m / std::fabs(v), false);
    }
    case Function::asin:
    case Function::acos: {
      if (near(x, 1) || near(x, -1)) return open_number();
      const double root = std::sqrt(1 - v * v);
      return made(function == Function::asin ? std::asin(v) : std::acos(v), 2 + m / root, false);
    }
    case Function::atan:
      return made(std::atan(v), 2 + m, false);
    case Function::sinh:
      return made(std::sinh(v), std::cosh(v) * (1 + m), false);
    case Function::cosh:
      return made(std::cosh(v), std::cosh(v) * (1 + m), false);
    case Function::erf:
      return made(std::erf(v), 1 + 2 * m, false);
    case Function::tanh:
      return made(std::tanh(v), 1 + m, false);
    case Function::sigmoid:
      return made(1 / (1 + std::exp(-v)), 1 + m, false);
    default:
      throw std::logic_error("a function of one number that the oracle does not know");
  }
}

Number quotient(const Number& a, const Number& b) {
  if (b.is_zero() || (a.value == 0 && std::isnan(b.value))) return open_number();  // which zero: +0 or -0
  if (near(b, 0)) return open_number();
  if (a.imaginary != 0 || b.imaginary != 0) {
    const double size = std::abs(b.both_parts());
    return made(a.both_parts() / b.both_parts(), a.magnitude / size * std::max(1.0, b.magnitude / size),
                false);
  }
  const double value = a.value / b.value;
  const bool exact = a.exact && b.exact && std::isfinite(value) && std::fma(value, b.value, -a.value) == 0;
  const double size = std::fabs(b.value);
  return made(value, a.magnitude / size * std::max(1.0, b.magnitude / size), exact);
}

Number power(const Number& a, const Number& b) {
  if (near(a, 0) || (a.value == 0 && b.value < 0)) return open_number();
  const double value = std::pow(a.value, b.value);
  if (std::isnan(a.value) || std::isnan(b.value) || std::isinf(a.value) || std::isinf(b.value)) {
    return open_number();
  }
  if (!b.exact && a.value <= 0) return open_number();  // a whole exponent or not
  const double base = std::max(std::fabs(a.value), 1e-30);
  const double grown = 1 + std::fabs(b.value) * a.magnitude / base + b.magnitude * std::fabs(std::log(base));
  return made(value, std::fabs(value) * grown, false);
}

}  // namespace schaas::test_support
