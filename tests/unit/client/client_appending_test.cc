// Results that are appended row after row: the arrays grow a few times, however long a row may become.
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "client/cpp/platform/team.h"
#include "client/cpp/runtime/appending.h"
#include "client/cpp/runtime/entry_bound.h"

namespace schaas::client {
namespace {

constexpr std::int64_t per_row = 3;
int calls = 0;
int moves = 0;  // how often the phase below was given another array of values
const void* last_array = nullptr;

// Row i holds columns i, i + 1, i + 2 of as many as there are, each with its column as value.
std::int32_t three_a_row(const schaas_tensor* const* args, void* const* shared, void*, std::int64_t begin,
                         std::int64_t end) {
  ++calls;
  const schaas_level& level = args[0]->levels[1];
  auto* pos = const_cast<std::int32_t*>(static_cast<const std::int32_t*>(level.pos));
  auto* crd = const_cast<std::int32_t*>(static_cast<const std::int32_t*>(level.crd));
  auto* values = static_cast<double*>(args[0]->values);
  if (std::exchange(last_array, values) != values) ++moves;
  std::int64_t at = static_cast<const std::int64_t*>(shared[0])[begin];
  for (std::int64_t row = begin; row < end; ++row) {
    for (std::int64_t n = 0; n < per_row; ++n, ++at) {
      crd[at] = static_cast<std::int32_t>(row + n);
      values[at] = static_cast<double>(row + n);
    }
    pos[row + 1] = static_cast<std::int32_t>(at);
  }
  return SCHAAS_OK;
}

const format::TensorFormat csr{{format::LevelFormat::dense, format::LevelFormat::compressed}, {0, 1}};

TEST(Appending, GrowsGeometricallyHoweverLongARowMayBecome) {
  constexpr std::int64_t rows = 20'000, columns = 100'000;
  PackedTensor result = *zeros({rows, columns}, csr, {"A", ValueType::f64, 32});
  std::vector<std::int64_t> counter(rows + 1);
  void* const shared[] = {counter.data(), nullptr};
  schaas_phase phase{};
  phase.run = three_a_row;
  const schaas_tensor view = result.view();
  const std::vector<const schaas_tensor*> arguments{&view};
  for (const int threads : {1, 2}) {
    std::vector<client::Task> tasks(2);
    tasks[0].begin = 0, tasks[0].end = rows / 2, tasks[1].begin = rows / 2, tasks[1].end = rows;
    Appending appending(phase, result, arguments, counter.data(), tasks, threads, std::nullopt, "A");
    ASSERT_TRUE(appending.start().ok());
    moves = 0;
    for (std::size_t n = 0; n < tasks.size(); ++n)
      ASSERT_EQ(appending.run(n, static_cast<int>(n) % threads, shared, nullptr), SCHAAS_OK);
    EXPECT_LE(moves, 8);  // not one for each row
    Team team = Team::exactly(threads);
    ASSERT_TRUE(*appending.finish(team));
    ASSERT_EQ(result.stored(), rows * per_row);
    EXPECT_TRUE(validate(result.view(), "A").ok());
    for (std::int64_t e = 0; e < result.stored(); ++e)
      ASSERT_EQ(result.value(e), static_cast<double>(e / per_row + e % per_row));
    EXPECT_LE(result.values().capacity(),
              std::size_t{4} * 8 * rows * per_row);  // what is left over is given back
  }
}

TEST(Appending, DoesNotGrowWhileTheResultHoldsNoMoreThanTheOperands) {
  constexpr std::int64_t rows = 3'000, columns = 20'000;
  PackedTensor result = *zeros({rows, columns}, csr, {"A", ValueType::f64, 32});
  CooTensor entries{{rows, columns}, {{}, {}}, {}};
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t n = 0; n < per_row; ++n) {
      entries.coordinates[0].push_back(row);
      entries.coordinates[1].push_back(row + n);
      entries.values.push_back(1);
    }
  }
  const PackedTensor operand = *pack(entries, csr, {"B", ValueType::f64, 32});
  std::vector<std::int64_t> counter(rows + 1);
  void* const shared[] = {counter.data(), nullptr};
  schaas_phase phase{};
  phase.run = three_a_row;
  const schaas_tensor view = result.view(), read = operand.view();
  const std::vector<const schaas_tensor*> arguments{&view, &read};
  std::vector<client::Task> tasks(1);
  tasks[0].begin = 0, tasks[0].end = rows;
  Appending appending(phase, result, arguments, counter.data(), tasks, 1, std::nullopt, "A");
  ASSERT_TRUE(appending.start().ok());
  moves = 0, calls = 0, last_array = nullptr;
  ASSERT_EQ(appending.run(0, 0, shared, nullptr), SCHAAS_OK);
  EXPECT_EQ(moves, 1);          // the first arrays suffice to the last row
  EXPECT_LT(calls, rows / 10);  // each takes all rows that have room together
}

TEST(Appending, CallsOnceWhereTheEntriesAreBounded) {
  constexpr std::int64_t rows = 3'000, columns = 20'000;
  PackedTensor result = *zeros({rows, columns}, csr, {"A", ValueType::f64, 32});
  std::vector<std::int64_t> counter(rows + 1);
  void* const shared[] = {counter.data(), nullptr};
  schaas_phase phase{};
  phase.run = three_a_row;
  const schaas_tensor view = result.view();
  const std::vector<const schaas_tensor*> arguments{&view};
  std::vector<client::Task> tasks(1);
  tasks[0].begin = 0, tasks[0].end = rows;
  Appending appending(phase, result, arguments, counter.data(), tasks, 1, rows * per_row, "A");
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(appending.start().ok());
    calls = 0;
    ASSERT_EQ(appending.run(0, 0, shared, nullptr), SCHAAS_OK);
    EXPECT_EQ(calls, 1);
    Team team = Team::exactly(1);
    ASSERT_TRUE(*appending.finish(team));
    EXPECT_EQ(result.stored(), rows * per_row);
    EXPECT_TRUE(validate(result.view(), "A").ok());
  }
}

const format::TensorFormat by_rows{{format::LevelFormat::compressed, format::LevelFormat::dense}, {0, 1}};

std::optional<std::int64_t> bound_of(const std::string& statement, const std::string& formats) {
  const auto problem = parse_kernel_problem("schaas-problem 1\n" + statement + "\n" + formats, {});
  if (!problem.ok()) throw std::runtime_error(problem.error().message);
  CooTensor entries{{4, 4}, {{0, 1, 2}, {1, 2, 3}}, {1, 1, 1}};
  const PackedTensor sparse = *pack(entries, csr, {"B", ValueType::f64, 32});
  const PackedTensor full = *zeros({4, 4}, format::dense(2), {"D", ValueType::f64, 32});
  const PackedTensor rows = *pack(entries, by_rows, {"R", ValueType::f64, 32});
  const schaas_tensor three = sparse.view(), all = full.view(), whole_rows = rows.view();
  std::vector<const schaas_tensor*> arguments;
  for (const auto& tensor : problem->tensors)
    arguments.push_back(problem->formats.at(tensor) == "dense,dense:0,1"        ? &all
                        : problem->formats.at(tensor) == "compressed,dense:0,1" ? &whole_rows
                                                                                : &three);
  return entry_bound(*problem, arguments);
}

// Found by fuzzing: a coordinate in an access ended the program.
TEST(KernelProblems, HaveIndexVariablesAlone) {
  const auto message = [](const std::string& statement) {
    const auto problem = parse_kernel_problem(
        "schaas-problem 1\n" + statement +
            "\nformat A dense,dense:0,1\nformat B dense,dense:0,1\nformat T dense,dense:0,1\n",
        {});
    return problem.ok() ? "" : support::render(problem.error());
  };
  EXPECT_EQ(message("A(i,l) = B(i,l) * 2"), "");
  EXPECT_EQ(message("A(i,l) = B(2,l) * B(i,l)"),
            "invalid [kernel-problem]: the kernel's problem text cannot be read: `B` is accessed at a "
            "coordinate");
  EXPECT_EQ(message("T(i,j) = B(i,j) * 2; A(i,l) = T(2,l) * B(i,l)"),
            "invalid [kernel-problem]: the kernel's problem text cannot be read: `T` is accessed at a "
            "coordinate");
}

TEST(EntryBound, IsTheEntriesOfOperandsThatAreWalked) {
  const std::string sparse =
      "format A dense,compressed:0,1\nformat B dense,compressed:0,1\nformat C dense,compressed:0,1\n";
  EXPECT_EQ(bound_of("A(i,j) = B(i,j) + C(i,j)", sparse), 6);
  EXPECT_EQ(bound_of("A(i,j) = B(i,j) - 2 * C(i,j) / 3", sparse), 6);
  EXPECT_EQ(bound_of("A(i,j) = B(i,j) * C(i,j)", sparse), 6);
  EXPECT_EQ(bound_of("A(i,j) = -B(i,j) + B(i,j) * C(i,j)", sparse), 9);
  EXPECT_EQ(bound_of("A(i,j) = abs(B(i,j))", sparse), 3);
  EXPECT_EQ(bound_of("A(i,j) = pow(B(i,j), 3) / 2", sparse), 3);
  EXPECT_EQ(bound_of("A(i,j) = B(i,j) * (B(i,j) > 1)", sparse), 6);
  EXPECT_EQ(bound_of("A(i,j) = max(B(i,j), C(i,j))", sparse), 6);
  EXPECT_EQ(bound_of("A(i,j) = where(B(i,j) > 0, C(i,j), 0)", sparse), 3);
  EXPECT_EQ(bound_of("A(i,j) = exp(B(i,j)) - 1", sparse), 3);
  const std::string beside = sparse + "format D dense,dense:0,1\n";
  EXPECT_EQ(bound_of("A(i,j) = B(i,j) * D(i,j) + C(i,j)", beside), 6);
  EXPECT_EQ(bound_of("A(i,j) = where(B(i,j) > 0, D(i,j), 0)", beside), 3);
  const std::string rows = "format A dense,compressed:0,1\nformat B compressed,dense:0,1\n";
  EXPECT_EQ(bound_of("A(i,j) = B(i,j) / 2", rows), 12) << "three rows of four";
}

TEST(EntryBound, IsUnknownWhereEntriesAreSummedOrOperandsDense) {
  const std::string sparse =
      "format A dense,compressed:0,1\nformat B dense,compressed:0,1\nformat C dense,compressed:0,1\n";
  EXPECT_EQ(bound_of("A(i,k) = B(i,j) * C(j,k)", sparse), std::nullopt);
  EXPECT_EQ(bound_of("A(i,j) = B(i,j) + C(i,j) + 1", sparse), std::nullopt);
  EXPECT_EQ(bound_of("A(i,j) = exp(B(i,j)) * 2 + C(i,j)", sparse), std::nullopt);
  EXPECT_EQ(bound_of("A(i,j) = 2 / B(i,j) + C(i,j)", sparse), std::nullopt);
  EXPECT_EQ(bound_of("A(i,j) = max(B(i,j), 1)", sparse), std::nullopt);
  EXPECT_EQ(bound_of("A(i,j) = where(B(i,j) > 0, 0, C(i,j) + 1)", sparse), std::nullopt);
  const std::string beside = sparse + "format D dense,dense:0,1\n";
  EXPECT_EQ(bound_of("A(i,j) = B(i,j) + D(i,j)", beside), std::nullopt);
}

}  // namespace
}  // namespace schaas::client
