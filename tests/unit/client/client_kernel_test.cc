// Loading and running a kernel: the digest before anything else, the descriptor, the arguments, the pieces.
#include "schaas/kernel.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "client/cpp/runtime/balance.h"
#include "schaas/fill.h"
#include "schaas/host.h"
#include "schaas/oracle.h"

namespace schaas::client {
namespace {

std::string fixture(const std::string& variant) {
  std::ifstream file(std::string(SCHAAS_FIXTURE_DIR) + "/libclient_kernel_" + variant + ".so",
                     std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  EXPECT_FALSE(bytes.str().empty()) << variant;
  return bytes.str();
}

support::Result<Kernel> load(const std::string& bytes) {
  return Kernel::load(bytes, support::digest_of(bytes));
}

const format::TensorFormat csr{{format::LevelFormat::dense, format::LevelFormat::compressed}, {0, 1}};

CooTensor random_matrix(std::uint64_t seed, std::int64_t rows, std::int64_t columns, int entries) {
  std::mt19937_64 random(seed);
  CooTensor tensor;
  tensor.extents = {rows, columns};
  tensor.coordinates.resize(2);
  for (int e = 0; e < entries; ++e) {
    const auto r = static_cast<std::int64_t>(random() % rows);
    tensor.coordinates[0].push_back(e % 2 == 0 ? r : r % 3);  // a few heavy rows
    tensor.coordinates[1].push_back(static_cast<std::int64_t>(random() % columns));
    tensor.values.push_back(static_cast<double>(random() % 17) / 8 - 1);
  }
  return tensor;
}

// The arguments of A(i,k) = B(i,j) * C(j,k).
struct Arguments {
  CooTensor b_entries = random_matrix(1, 200, 90, 3000);
  DenseTensor c_values = *fill("C", {90, 13}, 5, ValueType::f64);
  PackedTensor a = *zeros({200, 13}, format::dense(2), {"A", ValueType::f64, 32});
  PackedTensor b = *pack(b_entries, csr, {"B", ValueType::f64, 32});
  PackedTensor c = *pack(c_values, format::dense(2), {"C", ValueType::f64, 32});
  std::vector<PackedTensor*> all() { return {&a, &b, &c}; }
};

TEST(Loading, checks_the_digest_before_anything_else) {
  const std::string bytes = fixture("good");
  support::Digest digest = support::digest_of(bytes);
  std::string damaged = bytes;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  const auto kernel = Kernel::load(damaged, digest);
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().code, "kernel-digest");
  EXPECT_EQ(kernel.error().message, "the kernel binary has digest " + support::digest_of(damaged).sha256 +
                                        " (" + std::to_string(bytes.size()) + " bytes), expected " +
                                        digest.sha256 + " (" + std::to_string(bytes.size()) +
                                        " bytes); it was not loaded");
}

TEST(Loading, refuses_what_is_no_library) {
  const auto kernel = load("not a library");
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().code, "kernel-binary");
}

TEST(Loading, refuses_a_library_without_descriptor) {
  const auto kernel = load(fixture("no_symbol"));
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(support::render(kernel.error()),
            "invalid [kernel-binary]: the kernel binary cannot be used: it has no symbol `schaas_kernel`");
}

TEST(Loading, refuses_another_abi) {
  EXPECT_EQ(support::render(load(fixture("abi")).error()),
            "invalid [kernel-abi]: the kernel has ABI version 99, this client runs version " +
                std::to_string(SCHAAS_KERNEL_ABI_VERSION) +
                "\n  note: install client and server of one version");
}

TEST(Loading, refuses_another_processor) {
  EXPECT_EQ(support::render(load(fixture("isa")).error()),
            "unsupported [kernel-isa]: the kernel is compiled for pdp-11, this processor runs " + host_isa());
}

TEST(Loading, two_kernels_live_side_by_side) {
  const auto first = load(fixture("good"));
  const auto second = load(fixture("failing"));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(&first->descriptor(), &second->descriptor());
  EXPECT_EQ(first->key(), "00ff");
  EXPECT_EQ(first->schedule(), "trace");
}

TEST(KernelProblem, FixesTheExtentsOfTheDescriptor) {
  const auto kernel = load(fixture("fixed"));
  ASSERT_TRUE(kernel.ok());
  Arguments arguments;
  EXPECT_EQ(support::render(Execution::prepare(*kernel, arguments.all()).error()),
            "invalid [extent-bound]: mode 2 of `A` has extent 13, but the kernel is made for 64: take a "
            "schedule without this `bound`");
  DenseTensor c_values = *fill("C", {90, 64}, 5, ValueType::f64);
  arguments.a = *zeros({200, 64}, format::dense(2), {"A", ValueType::f64, 32});
  arguments.c = *pack(c_values, format::dense(2), {"C", ValueType::f64, 32});
  EXPECT_TRUE(Execution::prepare(*kernel, arguments.all()).ok());
}

TEST(KernelProblem, RefusesAFixedExtentOfNoMode) {
  const auto kernel = load(fixture("fixed_nowhere"));
  ASSERT_TRUE(kernel.ok());
  Arguments arguments;
  EXPECT_EQ(support::render(Execution::prepare(*kernel, arguments.all()).error()),
            "invalid [kernel-binary]: the kernel fixes an extent of a mode that no argument has");
}

TEST(Running, agrees_with_the_oracle_on_any_number_of_threads) {
  const auto kernel = load(fixture("good"));
  ASSERT_TRUE(kernel.ok());
  Arguments arguments;
  const auto expected = evaluate(*parse_program("A(i,k) = B(i,j) * C(j,k)"),
                                 {{"B", &arguments.b_entries}, {"C", &arguments.c_values}});
  ASSERT_TRUE(expected.ok());
  for (const int threads : {1, 2, 5}) {
    auto execution = Execution::prepare(*kernel, arguments.all(), {threads, 12, {}});
    ASSERT_TRUE(execution.ok()) << support::render(execution.error());
    EXPECT_EQ(execution->threads(), threads);
    EXPECT_EQ(execution->scratch_bytes(), threads * 13 * 8);
    EXPECT_EQ(execution->shared_bytes(), 200 * 8);
    for (int repeat = 0; repeat < 3; ++repeat) {  // results and shared arrays start from zero each time
      ASSERT_TRUE(execution->run().ok());
      const auto comparison = compare(*to_dense(arguments.a), *expected);
      ASSERT_TRUE(comparison.ok());
      EXPECT_LE(comparison->max_relative_error, 1e-14);
    }
  }
}

TEST(Running, reports_the_kernels_error) {
  const auto kernel = load(fixture("failing"));
  ASSERT_TRUE(kernel.ok());
  Arguments arguments;
  auto execution = Execution::prepare(*kernel, arguments.all(), {2, 12, {}});
  ASSERT_TRUE(execution.ok());
  const auto result = execution->run();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(support::render(result.error()), "internal [kernel-failed]: kernel 00ff returned error 1");
}

TEST(Running, updates_start_from_what_the_result_holds) {
  const auto kernel = load(fixture("update"));
  ASSERT_TRUE(kernel.ok());
  Arguments arguments;
  auto once = Execution::prepare(*load(fixture("good")), arguments.all(), {2, 12, {}});
  ASSERT_TRUE(once.ok() && once->run().ok());
  const DenseTensor product = *to_dense(arguments.a);
  auto execution = Execution::prepare(*kernel, arguments.all(), {2, 12, {}});
  ASSERT_TRUE(execution.ok()) << support::render(execution.error());
  ASSERT_TRUE(execution->run().ok() && execution->rerun_values().ok());
  const DenseTensor sum = *to_dense(arguments.a);
  for (std::int64_t e = 0; e < sum.size(); ++e) EXPECT_NEAR(sum.at(e), 3 * product.at(e), 1e-12);
}

TEST(Running, results_start_from_the_kernels_fill_value) {
  Arguments arguments;
  auto plain = Execution::prepare(*load(fixture("good")), arguments.all(), {2, 12, {}});
  ASSERT_TRUE(plain.ok() && plain->run().ok());
  const DenseTensor product = *to_dense(arguments.a);
  auto filled = Execution::prepare(*load(fixture("filled")), arguments.all(), {2, 12, {}});
  ASSERT_TRUE(filled.ok() && filled->run().ok());
  EXPECT_EQ(arguments.a.fill_value(), 0.5);
  const DenseTensor sum = *to_dense(arguments.a);
  for (std::int64_t e = 0; e < sum.size(); ++e) EXPECT_NEAR(sum.at(e), product.at(e) + 0.5, 1e-12);
}

class ArgumentChecks : public ::testing::Test {
 protected:
  std::string message(std::vector<PackedTensor*> given) {
    const auto kernel = load(fixture("good"));
    const auto execution = Execution::prepare(*kernel, std::move(given), {1, 12, {"Y", "M", "X"}});
    return execution.ok() ? "" : support::render(execution.error());
  }
  Arguments arguments;
};

TEST_F(ArgumentChecks, accept_what_fits) { EXPECT_EQ(message(arguments.all()), ""); }
TEST_F(ArgumentChecks, number) {
  EXPECT_EQ(message({&arguments.a, &arguments.b}),
            "invalid [argument-count]: the kernel takes 3 tensors, 2 were given");
}
TEST_F(ArgumentChecks, format) {
  const format::TensorFormat csc{csr.levels, {1, 0}};
  arguments.b = *pack(arguments.b_entries, csc, {"B", ValueType::f64, 32});
  EXPECT_EQ(message(arguments.all()),
            "invalid [argument-format]: `M` is stored as dense,compressed:1,0, the kernel expects "
            "dense,compressed:0,1");
}
TEST_F(ArgumentChecks, order) {
  arguments.c = *zeros({90}, format::dense(1), {"C", ValueType::f64, 32});
  EXPECT_EQ(message(arguments.all()), "invalid [argument-format]: `X` has 1 modes, the kernel expects 2");
}
TEST_F(ArgumentChecks, value_type) {
  arguments.c = *pack(arguments.c_values, format::dense(2), {"C", ValueType::f32, 32});
  EXPECT_EQ(message(arguments.all()),
            "invalid [argument-type]: `X` holds f32 values, the kernel expects f64");
}
TEST_F(ArgumentChecks, positions) {
  arguments.b = *pack(arguments.b_entries, csr, {"B", ValueType::f64, 64});
  EXPECT_EQ(message(arguments.all()),
            "invalid [argument-positions]: `M` has 64-bit positions, the kernel expects 32");
}
TEST_F(ArgumentChecks, extents) {
  arguments.c = *zeros({91, 13}, format::dense(2), {"C", ValueType::f64, 32});
  EXPECT_EQ(
      message(arguments.all()),
      "invalid [extent-mismatch]: mode 1 of `X` has extent 91, but the same index has extent 90 in `M`");
}

// ---- pieces

using Borders = std::vector<std::int64_t>;

TEST(Balance, equal_iterations_are_cut_evenly) {
  EXPECT_EQ(cut_range(10, 4, nullptr), (Borders{0, 2, 5, 7, 10}));
  EXPECT_EQ(cut_range(3, 8, nullptr), (Borders{0, 1, 2, 3}));
  EXPECT_EQ(cut_range(0, 8, nullptr), (Borders{0}));
}

TEST(Balance, weights_follow_the_entries) {
  const std::int32_t pos[] = {0, 90, 90, 90, 91, 92, 93, 94, 95, 96};  // one heavy row, then light ones
  const schaas_level level{SCHAAS_LEVEL_COMPRESSED, 32, pos, nullptr, 96};
  EXPECT_EQ(cut_range(9, 3, &level), (Borders{0, 1, 9}));
}

TEST(Balance, iterations_with_most_of_the_entries_are_cut) {
  const std::int32_t pos[] = {0, 2, 92, 93, 94};  // the second row holds 90 of 94
  const schaas_level level{SCHAAS_LEVEL_COMPRESSED, 32, pos, nullptr, 94};
  const auto text = [](const std::vector<client::Task>& tasks) {
    std::ostringstream out;
    for (const client::Task& task : tasks) {
      out << task.begin << "-" << task.end;
      if (task.is_part()) out << "[" << task.first << "," << task.last << ")";
      out << " ";
    }
    return out.str();
  };
  EXPECT_EQ(text(tasks_between({0, 4}, &level, 30, 100)), "0-1 1-2[2,32) 1-2[32,62) 1-2[62,92) 2-4 ");
  EXPECT_EQ(text(tasks_between({0, 2, 4}, &level, 50, 100)), "0-1 1-2[2,47) 1-2[47,92) 2-4 ");
  EXPECT_EQ(text(tasks_between({0, 4}, &level, 1, 2)), "0-1[0,1) 0-1[1,2) 1-2[2,47) 1-2[47,92) 2-4 ");
  EXPECT_EQ(text(tasks_between({0, 4}, &level, 90, 100)), "0-4 ");
  EXPECT_EQ(text(tasks_between({0, 4}, nullptr, 1, 100)), "0-4 ");
  EXPECT_EQ(text(tasks_between({0}, &level, 1, 100)), "");
}

TEST(Balance, runs_are_grouped_by_weight) {
  const std::int32_t pos[] = {0, 2, 92, 93, 94};
  const schaas_level level{SCHAAS_LEVEL_COMPRESSED, 32, pos, nullptr, 94};
  const auto runs = tasks_between({0, 4}, &level, 30, 100);  // weights 3, 30, 30, 30, 4
  EXPECT_EQ(group(runs, &level, 2), (std::vector<std::size_t>{0, 3, 5}));
  EXPECT_EQ(group(runs, &level, 1), (std::vector<std::size_t>{0, 5}));
  EXPECT_EQ(group(runs, &level, 50), (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(group({}, &level, 3), (std::vector<std::size_t>{0}));
}

TEST(Balance, borders_ascend_and_cover_the_range_for_random_weights) {
  const std::uint64_t seed = 77;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 200; ++trial) {
    const auto range = static_cast<std::int64_t>(random() % 300);
    std::vector<std::int64_t> pos(range + 1, 0);
    std::int64_t heaviest = 0;
    for (std::int64_t p = 0; p < range; ++p) {
      const auto weight = static_cast<std::int64_t>(random() % 40 == 0 ? random() % 1000 : random() % 5);
      heaviest = std::max(heaviest, weight);
      pos[p + 1] = pos[p] + weight;
    }
    const schaas_level level{SCHAAS_LEVEL_COMPRESSED, 64, pos.data(), nullptr, pos[range]};
    const auto pieces = static_cast<std::int64_t>(1 + random() % 20);
    const Borders borders = cut_range(range, pieces, &level);
    ASSERT_EQ(borders.front(), 0);
    ASSERT_EQ(borders.back(), range);
    ASSERT_LE(static_cast<std::int64_t>(borders.size()) - 1, pieces);
    for (std::size_t b = 1; b < borders.size(); ++b) {
      ASSERT_LT(borders[b - 1], borders[b]);
      const std::int64_t weight = pos[borders[b]] - pos[borders[b - 1]] + borders[b] - borders[b - 1];
      ASSERT_LE(weight, (pos[range] + range) / pieces + heaviest + 2);
    }
  }
}

}  // namespace
}  // namespace schaas::client
