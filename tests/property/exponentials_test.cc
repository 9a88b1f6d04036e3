// exp, tanh, log, sin and others of kernels: within their bounds of the true values, and the same in a row,
// in a list and beyond the last whole register (compiler/codegen/runtime/exponential.h).
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "schaas/kernel.h"
#include "tests/support/compiled_kernel.h"

namespace schaas {
namespace {

using client::CooTensor;
using client::ValueType;

struct Function {
  const char* name;
  long double (*exact)(long double);
  double ulp;  ///< allowed error in units of the last digit (ulp)
};

long double exact_sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }

const Function functions[] = {
    {"exp", std::exp, 1.1}, {"expm1", std::expm1, 2}, {"tanh", std::tanh, 3}, {"sigmoid", exact_sigmoid, 3},
    {"log", std::log, 1.1}, {"log1p", std::log1p, 2}, {"sin", std::sin, 2},   {"cos", std::cos, 2}};

/// Whole and fractional numbers of all sizes, and those at which ranges end.
std::vector<double> arguments() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> all{
      0.0,  -0.0,  infinity, -infinity,       std::nan(""), 1e300, -1e300, 709.78, 709.79, -745.1, -745.2,
      -708, 88.72, 88.73,    -103.9,          -104,         1,     -1,     22,     5e-324, 1e5,    1e6,
      1e7,  8191,  8193,     3.14159265358979};
  std::mt19937_64 random(20261126);
  const auto draw = [&] { return 2 * std::generate_canonical<double, 53>(random) - 1; };
  for (const double width : {1e6, 750.0, 110.0, 40.0, 2.0, 0.7, 1e-3, 1e-9, 1e-300})
    for (int n = 0; n < 999; ++n) all.push_back(width * draw());
  return all;
}

template <class Value>
double ulp_off(Value found, long double exact) {
  const Value wanted = static_cast<Value>(exact);
  if (found == wanted || (std::isnan(found) && std::isnan(exact))) return 0;
  if (!std::isfinite(found) || !std::isfinite(wanted)) return std::numeric_limits<double>::infinity();
  const Value next = std::nextafter(std::abs(wanted), std::numeric_limits<Value>::infinity());
  return static_cast<double>(std::abs(static_cast<long double>(found) - exact) / (next - std::abs(wanted)));
}

class Exponentials : public ::testing::TestWithParam<std::tuple<std::string, ValueType>> {
 protected:
  /// The function of a row of numbers, which is stored as `format`.
  std::vector<double> compute(const std::string& name, const std::string& format, const CooTensor& given) {
    const auto& [isa, type] = GetParam();
    problem::ProblemText text;
    text.expression = "A(i,j) = where(B(i,j) == B(i,j), " + name + "(B(i,j)), B(i,j))";
    if (format != "dense") text.expression = "A(i,j) = where(B(i,j) != 0, " + name + "(B(i,j)), 0)";
    text.formats = {{"A", format}, {"B", format}};
    text.value_type = type == ValueType::f64 ? "f64" : "f32";
    const client::Kernel kernel = test_support::compiled_kernel(text, "linear", isa);
    const auto stored = format::parse(format, 2, "B").value();
    auto result = client::zeros(given.extents, stored, {"A", type, 64}).value();
    auto operand = client::pack(given, stored, {"B", type, 64}).value();
    auto execution = client::Execution::prepare(kernel, {&result, &operand}, {});
    EXPECT_TRUE(execution.ok()) << support::render(execution.error());
    EXPECT_TRUE(execution->run().ok());
    std::vector<double> out(static_cast<std::size_t>(given.extents[1]));
    const CooTensor found = client::unpack(result);
    for (std::size_t n = 0; n < found.values.size(); ++n)
      out[static_cast<std::size_t>(found.coordinates[1][n])] = found.values[n];
    return out;
  }
};

template <class Value>
void compare(const Function& function, const std::vector<double>& given, const std::vector<double>& found) {
  for (std::size_t n = 0; n < given.size(); ++n) {
    const auto exact = function.exact(static_cast<Value>(given[n]));
    EXPECT_LE(ulp_off(static_cast<Value>(found[n]), exact), function.ulp)
        << function.name << " of " << given[n] << " is " << found[n];
  }
}

TEST_P(Exponentials, AreNearTheTrueValuesWhereverTheyAreComputed) {
  const std::vector<double> given = arguments();
  CooTensor row;
  row.extents = {1, static_cast<std::int64_t>(given.size())};
  row.coordinates.resize(2);
  for (std::size_t n = 0; n < given.size(); ++n) {
    row.coordinates[0].push_back(0);
    row.coordinates[1].push_back(static_cast<std::int64_t>(n));
  }
  row.values = given;
  for (const Function& function : functions) {
    const auto in_row = compute(function.name, "dense", row), in_list = compute(function.name, "csr", row);
    if (std::get<ValueType>(GetParam()) == ValueType::f64)
      compare<double>(function, given, in_row);
    else
      compare<float>(function, given, in_row);
    for (std::size_t n = 0; n < given.size(); ++n) {
      if (static_cast<float>(given[n]) == 0) continue;
      EXPECT_TRUE(in_row[n] == in_list[n] || (std::isnan(in_row[n]) && std::isnan(in_list[n])))
          << function.name << " of " << given[n] << ": " << in_row[n] << ", in a list " << in_list[n];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, Exponentials,
                         ::testing::Combine(::testing::ValuesIn(test_support::instruction_sets()),
                                            ::testing::Values(ValueType::f64, ValueType::f32)));

}  // namespace
}  // namespace schaas
