#include "tests/support/dense_oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/support/oracle_number.h"

// Evaluates statements by definition (docs/language.md): over all values of all indices, on dense arrays.
// oracle_number.h tells which elements have one right value. A statement is resolved once: indices become
// slots of a point and tensors the arrays of their numbers, so that its evaluation looks up no name.
// test_support_test.cc compares with results computed by hand.
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

using Point = std::vector<std::int64_t>;           ///< coordinates by slot
using Slots = std::map<std::string, std::size_t>;  ///< of the indices that are bound

/// All numbers of a tensor, row major.
struct Numbers {
  std::vector<std::int64_t> extents;
  std::vector<Number> all;
};
using Tensors = std::map<std::string, Numbers>;

/// Part of a statement without names.
struct Resolved {
  enum class Kind { number, coordinate, element, reduction, empty_sum, product, call };
  Kind kind = Kind::number;
  Number number{};                      ///< a literal; what a reduction or an empty sum is over nothing
  Function function = Function::add;    ///< of a call; combines the terms of a reduction
  std::vector<std::size_t> slots{};     ///< of a coordinate, an element, a reduction
  std::vector<std::int64_t> extents{};  ///< of the indices of a reduction
  const Numbers* tensor = nullptr;
  bool is_sum = false;  ///< `add` or `subtract`
  std::vector<Resolved> parts{};
};

/// Resolves the names of one statement.
class Resolution {
 public:
  Resolution(const operators::Semiring& semiring, const Tensors& tensors, const Extents& extents)
      : semiring_(semiring), tensors_(tensors), extents_(extents) {}

  /// Number of slots that points of the statement have.
  std::size_t slots() const { return slots_; }
  std::size_t bind(const std::string& index, Slots& bound) { return bound[index] = slots_++; }

  /// The right side at one element of the left side: implied sums around its additive terms.
  Resolved term(const Expression& expression, const Slots& bound) {
    const auto* call = std::get_if<Call>(&expression.node);
    if (call != nullptr && (is_sum(expression) || call->function == Function::negate)) {
      Resolved all = of_kind(Resolved::Kind::call, call->function);
      all.is_sum = is_sum(expression);
      for (const auto& each : call->arguments) all.parts.push_back(term(each, bound));
      return all;
    }
    std::vector<std::string> summed;
    for (auto& index : index_notation::free_indices(expression)) {
      if (bound.count(index) == 0) summed.push_back(std::move(index));
    }
    if (summed.empty()) return resolved(expression, bound);
    const bool is_empty = std::any_of(summed.begin(), summed.end(),
                                      [&](const std::string& index) { return extents_.at(index) == 0; });
    const auto* product = std::get_if<Product>(&expression.node);
    if (is_empty && product != nullptr) return empty_sum(*product, bound);
    return reduced(semiring_.sum, semiring_.zero, summed, expression, bound);
  }

 private:
  static Resolved of_kind(Resolved::Kind kind, Function function = Function::add) {
    Resolved all;
    all.kind = kind;
    all.function = function;
    return all;
  }

  static bool is_sum(const Expression& expression) {
    const auto* call = std::get_if<Call>(&expression.node);
    return call != nullptr && (call->function == Function::add || call->function == Function::subtract);
  }

  /// A product that is summed over nothing, with its factors that stay the same in the sum.
  Resolved empty_sum(const Product& product, const Slots& bound) {
    Resolved all = of_kind(Resolved::Kind::empty_sum);
    all.number = leaf(semiring_.zero);
    for (const auto& factor : product.factors) {
      const auto indices = index_notation::free_indices(factor);
      const bool stays = std::all_of(indices.begin(), indices.end(),
                                     [&](const std::string& index) { return bound.count(index) > 0; });
      if (stays) all.parts.push_back(resolved(factor, bound));
    }
    return all;
  }

  Resolved reduced(Monoid monoid, double start, const std::vector<std::string>& indices,
                   const Expression& body, Slots bound) {
    Resolved all = of_kind(Resolved::Kind::reduction, operators::combine(monoid));
    all.number = leaf(start);
    for (const auto& index : indices) {
      all.slots.push_back(bind(index, bound));
      all.extents.push_back(extents_.at(index));
    }
    all.parts.push_back(resolved(body, bound));
    return all;
  }

  /// An expression without implied sums.
  Resolved resolved(const Expression& expression, const Slots& bound) {
    if (const auto* access = std::get_if<Access>(&expression.node)) {
      Resolved all = of_kind(Resolved::Kind::element);
      all.tensor = &tensors_.at(access->tensor);
      for (const auto& index : access->indices) all.slots.push_back(bound.at(index));
      return all;
    }
    if (const auto* literal = std::get_if<Literal>(&expression.node)) {
      Resolved all = of_kind(Resolved::Kind::number);
      all.number = leaf(literal->value);
      return all;
    }
    if (const auto* coordinate = std::get_if<Coordinate>(&expression.node)) {
      Resolved all = of_kind(Resolved::Kind::coordinate);
      all.slots = {bound.at(coordinate->index)};
      return all;
    }
    if (const auto* reduction = std::get_if<Reduction>(&expression.node)) {
      // Over nothing the semiring's own sum is its zero: max-times is about numbers >= 0.
      const bool own = reduction->monoid == semiring_.sum;
      return reduced(reduction->monoid, own ? semiring_.zero : operators::identity(reduction->monoid),
                     reduction->indices, reduction->body.front(), bound);
    }
    const auto* call = std::get_if<Call>(&expression.node);
    Resolved all = call != nullptr ? of_kind(Resolved::Kind::call, call->function)
                                   : of_kind(Resolved::Kind::product, semiring_.product);
    all.is_sum = is_sum(expression);
    for (const auto& each : index_notation::parts(expression)) all.parts.push_back(resolved(each, bound));
    return all;
  }

  const operators::Semiring& semiring_;
  const Tensors& tensors_;
  const Extents& extents_;
  std::size_t slots_ = 0;
};

/// Evaluates resolved statements.
class Evaluation {
 public:
  Evaluation(const operators::Semiring& semiring, double largest) : semiring_(semiring), largest_(largest) {}

  Number value(const Resolved& of, Point& point) const {
    switch (of.kind) {
      case Resolved::Kind::number:
        return of.number;
      case Resolved::Kind::coordinate:
        return leaf(static_cast<double>(point[of.slots.front()]));
      case Resolved::Kind::element:
        return element(of, point);
      case Resolved::Kind::reduction:
        return reduced(of, point);
      case Resolved::Kind::empty_sum:
        return empty_sum(of, point);
      case Resolved::Kind::product:
        return product(of, point);
      default:
        return called(of, point);
    }
  }

 private:
  static Number negative(const Number& x) { return x.open() ? x : of_one(Function::negate, x); }

  static Number both(Function function, const Number& a, const Number& b) {
    return a.open() || b.open() ? open_number() : combined(function, a, b);
  }

  static Number element(const Resolved& of, const Point& point) {
    const auto& extents = of.tensor->extents;
    std::int64_t at = 0;
    for (std::size_t mode = 0; mode < extents.size(); ++mode) {
      const auto coordinate = point[of.slots[mode]];
      if (coordinate >= extents[mode]) throw std::out_of_range("coordinate");
      at = at * extents[mode] + coordinate;
    }
    return of.tensor->all[static_cast<std::size_t>(at)];
  }

  /// A factor that stays the same is infinite: a schedule may take it out of the sum, which then gives
  /// 0 * infinity.
  Number empty_sum(const Resolved& of, Point& point) const {
    for (const auto& factor : of.parts) {
      const Number one = value(factor, point);
      if (one.open() || std::isinf(one.value)) return open_number();
    }
    return of.number;
  }

  /// Folds the values of the body over all values of the indices.
  Number reduced(const Resolved& of, Point& point) const {
    Number all = of.number;
    if (std::find(of.extents.begin(), of.extents.end(), 0) != of.extents.end()) return all;
    const bool logical = of.function == Function::logical_or || of.function == Function::logical_and;
    for (const auto slot : of.slots) point[slot] = 0;
    while (true) {
      const Number each = value(of.parts.front(), point);
      all = logical && may_wrap(each) ? open_number() : both(of.function, all, each);
      std::size_t n = of.slots.size();
      while (n > 0 && ++point[of.slots[n - 1]] == of.extents[n - 1]) point[of.slots[--n]] = 0;
      if (n == 0) return all;
    }
  }

  Number product(const Resolved& of, Point& point) const {
    Number all = value(of.parts.front(), point);
    for (std::size_t n = 1; n < of.parts.size(); ++n) all = multiplied(all, value(of.parts[n], point));
    if (!std::isinf(all.value)) return all;
    // A schedule may distribute a product over a sum in it: infinity times terms of which one is 0, or which
    // have different signs, is no number then.
    const bool distributes =
        std::any_of(of.parts.begin(), of.parts.end(), [](const Resolved& factor) { return factor.is_sum; });
    const bool infinite = std::any_of(of.parts.begin(), of.parts.end(), [&](const Resolved& factor) {
      return !factor.is_sum && std::isinf(value(factor, point).value);
    });
    return distributes && infinite ? open_number() : all;
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
  Number called(const Resolved& of, Point& point) const {
    const Number first = value(of.parts[0], point);
    const bool adds = of.is_sum || of.function == Function::negate;
    const auto is_open = [&](const Number& x) { return x.open() || (!adds && may_wrap(x)); };
    if (is_open(first)) return open_number();
    switch (of.function) {
      case Function::where:
        return near(first, 0) ? open_number() : value(of.parts[first.is_zero() ? 2 : 1], point);
      case Function::add:
      case Function::minimum:
      case Function::maximum:
      case Function::logical_and:
      case Function::logical_or: {
        const auto combines = of.function == Function::add ? operators::combine(semiring_.sum) : of.function;
        Number all = first;
        for (std::size_t n = 1; n < of.parts.size(); ++n) {
          const Number each = value(of.parts[n], point);
          all = is_open(each) ? open_number() : both(combines, all, each);
        }
        return all;
      }
      default:
        break;
    }
    if (of.parts.size() == 1) return of_one(of.function, first);
    const Number second = value(of.parts[1], point);
    if (is_open(second)) return open_number();
    switch (of.function) {
      case Function::subtract:
        return combined(Function::add, first, negative(second));
      case Function::divide:
        return quotient(first, second);
      case Function::power:
        return power(first, second);
      default:
        return comparison(of.function, first, second);
    }
  }

  const operators::Semiring& semiring_;
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
  Tensors tensors;
  for (const auto& [name, tensor] : operands) {
    Numbers& numbers = tensors[name];
    numbers.extents = tensor.extents;
    for (std::size_t n = 0; n < tensor.values.size(); ++n) numbers.all.push_back(leaf(tensor.number(n)));
  }
  const Evaluation evaluation(*program.semiring, largest);
  for (const auto& statement : program.statements) {
    Numbers result;
    Slots bound;
    Resolution resolution(*program.semiring, tensors, extents);
    for (const auto& index : statement.result.indices) {
      result.extents.push_back(extents.at(index));
      resolution.bind(index, bound);
    }
    const Resolved right = resolution.term(statement.value, bound);
    const std::size_t count = zeros(result.extents).values.size();
    Point point(resolution.slots());
    for (std::size_t n = 0; n < count; ++n) {
      std::size_t rest = n;
      for (std::size_t mode = result.extents.size(); mode-- > 0;) {
        const auto extent = static_cast<std::size_t>(result.extents[mode]);
        point[bound.at(statement.result.indices[mode])] = static_cast<std::int64_t>(rest % extent);
        rest /= extent;
      }
      Number number = evaluation.value(right, point);
      if (statement.update && before && !number.open()) {
        number = combined(operators::combine(*statement.update), leaf(before->number(n)), number);
      }
      // Integers wrap around, and so do sums with the largest one, which an extreme of nothing is.
      const bool may_wrap = std::isinf(number.value)
                                ? std::isfinite(largest) && program.semiring == &operators::plus_times()
                                : number.magnitude >= largest;
      result.all.push_back(may_wrap && !number.open() ? open_number() : number);
    }
    tensors[statement.result.tensor] = std::move(result);
  }
  const Numbers& last = tensors.at(program.statements.back().result.tensor);
  Evaluated out{zeros(last.extents), zeros(last.extents)};
  for (std::size_t n = 0; n < last.all.size(); ++n) {
    out.value.set(n, last.all[n].both_parts());
    out.magnitude.values[n] = last.all[n].magnitude;
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
