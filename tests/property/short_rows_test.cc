// Values of a sparse result whose rows are short (compiler/lower/passes/loop_flattening.h) are what the
// oracle says, whatever the lengths of the rows that are walked as one list.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <random>

#include "schaas/kernel.h"
#include "schaas/oracle.h"
#include "tests/support/compiled_kernel.h"

namespace schaas {
namespace {

using client::CooTensor;
using client::Execution;
using client::ExecutionOptions;
using client::PackedTensor;
using client::ValueType;

constexpr const char* statement = "A(i,j) = B(i,j) * C(i,k) * D(j,k)";

/// Values are small multiples of 1/4, so that sums are exact in any order.
double some_value(std::mt19937_64& random) { return 0.25 * static_cast<double>(1 + random() % 8); }

/// Row i has lengths[i] entries.
CooTensor with_rows(const std::vector<std::int64_t>& lengths, std::int64_t columns, std::mt19937_64& random) {
  CooTensor out;
  out.extents = {static_cast<std::int64_t>(lengths.size()), columns};
  out.coordinates.resize(2);
  std::vector<std::int64_t> all(static_cast<std::size_t>(columns));
  std::iota(all.begin(), all.end(), 0);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    std::vector<std::int64_t> picked;
    std::sample(all.begin(), all.end(), std::back_inserter(picked), lengths[i], random);
    for (const auto j : picked) {
      out.coordinates[0].push_back(static_cast<std::int64_t>(i));
      out.coordinates[1].push_back(j);
      out.values.push_back(some_value(random));
    }
  }
  return out;
}

CooTensor dense(std::int64_t rows, std::int64_t columns, std::mt19937_64& random) {
  return with_rows(std::vector<std::int64_t>(static_cast<std::size_t>(rows), columns), columns, random);
}

struct Shape {
  const char* name;
  std::int64_t rows;
  std::function<std::int64_t(std::int64_t row, std::mt19937_64&)> length;
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all{
      {"empty", 130, [](auto, auto&) { return 0; }},
      {"one row", 1, [](auto, auto&) { return 5; }},
      {"one entry a row", 200, [](auto, auto&) { return 1; }},
      {"short", 1000, [](auto, auto& random) { return static_cast<std::int64_t>(random() % 9); }},
      {"short and long by turns", 777,
       [](auto row, auto& random) {
         return static_cast<std::int64_t>(random() % (row / 64 % 2 == 0 ? 8 : 40));
       }},
      // As many entries as fit the list, in the first of the rows, or the last.
      {"a long one first", 192, [](auto row, auto&) { return row % 64 == 0 ? 383 : 0; }},
      {"a long one last", 192, [](auto row, auto&) { return row % 64 == 63 ? 383 : 0; }},
      {"one too many", 192, [](auto row, auto&) { return row % 64 == 63 ? 384 : 0; }},
      {"longer than what is noted at once", 128,
       [](auto row, auto&) { return row % 16 == 3 ? 31 + row / 16 : row % 2; }},
  };
  return all;
}

TEST(ShortRows, ComputeWhatTheOracleSays) {
  const auto program = client::parse_program(statement).value();
  for (const int bits : {32, 64}) {
    problem::ProblemText text;
    text.expression = statement;
    text.formats = {{"A", "csr"}, {"B", "csr"}};
    text.position_bits = std::to_string(bits);
    const client::Kernel kernel = test_support::compiled_kernel(text, "linear");
    for (const Shape& shape : shapes()) {
      for (const std::int64_t width : {1, 8, 11, 16, 17}) {
        std::mt19937_64 random(7);
        std::vector<std::int64_t> lengths;
        for (std::int64_t i = 0; i < shape.rows; ++i) lengths.push_back(shape.length(i, random));
        const CooTensor b = with_rows(lengths, 400, random), c = dense(shape.rows, width, random),
                        d = dense(400, width, random);
        const auto expected = client::evaluate(program, {{"B", &b}, {"C", &c}, {"D", &d}}).value();
        const auto csr = format::parse("csr", 2, "A").value();
        const auto packed = [&](const CooTensor& entries, const format::TensorFormat& format,
                                const char* name) {
          return client::pack(entries, format, {name, ValueType::f64, bits}).value();
        };
        PackedTensor sparse = packed(b, csr, "B"), rows = packed(c, format::dense(2), "C"),
                     columns = packed(d, format::dense(2), "D");
        for (const int threads : {1, 3}) {
          SCOPED_TRACE(std::string(shape.name) + ", " + std::to_string(width) + " columns, " +
                       std::to_string(bits) + " bits, " + std::to_string(threads) + " threads");
          PackedTensor result = client::zeros(b.extents, csr, {"A", ValueType::f64, bits}).value();
          ExecutionOptions options;
          options.threads = threads;
          auto execution = Execution::prepare(kernel, {&result, &sparse, &rows, &columns}, options);
          ASSERT_TRUE(execution.ok()) << support::render(execution.error());
          ASSERT_TRUE(execution->run().ok());
          const CooTensor first = client::unpack(result);
          for (std::int64_t e = 0; e < result.stored(); ++e) result.values().as<double>()[e] = -1;
          ASSERT_TRUE(execution->rerun_values().ok());
          const CooTensor found = client::unpack(result);
          ASSERT_EQ(found.coordinates, b.coordinates);
          for (std::size_t e = 0; e < found.entries(); ++e) {
            const std::int64_t place = b.coordinates[0][e] * 400 + b.coordinates[1][e];
            ASSERT_EQ(found.values[e], expected.values.at(place)) << e;
          }
          EXPECT_EQ(found.values, first.values);
        }
      }
    }
  }
}

// Four entries at a time, beyond the ends of rows: sums and alternatives of products, comparisons and truths;
// and entries that are searched for.
TEST(ShortRows, FoldWhatTheOracleSays) {
  const std::vector<const char*> statements{
      "y(i) = B(i,j)",
      "y(i) = B(i,j) * x(j)",
      "y(i) = B(i,j) != 0",
      "y(i) = sum(j)(B(i,j) * (x(j) <= B(i,j)))",
      "y(i) = sum(j)(B(i,j) * not(x(j)))",
      "or-and: y(i) = B(i,j) * x(j)",
      "y(i) = or(j)(B(i,j) > 1)",
      "y(i) = or(j)(and(B(i,j), x(j), x(j) > 1))",
      "y(i) = B(i,i) + x(i)",
  };
  for (const char* folded : statements) {
    SCOPED_TRACE(folded);
    const auto program = client::parse_program(folded).value();
    problem::ProblemText text;
    text.expression = folded;
    text.formats = {{"B", "csr"}};
    text.position_bits = "32";
    const client::Kernel kernel = test_support::compiled_kernel(text, "linear");
    for (const Shape& shape : shapes()) {
      SCOPED_TRACE(shape.name);
      std::mt19937_64 random(11);
      std::vector<std::int64_t> lengths;
      for (std::int64_t i = 0; i < std::min<std::int64_t>(shape.rows, 200); ++i)
        lengths.push_back(shape.length(i, random));
      CooTensor b = with_rows(lengths, 200, random);
      CooTensor x = with_rows({200}, 200, random);
      x.extents = {200};
      x.coordinates.erase(x.coordinates.begin());
      for (double& value : b.values)
        if (random() % 3 == 0) value = random() % 2 == 0 ? 0 : -value;
      for (double& value : x.values)
        if (random() % 2 == 0) value = 0;
      b.extents[0] = 200;
      const auto expected = client::evaluate(program, {{"B", &b}, {"x", &x}}).value();
      PackedTensor sparse =
          client::pack(b, format::parse("csr", 2, "B").value(), {"B", ValueType::f64, 32}).value();
      PackedTensor vector = client::pack(x, format::dense(1), {"x", ValueType::f64, 32}).value();
      PackedTensor result = client::zeros({200}, format::dense(1), {"y", ValueType::f64, 32}).value();
      std::vector<PackedTensor*> arguments{&result, &sparse};
      if (std::string(folded).find("x(") != std::string::npos) arguments.push_back(&vector);
      auto execution = Execution::prepare(kernel, arguments, {});
      ASSERT_TRUE(execution.ok()) << support::render(execution.error());
      ASSERT_TRUE(execution->run().ok());
      const auto compared = client::compare(result, expected);
      ASSERT_TRUE(compared.ok()) << support::render(compared.error());
      EXPECT_EQ(compared->checked, 200);
      EXPECT_EQ(compared->max_relative_error, 0) << compared->worst;
    }
  }
}

}  // namespace
}  // namespace schaas
