// The oracle against plain loops over every index: random operands, all of the kernels' shapes and some odd
// ones.
#include "schaas/oracle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

namespace schaas::client {
namespace {

struct Case {
  const char* expression;
  std::vector<std::string> sparse;
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.expression; }

// Visits every assignment of the indices.
template <class Visit>
void for_all(const std::vector<std::string>& indices, const std::map<std::string, std::int64_t>& extents,
             std::size_t depth, std::map<std::string, std::int64_t>& at, const Visit& visit) {
  if (depth == indices.size()) {
    visit(at);
    return;
  }
  for (std::int64_t x = 0; x < extents.at(indices[depth]); ++x) {
    at[indices[depth]] = x;
    for_all(indices, extents, depth + 1, at, visit);
  }
}

class BruteForce {
 public:
  BruteForce(const Case& c, std::uint64_t seed) : random_(seed) {
    product_ = *parse_program(c.expression);
    std::set<std::string> names;
    for (const auto& operand : client::operands(product_))
      repeated_ = !names.insert(operand.tensor).second || repeated_;
    for (const auto& operand : client::operands(product_)) bind(operand, c);
  }

  void check() {
    std::map<std::string, OracleOperand> operands;
    for (const auto& [name, tensor] : dense_) operands[name] = &tensor;
    for (const auto& [name, tensor] : sparse_) operands[name] = &tensor;
    const auto expected = evaluate(product_, operands);
    ASSERT_TRUE(expected.ok()) << support::render(expected.error());
    std::vector<double> values(expected->values.size(), 0), magnitudes(values.size(), 0);
    std::map<std::string, std::int64_t> at;
    for_all(indices_, extents_, 0, at, [&](const auto& here) {
      double term = 1;
      for (const auto& operand : client::operands(product_))
        term *= full_.at(operand.tensor).at(linear(operand, here));
      values[linear(product_.result(), here)] += term;
      magnitudes[linear(product_.result(), here)] += std::fabs(term);
    });
    for (std::size_t e = 0; e < values.size(); ++e) {
      EXPECT_NEAR(expected->values.at(e), values[e], 1e-12 * (1 + magnitudes[e]));
      EXPECT_NEAR(expected->magnitudes.at(e), magnitudes[e], 1e-12 * (1 + magnitudes[e]));
    }
    const auto same = compare(expected->values, *expected);
    ASSERT_TRUE(same.ok());
    EXPECT_EQ(same->max_relative_error, 0);
    EXPECT_EQ(same->checked, static_cast<std::int64_t>(values.size()));
  }

 private:
  void bind(const Access& operand, const Case& c) {
    for (const auto& index : operand.indices) {
      const std::int64_t extent = repeated_ ? 3 : 1 + static_cast<std::int64_t>(random_() % 4);
      if (extents_.emplace(index, extent).second) indices_.push_back(index);
    }
    if (full_.count(operand.tensor) > 0) return;
    std::vector<std::int64_t> extents;
    for (const auto& index : operand.indices) extents.push_back(extents_.at(index));
    DenseTensor full = *zeros(extents, ValueType::f64);
    const bool is_sparse = std::count(c.sparse.begin(), c.sparse.end(), operand.tensor) > 0;
    for (std::int64_t e = 0; e < full.size(); ++e) {
      if (!is_sparse || random_() % 3 == 0) full.set(e, uniform_(random_));
    }
    if (is_sparse) {
      sparse_[operand.tensor] = shuffled(to_coo(full));
    } else {
      dense_[operand.tensor] = copy(full);
    }
    full_[operand.tensor] = std::move(full);
  }

  CooTensor shuffled(const CooTensor& tensor) {
    std::vector<std::size_t> order(tensor.entries());
    for (std::size_t e = 0; e < order.size(); ++e) order[e] = e;
    std::shuffle(order.begin(), order.end(), random_);
    CooTensor result;
    result.extents = tensor.extents;
    result.coordinates.resize(tensor.order());
    for (const std::size_t e : order) {
      for (int m = 0; m < tensor.order(); ++m) result.coordinates[m].push_back(tensor.coordinates[m][e]);
      result.values.push_back(tensor.values[e]);
    }
    return result;
  }

  std::int64_t linear(const Access& access, const std::map<std::string, std::int64_t>& at) const {
    std::int64_t place = 0;
    for (const auto& index : access.indices) place = place * extents_.at(index) + at.at(index);
    return place;
  }

  std::mt19937_64 random_;
  std::uniform_real_distribution<double> uniform_{-1, 1};
  Program product_;
  bool repeated_ = false;  ///< a tensor occurs twice: its extents must agree with two lists of indices
  std::vector<std::string> indices_;
  std::map<std::string, std::int64_t> extents_;
  std::map<std::string, DenseTensor> full_, dense_;
  std::map<std::string, CooTensor> sparse_;
};

class OracleCases : public ::testing::TestWithParam<Case> {};

TEST_P(OracleCases, agrees_with_plain_loops) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    BruteForce(GetParam(), seed).check();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, OracleCases,
    ::testing::Values(
        Case{"A(i,l) = B(i,j) * C(j,k) * D(k,l)", {"B"}},
        Case{"A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", {"B"}},
        Case{"A(i,j) = B(i,j) * C(i,k) * D(j,k)", {"B"}}, Case{"A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", {"B"}},
        Case{"A(l,m,n) = B(i,j,k) * C(i,l) * D(j,m) * E(k,n)", {"B"}},
        Case{"A(i,m) = B(i,j,k) * C(j,l) * D(k,l) * E(l,m)", {"B"}},
        Case{"A(i,j,l) = B(i,j,k) * C(k,l)", {"B"}}, Case{"A(i,k) = B(i,j) * C(j,k)", {"B", "C"}},
        Case{"A(i,j) = B(i,j) * C(i,j) * D(i,k) * E(k,j)", {"B", "C"}}, Case{"y(i) = B(i,j) * x(j)", {"B"}},
        Case{"s = B(i,j) * x(i) * z(j)", {"B"}}, Case{"s = x(i) * x(i)", {}},
        Case{"A(i,l) = B(i,j) * C(j,k) * D(k,l)", {}}, Case{"A(i,j) = B(i,k) * B(k,j)", {}},
        Case{"A(j) = B(i,j)", {"B"}}, Case{"A(i) = B(i,i) * x(i)", {"B"}}, Case{"A(i,i) = x(i)", {}},
        Case{"A(i,j) = s * B(i,j)", {"B"}}, Case{"A(i,k) = B(j,i) * C(j,k)", {"B"}}));

// ---- measure and refusals

TEST(Oracle, sums_duplicate_entries) {
  const CooTensor b{{2}, {{1, 1}}, {2, 3}};
  const DenseTensor x = [] {
    DenseTensor t = *zeros({2}, ValueType::f32);
    t.set(1, 10);
    return t;
  }();
  const auto expected = evaluate(*parse_program("s = b(i) * x(i)"), {{"b", &b}, {"x", &x}});
  ASSERT_TRUE(expected.ok());
  EXPECT_EQ(expected->values.at(0), 50);
}

Expected one_value(double value, double magnitude) {
  Expected expected{*zeros({}, ValueType::f64), *zeros({}, ValueType::f64), std::nullopt};
  expected.values.set(0, value);
  expected.magnitudes.set(0, magnitude);
  return expected;
}

double error_of(double actual, double value, double magnitude) {
  DenseTensor tensor = *zeros({}, ValueType::f64);
  tensor.set(0, actual);
  return compare(tensor, one_value(value, magnitude))->max_relative_error;
}

TEST(Comparing, divides_by_the_sum_of_absolute_terms) {
  EXPECT_EQ(error_of(1.0, 1.0, 8), 0);
  EXPECT_EQ(error_of(1.5, 1.0, 8), 0.0625);
  EXPECT_EQ(error_of(0.5, 0, 4), 0.125);  // terms that cancel
}

TEST(Comparing, is_infinite_where_no_term_excuses_a_difference) {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  EXPECT_EQ(error_of(1e-300, 0, 0), infinity);
  EXPECT_EQ(error_of(nan, 1, 1), infinity);
  EXPECT_EQ(error_of(1, nan, nan), infinity);
  EXPECT_EQ(error_of(nan, nan, nan), 0);
  EXPECT_EQ(error_of(infinity, 1, 1), infinity);
  EXPECT_EQ(error_of(infinity, infinity, infinity), 0);
}

TEST(Comparing, names_the_worst_entry) {
  Expected expected{*zeros({4}, ValueType::f64), *zeros({4}, ValueType::f64), std::nullopt};
  for (int e = 0; e < 4; ++e) expected.magnitudes.set(e, 1);
  DenseTensor actual = *zeros({4}, ValueType::f64);
  actual.set(1, 0.25);
  actual.set(2, 0.5);
  const auto comparison = compare(actual, expected);
  EXPECT_EQ(comparison->worst, 2);
  EXPECT_EQ(comparison->max_relative_error, 0.5);
  EXPECT_EQ(comparison->checked, 4);
}

TEST(Comparing, refuses_another_shape) {
  const auto comparison = compare(*zeros({3}, ValueType::f64), one_value(1, 1));
  ASSERT_FALSE(comparison.ok());
  EXPECT_EQ(support::render(comparison.error()),
            "invalid [extent-mismatch]: the result has shape 3, expected scalar");
}

TEST(Oracle, refuses_operands_that_do_not_fit) {
  const DenseTensor b = *zeros({2, 3}, ValueType::f64), c = *zeros({4, 5}, ValueType::f64);
  const Program product = *parse_program("A(i,k) = B(i,j) * C(j,k)");
  EXPECT_EQ(support::render(evaluate(product, {{"B", &b}}).error()),
            "invalid [oracle-operand]: there is no tensor for `C`");
  EXPECT_EQ(support::render(evaluate(product, {{"B", &b}, {"C", &c}}).error()),
            "invalid [oracle-operand]: index `j` has extent 4 in `C` but 3 elsewhere");
  EXPECT_EQ(support::render(evaluate(*parse_program("A(i) = B(i)"), {{"B", &b}}).error()),
            "invalid [oracle-operand]: `B` has 2 modes but 1 indices");
  EXPECT_EQ(support::render(evaluate(*parse_program("A(i,x) = B(i,j)"), {{"B", &b}}).error()),
            "invalid [oracle-operand]: result index `x` occurs in no operand");
}

TEST(Oracle, refuses_results_beyond_its_memory_limit) {
  const DenseTensor b = *zeros({100}, ValueType::f64);
  OracleOptions limited;
  limited.memory_limit = 100000;
  const auto refused = evaluate(*parse_program("A(i,j) = b(i) * c(j)"), {{"b", &b}, {"c", &b}}, limited);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(support::render(refused.error()),
            "unsupported [oracle-size]: verifying needs 234.4 KiB; at most 97.7 KiB are used");
}

/// A dense vector of integers.
DenseTensor integers(ValueType type, const std::vector<std::int64_t>& values) {
  DenseTensor tensor = *zeros({static_cast<std::int64_t>(values.size())}, type);
  for (std::size_t n = 0; n < values.size(); ++n) tensor.set_integer(static_cast<std::int64_t>(n), values[n]);
  return tensor;
}

/// What the oracle finds for y(i) of operands x and z of that type.
std::vector<std::int64_t> integers_of(const char* expression, ValueType type,
                                      const std::vector<std::int64_t>& x,
                                      const std::vector<std::int64_t>& z) {
  const DenseTensor left = integers(type, x), right = integers(type, z);
  OracleOptions options;
  options.type = type;
  const auto found = evaluate(*parse_program(expression), {{"x", &left}, {"z", &right}}, options);
  std::vector<std::int64_t> out;
  for (std::int64_t n = 0; found.ok() && n < found->values.size(); ++n)
    out.push_back(found->values.integer_at(n));
  return out;
}

TEST(Oracle, WrapsIntegersAround) {
  constexpr std::int64_t largest = INT64_MAX, smallest = INT64_MIN;
  using Values = std::vector<std::int64_t>;
  EXPECT_EQ((Values{smallest, 2}), integers_of("y(i) = x(i) + z(i)", ValueType::i64, {largest, 1}, {1, 1}));
  EXPECT_EQ(
      (Values{-2, (std::int64_t{1} << 53) + 1}),
      integers_of("y(i) = x(i) * z(i)", ValueType::i64, {largest, (std::int64_t{1} << 53) + 1}, {2, 1}));
  EXPECT_EQ((Values{INT32_MIN}), integers_of("y(i) = x(i) + z(i)", ValueType::i32, {INT32_MAX}, {1}));
  EXPECT_EQ((Values{smallest}), integers_of("y(i) = abs(x(i)) + 0 * z(i)", ValueType::i64, {smallest}, {0}));
}

TEST(Oracle, KeepsTheInfiniteIntegersOfSemirings) {
  constexpr std::int64_t largest = INT64_MAX, smallest = INT64_MIN;
  using Values = std::vector<std::int64_t>;
  EXPECT_EQ((Values{largest, 3}),
            integers_of("min-plus: y(i) = x(i) * z(i)", ValueType::i64, {largest, 1}, {-5, 2}));
  EXPECT_EQ((Values{smallest, 3}),
            integers_of("max-plus: y(i) = x(i) * z(i)", ValueType::i64, {smallest, 1}, {5, 2}));
}

TEST(Comparing, IntegersMustBeEqual) {
  Expected expected{integers(ValueType::i64, {(std::int64_t{1} << 53) + 1}), *zeros({1}, ValueType::f64),
                    std::nullopt};
  EXPECT_EQ(0,
            compare(integers(ValueType::i64, {(std::int64_t{1} << 53) + 1}), expected)->max_relative_error);
  EXPECT_GT(compare(integers(ValueType::i64, {std::int64_t{1} << 53}), expected)->max_relative_error,
            tolerance(ValueType::i64));
}

}  // namespace
}  // namespace schaas::client
