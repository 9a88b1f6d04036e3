#include "client/cpp/oracle/oracle_arithmetic.h"

#include <algorithm>
#include <cmath>

#include "client/cpp/oracle/oracle_complex.h"
#include "compiler/support/result.h"

namespace schaas::client {
namespace {

double size(double value) { return std::isfinite(value) ? std::fabs(value) : 0; }

// Never smaller than the result's own rounding; what is no number cannot be judged.
Judged computed(double value, double magnitude) {
  if (std::isnan(magnitude)) magnitude = infinity;
  return {value, std::max(magnitude, size(value)), false};
}

std::int64_t integer_value(const Judged& x, ValueType type) {
  return is_integer(x.type) ? x.integer : operators::integer_of(x.value, type);
}

// Sums, differences and products in unsigned numbers of 64 bits, whose lowest bits are those of the type.
std::uint64_t modular(Function function, std::uint64_t x, std::uint64_t y) {
  if (function == Function::multiply) return x * y;
  return function == Function::subtract ? x - y : x + y;
}

std::int64_t integer_result(Function function, std::int64_t x, std::int64_t y, ValueType type) {
  const auto bits = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  const auto less = [&](std::int64_t a, std::int64_t b) { return operators::is_less(a, b, type); };
  const auto absorbing = [&](std::int64_t zero) {
    return x == zero || y == zero ? zero : wrapped(bits(x) + bits(y), type);
  };
  switch (function) {
    case Function::add_absorbing_largest:
      return absorbing(operators::largest_of(type));
    case Function::add_absorbing_smallest:
      return absorbing(operators::facts(type).smallest);
    case Function::minimum:
      return less(y, x) ? y : x;
    case Function::maximum:
      return less(x, y) ? y : x;
    case Function::less:
      return less(x, y);
    case Function::less_equal:
      return !less(y, x);
    case Function::greater:
      return less(y, x);
    case Function::greater_equal:
      return !less(x, y);
    case Function::equal:
      return x == y;
    case Function::not_equal:
      return x != y;
    case Function::logical_and:
      return x != 0 && y != 0;
    case Function::logical_or:
      return x != 0 || y != 0;
    default:
      return wrapped(modular(function, bits(x), bits(y)), type);
  }
}

std::int64_t integer_result(Function function, std::int64_t x, ValueType type) {
  const bool negative = operators::is_less(x, 0, type);
  switch (function) {
    case Function::logical_not:
      return x == 0;
    case Function::negate:
      return integer_result(Function::subtract, 0, x, type);
    case Function::imag:
      return 0;
    case Function::abs:
      return negative ? integer_result(Function::subtract, 0, x, type) : x;
    case Function::relu:
      return negative ? 0 : x;
    case Function::sign:
      return negative ? -1 : x != 0;
    default:
      return x;  // floor, ceil, round, conj, real
  }
}

// The integer folded `times` times, by squaring.
Judged repeated_integer(Monoid how, const Judged& x, double times) {
  if (how == Monoid::sum)
    return given(wrapped(static_cast<std::uint64_t>(x.integer) * static_cast<std::uint64_t>(times), x.type),
                 x.type);
  if (how != Monoid::product) return fold(how, given(identity(how)), x);
  std::uint64_t power = 1, square = static_cast<std::uint64_t>(x.integer);
  for (auto left = static_cast<std::uint64_t>(times); left != 0; left >>= 1, square *= square)
    power *= (left & 1) != 0 ? square : 1;
  return given(wrapped(power, x.type), x.type);
}

bool doubtful(const Judged& a, const Judged& b) {
  if (a.exact && b.exact) return false;
  if (std::isinf(a.magnitude) || std::isinf(b.magnitude)) return true;
  return !(std::fabs(a.value - b.value) > rounding_share * (a.magnitude + b.magnitude));
}

// 0 or 1, exact unless a doubt makes it either.
Judged truth(bool value, bool doubt) { return {value ? 1.0 : 0.0, doubt ? infinity : 1.0, !doubt}; }

bool doubts_truth(const Judged& x) { return doubtful(x, given(0)); }

// A function with jumps: the value is exact unless the argument may be on the other side of the nearest one.
Judged step(double value, const Judged& x, double jump) {
  if (doubtful(x, given(jump))) return {value, infinity, false};
  return {value, size(value), x.exact};
}

Judged selected(const Judged& a, const Judged& b, bool second) {
  const Judged& chosen = second ? b : a;
  if (std::isnan(a.value) || std::isnan(b.value)) return {chosen.value, infinity, false};
  if (a.exact && b.exact) return chosen;
  const double magnitude = doubtful(a, b) ? std::max(a.magnitude, b.magnitude) : chosen.magnitude;
  return {chosen.value, magnitude, false};
}

Judged logical_and(const Judged& a, const Judged& b) {
  const bool value = a.value != 0 && b.value != 0;
  const bool certainly_not = (a.value == 0 && !doubts_truth(a)) || (b.value == 0 && !doubts_truth(b));
  return truth(value, !certainly_not && (doubts_truth(a) || doubts_truth(b)));
}

Judged logical_or(const Judged& a, const Judged& b) {
  const bool value = a.value != 0 || b.value != 0;
  const bool certainly = (a.value != 0 && !doubts_truth(a)) || (b.value != 0 && !doubts_truth(b));
  return truth(value, !certainly && (doubts_truth(a) || doubts_truth(b)));
}

Judged power(const Judged& a, const Judged& b) {
  const double value = std::pow(a.value, b.value);
  double magnitude = std::fabs(b.value * std::pow(a.value, b.value - 1)) * a.magnitude;
  if (!b.exact) magnitude += std::fabs(value * std::log(std::fabs(a.value))) * b.magnitude;
  return computed(value, magnitude + size(value));
}

// f(x) with |f'(x)| = slope.
Judged smooth(double value, double slope, const Judged& x) {
  const double carried = x.magnitude == 0 ? 0 : slope * x.magnitude;
  return computed(value, size(value) + carried);
}

}  // namespace

Judged given(double value) { return {value, size(value), true}; }

Judged given(std::int64_t value, ValueType type) {
  return {operators::real_of(value, type), 0, true, type, value};
}

Judged given(std::complex<double> value, ValueType type) {
  if (!is_complex(type)) return given(value.real(), type);
  const bool finite = std::isfinite(value.real()) && std::isfinite(value.imag());
  return {value.real(), finite ? std::abs(value) : 0, true, type, 0, value.imag()};
}

bool are_equal(const Judged& a, const Judged& b) { return a.value == b.value && a.imaginary == b.imaginary; }

bool is_true(const Judged& x) { return x.value != 0 || x.imaginary != 0; }

Judged given(double value, ValueType type) {
  if (is_complex(type)) return given(std::complex<double>(value), type);
  return is_integer(type) ? given(operators::integer_of(value, type), type) : given(value);
}

Judged apply(Function function, const Judged& x) {
  if (is_integer(x.type)) return given(integer_result(function, x.integer, x.type), x.type);
  if (is_complex(x.type)) return apply_complex(function, x);
  const double v = x.value;
  switch (function) {
    case Function::logical_not:
      return truth(v == 0, doubts_truth(x));
    case Function::negate:
      return {-v, x.magnitude, x.exact};
    case Function::conj:
    case Function::real:
      return x;
    case Function::imag:
      return {0, x.magnitude, x.exact};
    case Function::abs:
      return {std::fabs(v), x.magnitude, x.exact};
    case Function::relu:
      return {v > 0 ? v : 0, x.magnitude, x.exact};
    case Function::exp:
      return smooth(std::exp(v), std::exp(v), x);
    case Function::expm1:
      return smooth(std::expm1(v), std::exp(v), x);
    case Function::log:
      return smooth(std::log(v), 1 / std::fabs(v), x);
    case Function::log1p:
      return smooth(std::log1p(v), 1 / std::fabs(1 + v), x);
    case Function::log2:
      return smooth(std::log2(v), 1 / std::fabs(v * std::log(2.0)), x);
    case Function::log10:
      return smooth(std::log10(v), 1 / std::fabs(v * std::log(10.0)), x);
    case Function::sqrt:
      return smooth(std::sqrt(v), 0.5 / std::sqrt(v), x);
    case Function::sin:
      return smooth(std::sin(v), std::fabs(std::cos(v)), x);
    case Function::cos:
      return smooth(std::cos(v), std::fabs(std::sin(v)), x);
    case Function::tan:
      return smooth(std::tan(v), 1 + std::tan(v) * std::tan(v), x);
    case Function::asin:
      return smooth(std::asin(v), 1 / std::sqrt(1 - v * v), x);
    case Function::acos:
      return smooth(std::acos(v), 1 / std::sqrt(1 - v * v), x);
    case Function::atan:
      return smooth(std::atan(v), 1 / (1 + v * v), x);
    case Function::sinh:
      return smooth(std::sinh(v), std::cosh(v), x);
    case Function::cosh:
      return smooth(std::cosh(v), std::fabs(std::sinh(v)), x);
    case Function::tanh:
      return smooth(std::tanh(v), 1 - std::tanh(v) * std::tanh(v), x);
    case Function::sigmoid: {
      const double s = 1 / (1 + std::exp(-v));
      return smooth(s, s * (1 - s), x);
    }
    case Function::erf:
      return smooth(std::erf(v), 2 / std::sqrt(std::acos(-1.0)) * std::exp(-v * v), x);
    case Function::sign:
      return step(v > 0 ? 1 : v < 0 ? -1 : 0, x, 0);
    case Function::floor:
      return step(std::floor(v), x, std::round(v));
    case Function::ceil:
      return step(std::ceil(v), x, std::round(v));
    case Function::round:
      return step(std::nearbyint(v), x, std::floor(v) + 0.5);
    default:
      SCHAAS_CHECK(false, "a function of one number without a case");
  }
}

Judged apply(Function function, const Judged& a, const Judged& b) {
  if (is_integer(a.type) || is_integer(b.type)) {
    const ValueType type = is_integer(a.type) ? a.type : b.type;
    return given(integer_result(function, integer_value(a, type), integer_value(b, type), type), type);
  }
  if (is_complex(a.type) || is_complex(b.type)) return apply_complex(function, a, b);
  const double x = a.value, y = b.value;
  switch (function) {
    case Function::add:
    case Function::add_absorbing_largest:  // infinities absorb by themselves
    case Function::add_absorbing_smallest:
      return computed(x + y, a.magnitude + b.magnitude);
    case Function::subtract:
      return computed(x - y, a.magnitude + b.magnitude);
    case Function::multiply:
      return computed(x * y, a.magnitude * b.magnitude);
    case Function::divide:
      return computed(x / y, a.magnitude / std::fabs(y) +
                                 (y == 0 ? 0 : size(x) * (b.magnitude / std::fabs(y)) / std::fabs(y)));
    case Function::power:
      return power(a, b);
    case Function::minimum:
      return selected(a, b, y < x);
    case Function::maximum:
      return selected(a, b, y > x);
    case Function::less:
      return truth(x < y, doubtful(a, b));
    case Function::less_equal:
      return truth(x <= y, doubtful(a, b));
    case Function::greater:
      return truth(x > y, doubtful(a, b));
    case Function::greater_equal:
      return truth(x >= y, doubtful(a, b));
    case Function::equal:
      return truth(x == y, doubtful(a, b));
    case Function::not_equal:
      return truth(x != y, doubtful(a, b));
    case Function::logical_and:
      return logical_and(a, b);
    case Function::logical_or:
      return logical_or(a, b);
    default:
      SCHAAS_CHECK(false, "a function of two numbers without a case");
  }
}

Judged fold(Monoid fold, const Judged& a, const Judged& b) { return apply(operators::combine(fold), a, b); }

Judged repeated(Monoid how, const Judged& x, double times) {
  if (times == 0) return given(identity(how));
  if (is_integer(x.type)) return repeated_integer(how, x, times);
  if (is_complex(x.type)) return times == 1 ? x : repeated_complex(how, x, times);
  switch (how) {
    case Monoid::sum:
      return times == 1 ? x : computed(x.value * times, x.magnitude * times);
    case Monoid::product:
      return times == 1 ? x : computed(std::pow(x.value, times), std::pow(x.magnitude, times));
    default:
      return fold(how, given(identity(how)), x);
  }
}

}  // namespace schaas::client
