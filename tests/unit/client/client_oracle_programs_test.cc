// The oracle on whole programs against plain recursion over every index, and by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "schaas/oracle.h"

namespace schaas::client {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using Point = std::map<std::string, std::int64_t>;

// ---- plain recursion

double combine(Function f, double a, double b) {
  switch (f) {
    case Function::add:
      return a + b;
    case Function::subtract:
      return a - b;
    case Function::multiply:
      return a * b;
    case Function::divide:
      return a / b;
    case Function::power:
      return std::pow(a, b);
    case Function::minimum:
      return std::min(a, b);
    case Function::maximum:
      return std::max(a, b);
    case Function::less:
      return a < b;
    case Function::less_equal:
      return a <= b;
    case Function::greater:
      return a > b;
    case Function::greater_equal:
      return a >= b;
    case Function::equal:
      return a == b;
    case Function::not_equal:
      return a != b;
    case Function::logical_and:
      return a != 0 && b != 0;
    case Function::logical_or:
      return a != 0 || b != 0;
    case Function::logical_not:
      return a == 0;
    case Function::negate:
      return -a;
    case Function::abs:
      return std::fabs(a);
    case Function::exp:
      return std::exp(a);
    case Function::log:
      return std::log(a);
    case Function::sqrt:
      return std::sqrt(a);
    case Function::sin:
      return std::sin(a);
    case Function::cos:
      return std::cos(a);
    case Function::tan:
      return std::tan(a);
    case Function::expm1:
      return std::expm1(a);
    case Function::log1p:
      return std::log1p(a);
    case Function::log2:
      return std::log2(a);
    case Function::log10:
      return std::log10(a);
    case Function::asin:
      return std::asin(a);
    case Function::acos:
      return std::acos(a);
    case Function::atan:
      return std::atan(a);
    case Function::sinh:
      return std::sinh(a);
    case Function::cosh:
      return std::cosh(a);
    case Function::erf:
      return std::erf(a);
    case Function::tanh:
      return std::tanh(a);
    case Function::sigmoid:
      return 1 / (1 + std::exp(-a));
    case Function::relu:
      return a > 0 ? a : 0;
    case Function::sign:
      return a > 0 ? 1 : a < 0 ? -1 : 0;
    case Function::floor:
      return std::floor(a);
    case Function::ceil:
      return std::ceil(a);
    case Function::round:
      return std::nearbyint(a);
    case Function::conj:
    case Function::real:
      return a;
    case Function::imag:
      return 0;
    case Function::add_absorbing_largest:
    case Function::add_absorbing_smallest:
    case Function::where:
      break;
  }
  return std::nan("");
}

double combine(Monoid f, double a, double b) {
  switch (f) {
    case Monoid::sum:
      return a + b;
    case Monoid::product:
      return a * b;
    case Monoid::minimum:
      return std::min(a, b);
    case Monoid::maximum:
      return std::max(a, b);
    case Monoid::logical_or:
      return a != 0 || b != 0;
    case Monoid::logical_and:
      return a != 0 && b != 0;
  }
  return std::nan("");
}

struct Plain {
  std::vector<std::int64_t> extents;
  std::vector<double> values;
  double& at(const std::vector<std::string>& indices, const Point& point) {
    std::size_t place = 0;
    for (std::size_t m = 0; m < extents.size(); ++m)
      place = place * static_cast<std::size_t>(extents[m]) + static_cast<std::size_t>(point.at(indices[m]));
    return values[place];
  }
};

class PlainRecursion {
 public:
  PlainRecursion(const Program& program, Point extents, std::map<std::string, Plain> tensors)
      : program_(program), extents_(std::move(extents)), tensors_(std::move(tensors)) {}

  Plain run() {
    for (const Statement& statement : program_.statements) define(statement);
    return tensors_.at(program_.result().tensor);
  }

 private:
  void for_all(const std::vector<std::string>& indices, std::size_t depth, Point& point,
               const std::function<void()>& visit) {
    if (depth == indices.size()) return visit();
    const auto before = point.find(indices[depth]) == point.end() ? -1 : point.at(indices[depth]);
    for (std::int64_t x = 0; x < extents_.at(indices[depth]); ++x) {
      point[indices[depth]] = x;
      for_all(indices, depth + 1, point, visit);
    }
    point[indices[depth]] = before;
  }

  void define(const Statement& statement) {
    Plain result;
    std::size_t size = 1;
    for (const auto& index : statement.result.indices) {
      result.extents.push_back(extents_.at(index));
      size *= static_cast<std::size_t>(extents_.at(index));
    }
    result.values.assign(size, 0);
    Point point;
    for_all(statement.result.indices, 0, point, [&] {
      double value = right_side(statement.value, statement.result.indices, point);
      if (statement.update)
        value = combine(*statement.update,
                        tensors_.at(statement.result.tensor).at(statement.result.indices, point), value);
      result.at(statement.result.indices, point) = value;
    });
    tensors_[statement.result.tensor] = std::move(result);
  }

  static void collect(const Expression& e, std::vector<std::string> bound, std::vector<std::string>& out) {
    if (const auto* access = std::get_if<Access>(&e.node)) {
      for (const auto& index : access->indices) {
        if (std::count(bound.begin(), bound.end(), index) + std::count(out.begin(), out.end(), index) == 0)
          out.push_back(index);
      }
    }
    if (const auto* reduction = std::get_if<Reduction>(&e.node))
      bound.insert(bound.end(), reduction->indices.begin(), reduction->indices.end());
    for (const auto& part : parts(e)) collect(part, bound, out);
  }

  double right_side(const Expression& e, const std::vector<std::string>& left, Point& point) {
    const auto* operation = std::get_if<Call>(&e.node);
    if (operation != nullptr && operation->function == Function::negate)
      return -right_side(operation->arguments[0], left, point);
    if (operation != nullptr &&
        (operation->function == Function::add || operation->function == Function::subtract)) {
      double value = right_side(operation->arguments[0], left, point);
      for (std::size_t n = 1; n < operation->arguments.size(); ++n) {
        const double next = right_side(operation->arguments[n], left, point);
        value = operation->function == Function::subtract ? value - next
                                                          : combine(program_.semiring->sum, value, next);
      }
      return value;
    }
    std::vector<std::string> reduced;
    collect(e, left, reduced);
    if (reduced.empty()) return value_of(e, point);
    return folded(program_.semiring->sum, reduced, e, point);
  }

  double folded(Monoid fold, const std::vector<std::string>& indices, const Expression& body, Point& point) {
    double value = identity(fold);
    for_all(indices, 0, point, [&] { value = combine(fold, value, value_of(body, point)); });
    return value;
  }

  double value_of(const Expression& e, Point& point) {
    if (const auto* number = std::get_if<Literal>(&e.node)) return number->value;
    if (const auto* access = std::get_if<Access>(&e.node))
      return tensors_.at(access->tensor).at(access->indices, point);
    if (const auto* reduction = std::get_if<Reduction>(&e.node))
      return folded(reduction->monoid, reduction->indices, reduction->body[0], point);
    std::vector<double> values;
    for (const auto& part : parts(e)) values.push_back(value_of(part, point));
    const auto* call = std::get_if<Call>(&e.node);
    const Function f = call != nullptr ? call->function : program_.semiring->product;
    if (f == Function::where) return values[0] != 0 ? values[1] : values[2];
    if (values.size() == 1) return combine(f, values[0], 0);
    double value = values[0];
    for (std::size_t n = 1; n < values.size(); ++n)
      value = f == Function::add && call != nullptr ? combine(program_.semiring->sum, value, values[n])
                                                    : combine(f, value, values[n]);
    return value;
  }

  const Program& program_;
  Point extents_;
  std::map<std::string, Plain> tensors_;
};

// ---- random operands

/// Every index has the same extent, so that any tensor can be read with any indices.
class Trial {
 public:
  Trial(const std::string& text, std::uint64_t seed) : random_(seed) {
    auto program = parse_program(text);
    EXPECT_TRUE(program.ok()) << text;
    program_ = std::move(program).value();
    const std::int64_t extent = static_cast<std::int64_t>(random_() % 4) + (random_() % 8 == 0 ? 0 : 1);
    for (const auto& index : indices_of(program_)) extents_[index] = extent;
    for (const auto& access : operands(program_)) make(access);
    if (program_.statements.back().update) make(program_.result());
  }

  void check(int& judged) {
    std::map<std::string, OracleOperand> operands;
    for (const auto& [name, tensor] : dense_) operands[name] = &tensor;
    for (const auto& [name, tensor] : sparse_) operands[name] = &tensor;
    OracleOptions options;
    options.extents = extents_;
    const auto expected = evaluate(program_, operands, options);
    ASSERT_TRUE(expected.ok()) << support::render(expected.error());
    const Plain plain = PlainRecursion(program_, extents_, plain_).run();
    DenseTensor actual = *zeros(plain.extents, ValueType::f64);
    bool numbers = true;
    for (std::size_t e = 0; e < plain.values.size(); ++e) {
      actual.set(static_cast<std::int64_t>(e), plain.values[e]);
      numbers = numbers && !std::isnan(plain.values[e]);
    }
    if (!numbers) return;  // what is not stored annihilates infinity, plain recursion does not
    judged += static_cast<int>(plain.values.size());
    const auto compared = compare(actual, *expected);
    ASSERT_TRUE(compared.ok());
    EXPECT_LE(compared->max_relative_error, 1e-12) << "entry " << compared->worst;
  }

 private:
  void make(const Access& access) {
    if (plain_.count(access.tensor) > 0) return;
    Plain& plain = plain_[access.tensor];
    for (const auto& index : access.indices) plain.extents.push_back(extents_.at(index));
    DenseTensor full = *zeros(plain.extents, ValueType::f64);
    const bool is_sparse =
        std::isupper(static_cast<unsigned char>(access.tensor[0])) != 0 && random_() % 4 != 0;
    CooTensor entries;
    entries.extents = plain.extents;
    entries.coordinates.resize(plain.extents.size());
    for (std::int64_t e = 0; e < full.size(); ++e) {
      const bool stored = !is_sparse || random_() % 3 == 0;
      const double value = stored ? value_of(access.tensor) : program_.semiring->zero;
      plain.values.push_back(value);
      full.set(e, value);
      if (!stored) continue;
      std::int64_t rest = e;
      for (std::size_t m = plain.extents.size(); m-- > 0; rest /= plain.extents[m])
        entries.coordinates[m].push_back(rest % plain.extents[m]);
      entries.values.push_back(value);
    }
    if (is_sparse) {
      sparse_[access.tensor] = std::move(entries);
    } else {
      dense_[access.tensor] = std::move(full);
    }
  }

  // Small letters are divisors: never near 0. Some values are equal, some are stored zeros.
  double value_of(const std::string& tensor) {
    if (std::islower(static_cast<unsigned char>(tensor[0])) != 0) return 0.5 + uniform_(random_);
    return random_() % 4 == 0 ? static_cast<double>(random_() % 3) - 1 : 2 * uniform_(random_) - 1;
  }

  std::mt19937_64 random_;
  std::uniform_real_distribution<double> uniform_{0, 1};
  Program program_;
  Point extents_;
  std::map<std::string, Plain> plain_;
  std::map<std::string, DenseTensor> dense_;
  std::map<std::string, CooTensor> sparse_;
};

class OraclePrograms : public ::testing::TestWithParam<const char*> {};

TEST_P(OraclePrograms, agree_with_plain_recursion) {
  int judged = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(std::string(GetParam()) + ", seed " + std::to_string(seed));
    Trial(GetParam(), seed).check(judged);
  }
  EXPECT_GT(judged, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, OraclePrograms,
    ::testing::Values(
        "A(i,j) = B(i,j) + C(i,j)", "A(i,j) = B(i,j) + C(i,j) + D(i,j) + E(i,j)",
        "A(i,j) = B(i,j) - (C(i,j) - 2 * D(i,j) * c(j)) - -E(i,j)", "s = sum(i,j)(B(i,j) - C(j,i) * X(i))",
        "max-plus: A(i,j) = B(i,j) + C(i,j) + D(i,j)", "y(i) = b(i) + A(i,j) * X(j)",
        "y(i) = B(i,j) * X(j) - 2 * C(i,k) * Z(k)", "A(i,j) = B(i,j) * (C(i,j) + D(i,j))", "A(i,j) = -B(i,j)",
        "A(i,j) = B(i,j) / (c(i,k) * d(k,j))", "A(i,j) = exp(B(i,j))", "A(i,j) = relu(B(i,j)) + 1",
        "y(i) = max(j)(B(i,j)) / c(i)", "y(i) = sum(j)(exp(B(i,j)))", "y(i) = prod(j)(B(i,j) + 1)",
        "y(i) = and(j)(B(i,j))", "y(i) = or(j)(B(i,j) > 0)", "s = min(i,j)(B(i,j) * C(j,i))",
        "A(i,j) = where(B(i,j) > 0, C(i,j) + D(i,j), 0)", "A(i,j) = where(B(i,j), C(i,j), D(i,j))",
        "A(i,j) = where(B(i,j) == 0, C(i,j), 1)", "A(i,j) = B(i,j) * (C(i,j) != 0)", "y(i) = B(i,i)",
        "y(i) = B(i,i) + C(i,j) * D(j,i)", "A(i,j) = x(i)", "A(i,j,k) = B(i,j) + C(j,k)",
        "A(i,j) = sqrt(abs(B(i,j)))", "A(i,j) = pow(B(i,j), 2) * C(i,j)", "A(i,j) = max(B(i,j), C(i,j), 0)",
        "A(i,j) = min(B(i,j), C(i,j))", "A(i,j) += B(i,k) * C(k,j)", "A(i) max= B(i,j)", "A(i,j) *= B(i,j)",
        "s += X(i)", "A(i,k) = relu(sum(j)(B(i,j) * C(j,k)))",
        "A(i,j) = B(i,j) * relu(sum(k)(C(i,k) * D(k,j)))",
        "T(i,j) = C(i,k) * D(k,j); A(i,j) = B(i,j) * T(i,j)",
        "T(i,j) = B(i,j) * C(i,k) * D(j,k); Y(i,l) = T(i,j) * E(j,l)",
        "m(i) = max(j)(B(i,j)); E(i,j) = exp(B(i,j) - m(i)); s(i) = sum(j)(E(i,j)); Y(i,j) = E(i,j) / s(i)",
        "T(i,j) = B(i,k) * C(k,j); A(j,i) = T(j,k) * T(k,i)", "T(i) = B(i,j); s = T(k) * X(k)",
        "min-plus: D(i,j) = B(i,k) * C(k,j)", "min-plus: D(i,j) = B(i,k) * C(k,j) + E(i,j)",
        "min-plus: T(i) = B(i,j) * X(j); D(i) = T(i) + E(i)", "max-plus: y(i) = B(i,j) * X(j)",
        "max-min: A(i,j) = B(i,k) * C(k,j) * D(j,i)", "min-max: A(i,j) = B(i,k) * C(k,j)",
        "or-and: A(i,j) = B(i,k) * C(k,j)", "or-and: y(i) = B(i,j) * X(j) * not(V(i))",
        "min-plus: D(i) = B(i,j) * relu(X(j))", "min-plus: s = sum(i)(X(i) * 2)",
        "A(i,j) = sign(B(i,j)) * floor(C(i,j) * 3)", "A(i,j) = round(B(i,j)) + ceil(C(i,j))",
        "A(i,j) = tanh(B(i,j)) * sigmoid(C(i,j)) + sin(D(i,j))",
        "A(i,j) = and(B(i,j), C(i,j)) - or(B(i,j), C(i,j))", "A(i,j) = 2", "s = 0 * B(i,j)",
        "A(i,j) = B(i,j) * 2 / c(j) - D(i,j) * c(i)"));

// ---- random programs

class RandomText {
 public:
  explicit RandomText(std::uint64_t seed) : random_(seed) {}

  std::string expression(int depth) {
    switch (random_() % (depth == 0 ? 2 : 12)) {
      case 0:
        return access();
      case 1:
        return depth == 0 || random_() % 3 != 0 ? access() : std::to_string(random_() % 3);
      case 2:
      case 3:
        return "(" + expression(depth - 1) + " + " + expression(depth - 1) + ")";
      case 4:
        return "(" + expression(depth - 1) + " - " + expression(depth - 1) + ")";
      case 5:
      case 6:
        return expression(depth - 1) + " * " + expression(depth - 1);
      case 7:
        return "(" + expression(depth - 1) + ") / c(" + index() + ")";
      case 8:
        return pick({"relu", "abs", "tanh", "cos", "sign", "not", "sigmoid"}) + "(" + expression(depth - 1) +
               ")";
      case 9:
        return pick({"max", "min", "and", "or"}) + "(" + expression(depth - 1) + ", " +
               expression(depth - 1) + ")";
      case 10:
        return "where(" + expression(depth - 1) + pick({" > ", " <= ", " == "}) + expression(depth - 1) +
               ", " + expression(depth - 1) + ", " + expression(depth - 1) + ")";
      default: {
        const std::string j = index();
        return pick({"sum", "max", "min", "prod", "or"}) + "(" + j + ")(B(" + j + "," + index() + ") * " +
               expression(depth - 1) + ")";
      }
    }
  }

 private:
  std::string pick(std::vector<std::string> of) { return of[random_() % of.size()]; }
  std::string index() { return pick({"i", "j", "k"}); }
  std::string access() { return pick({"B", "C", "D"}) + "(" + index() + "," + index() + ")"; }
  std::mt19937_64 random_;
};

TEST(OracleRandomPrograms, agree_with_plain_recursion) {
  int judged = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const std::string text = "A(i,j) = " + RandomText(seed).expression(3);
    SCOPED_TRACE(text + ", seed " + std::to_string(seed));
    Trial(text, seed).check(judged);
    if (HasFailure()) return;
  }
  EXPECT_GT(judged, 800);
}

// ---- by hand

CooTensor diagonal(std::int64_t extent, double value) {
  CooTensor tensor;
  tensor.extents = {extent, extent};
  tensor.coordinates.resize(2);
  for (std::int64_t i = 0; i < extent; ++i) {
    tensor.coordinates[0].push_back(i);
    tensor.coordinates[1].push_back(i);
    tensor.values.push_back(value);
  }
  return tensor;
}

TEST(OracleAtRealSize, keeps_sparse_results_as_entries) {
  const std::int64_t n = 100000;  // 1e10 elements
  const CooTensor b = diagonal(n, 2), c = diagonal(n, 3);
  for (const char* text : {"A(i,k) = B(i,j) * C(j,k)", "A(i,k) = B(i,k) * relu(C(i,k))",
                           "T(i,k) = B(i,j) * C(j,k); A(i,k) = T(i,k) * (C(i,k) != 0)"}) {
    const auto expected = evaluate(*parse_program(text), {{"B", &b}, {"C", &c}});
    ASSERT_TRUE(expected.ok()) << text << support::render(expected.error());
    ASSERT_TRUE(expected->entries.has_value());
    EXPECT_EQ(expected->entries->values.values, std::vector<double>(static_cast<std::size_t>(n), 6.0))
        << text;
    EXPECT_EQ(expected->entries->background, 0);
  }
}

TEST(OracleAtRealSize, looks_at_each_term_of_a_sum_at_its_own_entries) {
  const std::int64_t n = 50000;
  const CooTensor b = diagonal(n, 2), c = diagonal(n, 3);
  const char* text = "A(i,j) = B(i,j) + C(i,j) - B(j,i) + 2 * C(j,i)";
  const auto expected = evaluate(*parse_program(text), {{"B", &b}, {"C", &c}});
  ASSERT_TRUE(expected.ok()) << support::render(expected.error());
  ASSERT_TRUE(expected->entries.has_value());
  EXPECT_EQ(expected->entries->values.values, std::vector<double>(static_cast<std::size_t>(n), 9.0));
  EXPECT_EQ(expected->entries->magnitudes, std::vector<double>(static_cast<std::size_t>(n), 13.0));
}

/// docs/language.md: a reduction over nothing is its identity, the semiring's own sum its zero.
TEST(OracleOverNothing, starts_where_kernels_start) {
  const DenseTensor none = *zeros({3, 0}, ValueType::f64);
  const auto value = [&](const char* text) {
    const auto expected = evaluate(*parse_program(text), {{"b", &none}});
    EXPECT_TRUE(expected.ok()) << text;
    return expected->values.at(1);
  };
  EXPECT_EQ(value("y(i) = max(j)(b(i,j))"), -infinity);
  EXPECT_EQ(value("y(i) = prod(j)(b(i,j))"), 1);
  EXPECT_EQ(value("max-times: y(i) = max(j)(b(i,j))"), 0);
  EXPECT_EQ(value("max-times: y(i) = 1 + max(j)(b(i,j))"), 1);
  EXPECT_EQ(value("max-times: y(i) = min(j)(b(i,j))"), infinity);
  EXPECT_EQ(value("max-times: y(i) = b(i,j)"), 0);
  EXPECT_EQ(value("min-plus: y(i) = b(i,j)"), infinity);
}

/// docs/language.md: intermediate vectors are dense, whose 0 / 0 is NaN, unless a kernel lists their entries.
TEST(OracleOverNothing, leaves_quotients_of_absent_sums_open) {
  CooTensor none = diagonal(3, 1);
  none.values.clear();
  for (auto& mode : none.coordinates) mode.clear();
  const CooTensor some = diagonal(3, 2);
  CooTensor x;
  x.extents = {3};
  x.coordinates = {{0, 1, 2}};
  x.values = {1, 1, 1};
  constexpr const char* text = "t(i) = B(i,j) * x(j); n = sqrt(sum(i)(t(i) * t(i))); y(i) = t(i) / n";
  const auto open = evaluate(*parse_program(text), {{"B", &none}, {"x", &x}});
  ASSERT_TRUE(open.ok()) << support::render(open.error());
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_EQ(open->magnitudes.at(i), infinity);
  const auto known = evaluate(*parse_program(text), {{"B", &some}, {"x", &x}});
  ASSERT_TRUE(known.ok()) << support::render(known.error());
  for (std::int64_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(known->values.at(i), std::sqrt(1.0 / 3), 1e-15);
    EXPECT_TRUE(std::isfinite(known->magnitudes.at(i)));
  }
}

/// A mean over no neighbours, as in a layer of GraphSAGE.
TEST(OracleOverNothing, leaves_rows_of_means_open) {
  CooTensor some = diagonal(3, 2);  // row 2 has no entry
  some.values.pop_back();
  for (auto& mode : some.coordinates) mode.pop_back();
  DenseTensor x = *zeros({3, 2}, ValueType::f64);
  for (std::int64_t e = 0; e < 6; ++e) x.set(e, static_cast<double>(e + 1));
  for (const char* text : {"Z(i,k) = sum(j)(B(i,j) * X(j,k)) / sum(j)(B(i,j))",
                           "Z(i,k) = X(i,k) - X(i,k) + sum(j)(B(i,j) * X(j,k)) / sum(j)(B(i,j))"}) {
    const auto means = evaluate(*parse_program(text), {{"B", &some}, {"X", &x}});
    ASSERT_TRUE(means.ok()) << text << support::render(means.error());
    ASSERT_FALSE(means->entries.has_value()) << text;
    for (std::int64_t e = 0; e < 4; ++e) EXPECT_NEAR(means->values.at(e), static_cast<double>(e + 1), 1e-15);
    for (std::int64_t e = 0; e < 4; ++e) EXPECT_TRUE(std::isfinite(means->magnitudes.at(e))) << text;
    for (std::int64_t e = 4; e < 6; ++e) EXPECT_EQ(means->magnitudes.at(e), infinity) << text;
  }
}

/// A kernel may keep a small computed matrix dense, and then divides its zeros, too.
TEST(OracleOverNothing, leaves_quotients_of_small_computed_matrices_open) {
  const CooTensor b = diagonal(3, 2);
  DenseTensor x = *zeros({3}, ValueType::f64), u = *zeros({3}, ValueType::f64);
  for (std::int64_t i = 0; i < 3; ++i) x.set(i, 1), u.set(i, static_cast<double>(i));
  constexpr const char* text = "T(i,j) = B(i,j) * x(j); A(i,j) = T(i,j) / u(i)";
  const auto open = evaluate(*parse_program(text), {{"B", &b}, {"x", &x}, {"u", &u}});
  ASSERT_TRUE(open.ok()) << support::render(open.error());
  ASSERT_FALSE(open->entries.has_value());
  for (const std::int64_t divided_by_0 : {1, 2}) EXPECT_EQ(open->magnitudes.at(divided_by_0), infinity);
  for (std::int64_t e = 3; e < 9; ++e) EXPECT_TRUE(std::isfinite(open->magnitudes.at(e))) << e;
}

/// A step of conjugate gradients, whose length is a quotient with a divisor 0.
TEST(OracleOverNothing, leaves_products_of_absent_sums_and_infinity_open) {
  CooTensor none = diagonal(3, 1);
  none.values.clear();
  for (auto& mode : none.coordinates) mode.clear();
  DenseTensor x = *zeros({3}, ValueType::f64);
  for (std::int64_t i = 0; i < 3; ++i) x.set(i, 2);
  constexpr const char* text =
      "q(i) = B(i,j) * x(j); a = sum(i)(x(i) * x(i)) / sum(i)(x(i) * q(i)); y(i) = x(i) - a * q(i)";
  const auto open = evaluate(*parse_program(text), {{"B", &none}, {"x", &x}});
  ASSERT_TRUE(open.ok()) << support::render(open.error());
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_EQ(open->magnitudes.at(i), infinity);
  const auto known =
      evaluate(*parse_program("q(i) = B(i,j) * x(j); y(i) = x(i) - 3 * q(i)"), {{"B", &none}, {"x", &x}});
  ASSERT_TRUE(known.ok()) << support::render(known.error());
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_EQ(known->values.at(i), 2);
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_TRUE(std::isfinite(known->magnitudes.at(i)));
}

TEST(OracleAtRealSize, computes_dense_factors_only_where_they_are_read) {
  const std::int64_t n = 20000, rank = 8;
  const CooTensor b = diagonal(n, 5);
  DenseTensor c = *zeros({n, rank}, ValueType::f64), d = *zeros({rank, n}, ValueType::f64);
  for (std::int64_t e = 0; e < n * rank; ++e) c.set(e, 0.5), d.set(e, 2);
  for (const char* text :
       {"A(i,j) = B(i,j) / (C(i,k) * D(k,j))", "T(i,j) = C(i,k) * D(k,j); A(i,j) = B(i,j) / T(i,j)",
        "A(i,j) = B(i,j) / sum(k)(C(i,k) * D(k,j))"}) {
    const auto expected = evaluate(*parse_program(text), {{"B", &b}, {"C", &c}, {"D", &d}});
    ASSERT_TRUE(expected.ok()) << text << support::render(expected.error());
    ASSERT_TRUE(expected->entries.has_value());
    EXPECT_EQ(expected->entries->values.values.size(), static_cast<std::size_t>(n));
  }
}

TEST(OracleAtRealSize, says_what_is_too_much) {
  const std::int64_t n = 300000;
  const CooTensor b = diagonal(n, 2);
  const DenseTensor c = *zeros({n}, ValueType::f64);
  const auto expected = evaluate(*parse_program("A(i,j) = exp(B(i,j)) * c(i)"), {{"B", &b}, {"c", &c}});
  ASSERT_FALSE(expected.ok());
  EXPECT_EQ(expected.error().code, "oracle-size");
  EXPECT_EQ(expected.error().family, support::Family::unsupported);
}

TEST(OracleMagnitude, follows_functions) {
  const DenseTensor x = [] {
    DenseTensor t = *zeros({}, ValueType::f64);
    t.set(0, 3);
    return t;
  }();
  const auto magnitude = [&](const char* text) {
    const auto expected = evaluate(*parse_program(text), {{"x", &x}});
    EXPECT_TRUE(expected.ok());
    return expected->magnitudes.at(0);
  };
  EXPECT_EQ(magnitude("s = x - 3"), 6);
  EXPECT_EQ(magnitude("s = exp(x)"), std::exp(3.0) * 4);
  EXPECT_EQ(magnitude("s = x > 3"), 1);                   // both given: exact
  EXPECT_EQ(magnitude("s = (x + x - x) > 3"), infinity);  // rounding decides
  EXPECT_EQ(magnitude("s = (x + x) > 3"), 1);
}

TEST(ComparingPacked, compares_by_value_not_by_pattern) {
  const CooTensor b = diagonal(4, 2);
  const auto expected = evaluate(*parse_program("A(i,j) = B(i,j)"), {{"B", &b}});
  ASSERT_TRUE(expected.ok());
  CooTensor result = diagonal(4, 2);
  result.coordinates[0].push_back(0);  // a stored zero more
  result.coordinates[1].push_back(1);
  result.values.push_back(0);
  const auto packed = pack(result, *format::parse("csr", 2, "A"), {"A", ValueType::f64, 32});
  ASSERT_TRUE(packed.ok());
  EXPECT_EQ(compare(*packed, *expected)->max_relative_error, 0);
  const auto of_min_plus = pack(result, *format::parse("csr", 2, "A"), {"A", ValueType::f64, 32, infinity});
  EXPECT_EQ(compare(*of_min_plus, *expected)->max_relative_error, infinity);
  result.values[2] = 2.5;
  const auto wrong = pack(result, *format::parse("csr", 2, "A"), {"A", ValueType::f64, 32});
  EXPECT_EQ(compare(*wrong, *expected)->max_relative_error, 0.25);
  EXPECT_EQ(compare(*wrong, *expected)->worst, 10);
}

}  // namespace
}  // namespace schaas::client
