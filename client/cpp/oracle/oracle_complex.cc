#include "client/cpp/oracle/oracle_complex.h"

#include <algorithm>
#include <cmath>

#include "compiler/support/result.h"

// Complex arithmetic as numpy's: products of parts, without the cases that C has for infinite parts.
// Quotients are those of Smith (Algorithm 116, Communications of the ACM 5, 1962), which scale by the larger
// part.
namespace schaas::client {
namespace {

using Complex = std::complex<double>;

Complex number_of(const Judged& x) { return {x.value, x.imaginary}; }

double complex_size(Complex z) {
  return std::isfinite(z.real()) && std::isfinite(z.imag()) ? std::abs(z) : 0;
}

Judged complex_computed(Complex z, double magnitude) {
  if (std::isnan(magnitude)) magnitude = infinity;
  return {z.real(), std::max(magnitude, complex_size(z)), false, ValueType::c128, 0, z.imag()};
}

/// Keeps the magnitude and the exactness of the argument.
Judged moved(Complex z, const Judged& from) {
  return {z.real(), from.magnitude, from.exact, ValueType::c128, 0, z.imag()};
}

Complex complex_product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

Complex complex_quotient(Complex a, Complex b) {
  if (std::fabs(b.real()) >= std::fabs(b.imag())) {
    if (b.real() == 0 && b.imag() == 0) return {a.real() / 0.0, a.imag() / 0.0};
    const double ratio = b.imag() / b.real(), scale = b.real() + b.imag() * ratio;
    return {(a.real() + a.imag() * ratio) / scale, (a.imag() - a.real() * ratio) / scale};
  }
  const double ratio = b.real() / b.imag(), scale = b.real() * ratio + b.imag();
  return {(a.real() * ratio + a.imag()) / scale, (a.imag() * ratio - a.real()) / scale};
}

bool are_doubtful(const Judged& a, const Judged& b) {
  if (a.exact && b.exact) return false;
  if (std::isinf(a.magnitude) || std::isinf(b.magnitude)) return true;
  return !(std::abs(number_of(a) - number_of(b)) > rounding_share * (a.magnitude + b.magnitude));
}

Judged complex_truth(bool value, bool doubt) {
  return {value ? 1.0 : 0.0, doubt ? infinity : 1.0, !doubt, ValueType::c128};
}

bool is_doubtful(const Judged& x) { return are_doubtful(x, given(0.0)); }

/// Only numbers whose imaginary parts are 0 have a smaller one.
Judged of_real_parts(Function function, Judged a, Judged b) {
  a.type = b.type = ValueType::f64;
  Judged chosen = apply(function, a, b);
  chosen.type = ValueType::c128;
  return chosen;
}

}  // namespace

Judged apply_complex(Function function, const Judged& x) {
  const Complex z = number_of(x);
  switch (function) {
    case Function::logical_not:
      return complex_truth(z == 0.0, is_doubtful(x));
    case Function::negate:
      return moved(-z, x);
    case Function::conj:
      return moved(std::conj(z), x);
    case Function::real:
      return moved(z.real(), x);
    case Function::imag:
      return moved(z.imag(), x);
    case Function::abs:
      return complex_computed(std::abs(z), x.magnitude);
    default:
      SCHAAS_CHECK(false, "a function that complex numbers do not have");
  }
}

Judged apply_complex(Function function, const Judged& a, const Judged& b) {
  const Complex x = number_of(a), y = number_of(b);
  switch (function) {
    case Function::add:
      return complex_computed(x + y, a.magnitude + b.magnitude);
    case Function::subtract:
      return complex_computed(x - y, a.magnitude + b.magnitude);
    case Function::multiply:
      return complex_computed(complex_product(x, y), a.magnitude * b.magnitude);
    case Function::divide: {
      const double below = std::abs(y);
      return complex_computed(
          complex_quotient(x, y),
          a.magnitude / below + (below == 0 ? 0 : complex_size(x) * (b.magnitude / below) / below));
    }
    case Function::equal:
      return complex_truth(x == y, are_doubtful(a, b));
    case Function::not_equal:
      return complex_truth(x != y, are_doubtful(a, b));
    case Function::minimum:
    case Function::maximum:
      return of_real_parts(function, a, b);
    // Ordered numbers are real.
    case Function::less:
      return complex_truth(x.real() < y.real(), are_doubtful(a, b));
    case Function::less_equal:
      return complex_truth(x.real() <= y.real(), are_doubtful(a, b));
    case Function::greater:
      return complex_truth(x.real() > y.real(), are_doubtful(a, b));
    case Function::greater_equal:
      return complex_truth(x.real() >= y.real(), are_doubtful(a, b));
    case Function::logical_and: {
      const bool certainly_not = (!is_true(a) && !is_doubtful(a)) || (!is_true(b) && !is_doubtful(b));
      return complex_truth(is_true(a) && is_true(b), !certainly_not && (is_doubtful(a) || is_doubtful(b)));
    }
    case Function::logical_or: {
      const bool certainly = (is_true(a) && !is_doubtful(a)) || (is_true(b) && !is_doubtful(b));
      return complex_truth(is_true(a) || is_true(b), !certainly && (is_doubtful(a) || is_doubtful(b)));
    }
    default:
      SCHAAS_CHECK(false, "a function of two that complex numbers do not have");
  }
}

Judged repeated_complex(Monoid how, const Judged& x, double times) {
  if (how == Monoid::sum) return complex_computed(number_of(x) * times, x.magnitude * times);
  if (how != Monoid::product) return fold(how, given(identity(how)), x);
  Judged power = given(1.0), square = x;
  for (auto left = static_cast<std::uint64_t>(times); left != 0; left >>= 1) {
    if ((left & 1) != 0) power = apply_complex(Function::multiply, power, square);
    square = apply_complex(Function::multiply, square, square);
  }
  return power;
}

}  // namespace schaas::client
