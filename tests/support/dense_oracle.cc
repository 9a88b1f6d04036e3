#include "tests/support/dense_oracle.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

// Evaluates statements by definition (docs/language.md): over all values of all indices, on dense arrays, in
// double. Each number has a magnitude, the sum of the absolute values of its terms. Rounding errors are
// bounded relative to it, in any order of summation (Higham, Accuracy and Stability of Numerical Algorithms,
// chapter 4). Numbers near the jump of a comparison, or of the kind 0 * infinity, have magnitude NaN: any
// result is right. `exact` marks numbers that neither order nor f32 can change, so that comparisons of them
// stay determined. test_support_test.cc compares with results computed by hand.
namespace schaas::test_support {
namespace {

using index_notation::Access;
using index_notation::Assignment;
using index_notation::Call;
using index_notation::Coordinate;
using index_notation::Expression;
using index_notation::Literal;
using index_notation::Product;
using index_notation::Reduction;
using operators::Function;
using operators::Monoid;

using Point = std::map<std::string, std::int64_t>;

/// Rounding beyond this share of a magnitude is a mistake, below it may decide a comparison.
constexpr double doubt = 1e-3;

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
Number open_number() { return {0, std::numeric_limits<double>::quiet_NaN(), false}; }

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

Number leaf(std::complex<double> value) { return made(value, std::abs(value), true); }

/// Rounding may carry `x` over `border`.
bool near(const Number& x, double border) {
  return !x.exact && std::hypot(x.value - border, x.imaginary) <= doubt * std::max(x.magnitude, 1e-30);
}

Number truth(bool yes) { return {yes ? 1.0 : 0.0, 1, true}; }

/// Compares two numbers; open where rounding may decide.
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

/// Combines two numbers, in any order, as a monoid or a product does.
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

/// Continuous functions: rounding of the argument grows by the derivative, and the result is rounded.
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

/// Divides; exact only if the quotient times the divisor is the dividend.
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

/// Raises to a power; rounding of both arguments grows by the derivatives.
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

/// Evaluates the expressions of one statement.
class Evaluation {
 public:
  Evaluation(const operators::Semiring& semiring, const std::map<std::string, std::vector<Number>>& tensors,
             const std::map<std::string, std::vector<std::int64_t>>& shapes, const Extents& extents,
             double largest)
      : semiring_(semiring), tensors_(tensors), shapes_(shapes), extents_(extents), largest_(largest) {}

  /// The right side at one element of the left side: implied sums around its additive terms.
  Number term(const Expression& expression, Point& point) const {
    if (const auto* call = std::get_if<Call>(&expression.node)) {
      if (call->function == Function::add) {
        Number all = term(call->arguments[0], point);
        for (std::size_t n = 1; n < call->arguments.size(); ++n) {
          all = both(operators::combine(semiring_.sum), all, term(call->arguments[n], point));
        }
        return all;
      }
      if (call->function == Function::subtract) {
        const Number a = term(call->arguments[0], point);
        return both(Function::add, a, negative(term(call->arguments[1], point)));
      }
      if (call->function == Function::negate) return negative(term(call->arguments[0], point));
    }
    std::vector<std::string> summed;
    unbound(expression, point, {}, summed);
    if (summed.empty()) return value(expression, point);
    if (multiplies_nothing_by_infinity(expression, summed, point)) return open_number();
    return reduced(semiring_.sum, semiring_.zero, summed, expression, point);
  }

 private:
  /// A product is summed over nothing and a factor that stays the same is infinite: a schedule may take the
  /// factor out of the sum, which then gives 0 * infinity.
  bool multiplies_nothing_by_infinity(const Expression& expression, const std::vector<std::string>& summed,
                                      Point& point) const {
    const auto* product = std::get_if<Product>(&expression.node);
    const bool is_empty = std::any_of(summed.begin(), summed.end(),
                                      [&](const std::string& index) { return extents_.at(index) == 0; });
    if (product == nullptr || !is_empty) return false;
    return std::any_of(product->factors.begin(), product->factors.end(), [&](const Expression& factor) {
      std::vector<std::string> own;
      unbound(factor, point, {}, own);
      if (!own.empty()) return false;
      const Number one = value(factor, point);
      return one.open() || std::isinf(one.value);
    });
  }

  static Number negative(const Number& x) { return x.open() ? x : of_one(Function::negate, x); }

  static Number both(Function function, const Number& a, const Number& b) {
    return a.open() || b.open() ? open_number() : combined(function, a, b);
  }

  /// Indices of accesses, and those that stand as numbers, that neither `point` nor a reduction inside fixes.
  static void unbound(const Expression& expression, const Point& point, std::vector<std::string> inside,
                      std::vector<std::string>& out) {
    const auto add = [&](const std::string& index) {
      const bool known = point.count(index) > 0 ||
                         std::find(inside.begin(), inside.end(), index) != inside.end() ||
                         std::find(out.begin(), out.end(), index) != out.end();
      if (!known) out.push_back(index);
    };
    if (const auto* access = std::get_if<Access>(&expression.node)) {
      for (const auto& index : access->indices) add(index);
    } else if (const auto* coordinate = std::get_if<Coordinate>(&expression.node)) {
      add(coordinate->index);
    } else if (const auto* product = std::get_if<Product>(&expression.node)) {
      for (const auto& each : product->factors) unbound(each, point, inside, out);
    } else if (const auto* call = std::get_if<Call>(&expression.node)) {
      for (const auto& each : call->arguments) unbound(each, point, inside, out);
    } else if (const auto* reduction = std::get_if<Reduction>(&expression.node)) {
      inside.insert(inside.end(), reduction->indices.begin(), reduction->indices.end());
      unbound(reduction->body.front(), point, inside, out);
    }
  }

  /// Folds the values of `body` over all values of `indices`.
  Number reduced(Monoid monoid, double start, const std::vector<std::string>& indices, const Expression& body,
                 Point& point) const {
    Number all = leaf(start);
    const std::function<void(std::size_t)> walk = [&](std::size_t n) {
      if (n == indices.size()) {
        const Number each = value(body, point);
        const bool logical = monoid == Monoid::logical_or || monoid == Monoid::logical_and;
        all = logical && may_wrap(each) ? open_number() : both(operators::combine(monoid), all, each);
        return;
      }
      for (std::int64_t at = 0; at < extents_.at(indices[n]); ++at) {
        point[indices[n]] = at;
        walk(n + 1);
      }
      point.erase(indices[n]);
    };
    walk(0);
    return all;
  }

  /// Evaluates an expression at one point, without implied sums.
  Number value(const Expression& expression, Point& point) const {
    if (const auto* access = std::get_if<Access>(&expression.node)) {
      std::vector<std::int64_t> coordinates;
      for (const auto& index : access->indices) coordinates.push_back(point.at(index));
      return tensors_.at(access->tensor).at(offset(shapes_.at(access->tensor), coordinates));
    }
    if (const auto* literal = std::get_if<Literal>(&expression.node)) return leaf(literal->value);
    if (const auto* coordinate = std::get_if<Coordinate>(&expression.node))
      return leaf(static_cast<double>(point.at(coordinate->index)));
    if (const auto* reduction = std::get_if<Reduction>(&expression.node)) {
      // Over nothing the semiring's own sum is its zero: max-times is about numbers >= 0.
      const bool own = reduction->monoid == semiring_.sum;
      return reduced(reduction->monoid, own ? semiring_.zero : operators::identity(reduction->monoid),
                     reduction->indices, reduction->body.front(), point);
    }
    if (const auto* product = std::get_if<Product>(&expression.node)) {
      Number all = value(product->factors.front(), point);
      for (std::size_t n = 1; n < product->factors.size(); ++n) {
        all = multiplied(all, value(product->factors[n], point));
      }
      return std::isinf(all.value) && has_sum(*product) ? distributed(*product, all, point) : all;
    }
    return called(std::get<Call>(expression.node), point);
  }

  static bool is_sum(const Expression& expression) {
    const auto* call = std::get_if<Call>(&expression.node);
    return call != nullptr && (call->function == Function::add || call->function == Function::subtract);
  }
  static bool has_sum(const Product& product) {
    return std::any_of(product.factors.begin(), product.factors.end(), is_sum);
  }

  /// A schedule may distribute a product over a sum in it: infinity times terms of which one is 0, or which
  /// have different signs, is no number then. `all` is the product as it stands.
  Number distributed(const Product& product, const Number& all, Point& point) const {
    const bool infinite = std::any_of(
        product.factors.begin(), product.factors.end(),
        [&](const Expression& factor) { return !is_sum(factor) && std::isinf(value(factor, point).value); });
    return infinite ? open_number() : all;
  }

  /// The semiring's product, in which zero is what is not stored: it annihilates, or not, as the kernel
  /// likes.
  Number multiplied(const Number& a, const Number& b) const {
    const bool zero = is_zero(a) || is_zero(b);
    const Number product = both(semiring_.product, a, b);
    if (!zero || product.open()) return product;
    return is_zero(product) ? product : open_number();
  }

  /// An integer that wraps around: what compares it or computes with more than sums and products is open.
  bool may_wrap(const Number& x) const { return std::isfinite(x.value) && x.magnitude >= largest_; }

  bool is_zero(const Number& x) const { return x.value == semiring_.zero && x.imaginary == 0; }

  /// Evaluates a call; `where` evaluates only the branch that it chooses.
  Number called(const Call& call, Point& point) const {
    std::vector<Number> arguments;
    if (call.function == Function::where) {
      const Number condition = value(call.arguments[0], point);
      if (condition.open() || near(condition, 0) || may_wrap(condition)) return open_number();
      return value(call.arguments[condition.is_zero() ? 2 : 1], point);
    }
    for (const auto& each : call.arguments) arguments.push_back(value(each, point));
    for (const auto& each : arguments) {
      if (each.open()) return open_number();
    }
    const bool adds = call.function == Function::add || call.function == Function::subtract ||
                      call.function == Function::negate;
    if (!adds &&
        std::any_of(arguments.begin(), arguments.end(), [&](const Number& x) { return may_wrap(x); }))
      return open_number();
    switch (call.function) {
      case Function::add:
        return folded(operators::combine(semiring_.sum), arguments);
      case Function::minimum:
      case Function::maximum:
      case Function::logical_and:
      case Function::logical_or:
        return folded(call.function, arguments);
      case Function::subtract:
        return combined(Function::add, arguments[0], negative(arguments[1]));
      case Function::divide:
        return quotient(arguments[0], arguments[1]);
      case Function::power:
        return power(arguments[0], arguments[1]);
      case Function::less:
      case Function::less_equal:
      case Function::greater:
      case Function::greater_equal:
      case Function::equal:
      case Function::not_equal:
        return comparison(call.function, arguments[0], arguments[1]);
      default:
        return of_one(call.function, arguments[0]);
    }
  }

  /// Folds the arguments from left to right.
  static Number folded(Function function, const std::vector<Number>& arguments) {
    Number all = arguments.front();
    for (std::size_t n = 1; n < arguments.size(); ++n) all = both(function, all, arguments[n]);
    return all;
  }

  const operators::Semiring& semiring_;
  const std::map<std::string, std::vector<Number>>& tensors_;
  const std::map<std::string, std::vector<std::int64_t>>& shapes_;
  const Extents& extents_;
  const double largest_;
};

}  // namespace

DenseTensor zeros(std::vector<std::int64_t> extents) {
  std::size_t size = 1;
  for (const auto extent : extents) size *= static_cast<std::size_t>(extent);
  return {std::move(extents), std::vector<double>(size, 0.0)};
}

void DenseTensor::set(std::size_t n, std::complex<double> number) {
  values.at(n) = number.real();
  if (imaginary.empty() && number.imag() != 0) imaginary.resize(values.size(), 0.0);
  if (!imaginary.empty()) imaginary[n] = number.imag();
}

std::size_t offset(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& coordinates) {
  std::int64_t out = 0;
  for (std::size_t mode = 0; mode < extents.size(); ++mode) {
    if (coordinates[mode] < 0 || coordinates[mode] >= extents[mode]) throw std::out_of_range("coordinate");
    out = out * extents[mode] + coordinates[mode];
  }
  return static_cast<std::size_t>(out);
}

Evaluated evaluate(const index_notation::Program& program, const std::map<std::string, DenseTensor>& operands,
                   const Extents& extents, const DenseTensor* before, double largest) {
  std::map<std::string, std::vector<Number>> tensors;
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const auto& [name, tensor] : operands) {
    shapes[name] = tensor.extents;
    for (std::size_t n = 0; n < tensor.values.size(); ++n) tensors[name].push_back(leaf(tensor.number(n)));
  }
  std::vector<Number> last;
  for (const auto& statement : program.statements) {
    std::vector<std::int64_t> shape;
    for (const auto& index : statement.result.indices) shape.push_back(extents.at(index));
    const std::size_t count = zeros(shape).values.size();
    last.clear();
    const Evaluation evaluation(*program.semiring, tensors, shapes, extents, largest);
    for (std::size_t n = 0; n < count; ++n) {
      Point point;
      std::size_t rest = n;
      for (std::size_t mode = shape.size(); mode-- > 0;) {
        const auto extent = static_cast<std::size_t>(shape[mode]);
        point[statement.result.indices[mode]] = static_cast<std::int64_t>(rest % extent);
        rest /= extent;
      }
      last.push_back(evaluation.term(statement.value, point));
      if (statement.update && before && !last.back().open()) {
        last.back() = combined(operators::combine(*statement.update), leaf(before->number(n)), last.back());
      }
      // Integers wrap around, and so do sums with the largest one, which an extreme of nothing is.
      const bool may_wrap = std::isinf(last.back().value)
                                ? std::isfinite(largest) && program.semiring == &operators::plus_times()
                                : last.back().magnitude >= largest;
      if (may_wrap && !last.back().open()) last.back() = open_number();
    }
    shapes[statement.result.tensor] = shape;
    tensors[statement.result.tensor] = last;
  }
  const auto& shape = shapes.at(program.statements.back().result.tensor);
  Evaluated out{zeros(shape), zeros(shape)};
  for (std::size_t n = 0; n < last.size(); ++n) {
    out.value.set(n, last[n].both_parts());
    out.magnitude.values[n] = last[n].magnitude;
  }
  return out;
}

Evaluated evaluate(const Assignment& statement, const std::map<std::string, DenseTensor>& operands,
                   const Extents& extents) {
  return evaluate(index_notation::Program{&operators::plus_times(), {statement}}, operands, extents);
}

double relative_error(const DenseTensor& got, const Evaluated& want) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (got.extents != want.value.extents || got.values.size() != want.value.values.size()) return infinite;
  double worst = 0;
  for (std::size_t n = 0; n < got.values.size(); ++n) {
    const auto right = want.value.number(n), found = got.number(n);
    if (std::isnan(want.magnitude.values[n])) continue;
    if (found == right || (std::isnan(found.real()) && std::isnan(right.real()))) continue;
    const double error = std::abs(found - right) / want.magnitude.values[n];
    if (!(error <= std::numeric_limits<double>::max())) return infinite;
    worst = std::max(worst, error);
  }
  return worst;
}

std::size_t determined(const Evaluated& want) {
  const auto& all = want.magnitude.values;
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](double m) { return !std::isnan(m); }));
}

}  // namespace schaas::test_support
