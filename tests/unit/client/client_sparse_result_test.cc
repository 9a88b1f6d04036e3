// Results with compressed levels: count, scan, allocate, fill.
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "client/cpp/platform/scan.h"
#include "schaas/kernel.h"
#include "schaas/oracle.h"
#include "schaas/tensor_files.h"

namespace schaas::client {
namespace {

support::Result<Kernel> load(const std::string& variant) {
  std::ifstream file(std::string(SCHAAS_FIXTURE_DIR) + "/libclient_sparse_kernel_" + variant + ".so",
                     std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  EXPECT_FALSE(bytes.str().empty()) << variant;
  return Kernel::load(bytes.str(), support::digest_of(bytes.str()));
}

const format::TensorFormat csr{{format::LevelFormat::dense, format::LevelFormat::compressed}, {0, 1}};
const format::TensorFormat dcsr{{format::LevelFormat::compressed, format::LevelFormat::compressed}, {0, 1}};

CooTensor random_matrix(std::uint64_t seed, std::int64_t rows, std::int64_t columns, int entries) {
  std::mt19937_64 random(seed);
  CooTensor tensor;
  tensor.extents = {rows, columns};
  tensor.coordinates.resize(2);
  for (int e = 0; e < entries; ++e) {
    const auto r = static_cast<std::int64_t>(random() % rows);
    tensor.coordinates[0].push_back(e % 2 == 0 ? r : r % 3);
    tensor.coordinates[1].push_back(static_cast<std::int64_t>(random() % columns));
    tensor.values.push_back(static_cast<double>(1 + random() % 16) / 8);  // positive: nothing cancels
  }
  return tensor;
}

// The arguments of A(i,j) = B(i,k) * C(k,j), all csr.
struct Product {
  explicit Product(int bits = 32, int entries = 400)
      : b_entries(random_matrix(1, 200, 90, entries)),
        c_entries(random_matrix(2, 90, 70, entries)),
        a(*zeros({200, 70}, csr, {"A", ValueType::f64, bits})),
        b(*pack(b_entries, csr, {"B", ValueType::f64, bits})),
        c(*pack(c_entries, csr, {"C", ValueType::f64, bits})) {}
  std::vector<PackedTensor*> all() { return {&a, &b, &c}; }
  Expected expected() const {
    return *evaluate(*parse_program("A(i,j) = B(i,k) * C(k,j)"), {{"B", &b_entries}, {"C", &c_entries}});
  }

  CooTensor b_entries, c_entries;
  PackedTensor a, b, c;
};

void expect_close(const PackedTensor& result, const Expected& expected) {
  const auto valid = validate(result.view(), "A");
  ASSERT_TRUE(valid.ok()) << support::render(valid.error());
  const auto comparison = compare(*to_dense(result), expected);
  ASSERT_TRUE(comparison.ok());
  EXPECT_LE(comparison->max_relative_error, 1e-14);
}

std::int64_t nonzeros(const Expected& expected) {
  std::int64_t count = 0;
  for (std::int64_t e = 0; e < expected.values.size(); ++e) count += expected.values.at(e) != 0;
  return count;
}

TEST(SparseResult, agrees_with_the_oracle_on_any_number_of_threads) {
  for (const int bits : {32, 64}) {
    const auto kernel = load(bits == 32 ? "product" : "product64");
    ASSERT_TRUE(kernel.ok()) << support::render(kernel.error());
    Product arguments(bits);
    const Expected expected = arguments.expected();
    for (const int threads : {1, 2, 5}) {
      auto execution = Execution::prepare(*kernel, arguments.all(), {threads, 12, {}});
      ASSERT_TRUE(execution.ok()) << support::render(execution.error());
      for (int repeat = 0; repeat < 3; ++repeat) {
        ASSERT_TRUE(execution->run().ok());
        expect_close(arguments.a, expected);
        EXPECT_EQ(arguments.a.stored(), nonzeros(expected));
      }
    }
  }
}

TEST(SparseResult, counts_every_compressed_level) {
  const auto kernel = load("dcsr");
  const CooTensor b_entries = random_matrix(3, 300, 40, 120);
  CooTensor c_entries{{40}, {{}}, {}};
  for (std::int64_t j = 0; j < 40; j += 3) {
    c_entries.coordinates[0].push_back(j);
    c_entries.values.push_back(static_cast<double>(j) + 1);
  }
  PackedTensor a = *zeros({300, 40}, dcsr, {"A", ValueType::f64, 32});
  PackedTensor b = *pack(b_entries, dcsr, {"B", ValueType::f64, 32});
  PackedTensor c = *pack(c_entries, format::dense(1), {"C", ValueType::f64, 32});
  const auto expected =
      evaluate(*parse_program("A(i,j) = B(i,j) * C(j)"), {{"B", &b_entries}, {"C", &c_entries}});
  for (const int threads : {1, 3}) {
    auto execution = Execution::prepare(*kernel, {&a, &b, &c}, {threads, 12, {}});
    ASSERT_TRUE(execution.ok()) << support::render(execution.error());
    ASSERT_TRUE(execution->run().ok());
    expect_close(a, *expected);
    EXPECT_EQ(a.stored(), nonzeros(*expected));
    EXPECT_LT(a.levels()[0].entries, b.levels()[0].entries);  // some rows vanish
  }
}

TEST(SparseResult, may_be_empty) {
  Product arguments(32, 0);
  auto execution = Execution::prepare(*load("product"), arguments.all(), {2, 12, {}});
  ASSERT_TRUE(execution.ok() && execution->run().ok());
  EXPECT_TRUE(validate(arguments.a.view(), "A").ok());
  EXPECT_EQ(arguments.a.stored(), 0);
  ASSERT_TRUE(execution->rerun_values().ok());
  EXPECT_EQ(arguments.a.stored(), 0);
}

TEST(SparseResult, may_have_no_rows) {
  PackedTensor a = *zeros({0, 70}, csr, {"A", ValueType::f64, 32});
  PackedTensor b = *pack(CooTensor{{0, 5}, {{}, {}}, {}}, csr, {"B", ValueType::f64, 32});
  PackedTensor c = *pack(CooTensor{{5, 70}, {{}, {}}, {}}, csr, {"C", ValueType::f64, 32});
  auto execution = Execution::prepare(*load("product"), {&a, &b, &c}, {2, 12, {}});
  ASSERT_TRUE(execution.ok() && execution->run().ok());
  EXPECT_TRUE(validate(a.view(), "A").ok());
}

TEST(SparseResult, keeps_its_structure_when_only_values_change) {
  Product arguments;
  auto execution = Execution::prepare(*load("product"), arguments.all(), {3, 12, {}});
  ASSERT_TRUE(execution.ok());
  ASSERT_TRUE(execution->rerun_values().ok());  // the first is a run
  expect_close(arguments.a, arguments.expected());
  const CooTensor before = unpack(arguments.a);
  const void* const coordinates = arguments.a.levels()[1].crd.data();
  for (std::int64_t p = 0; p < arguments.b.stored(); ++p) arguments.b.values().as<double>()[p] *= 2;
  for (int repeat = 0; repeat < 2; ++repeat) {
    ASSERT_TRUE(execution->rerun_values().ok());
    const CooTensor after = unpack(arguments.a);
    EXPECT_EQ(after.coordinates, before.coordinates);
    ASSERT_EQ(after.entries(), before.entries());
    for (std::size_t e = 0; e < after.entries(); ++e) EXPECT_EQ(after.values[e], 2 * before.values[e]);
    EXPECT_EQ(arguments.a.levels()[1].crd.data(), coordinates);
  }
}

TEST(SparseResult, stores_values_alone_while_the_structure_is_there) {
  Product arguments;
  auto execution = Execution::prepare(*load("wrong_values"), arguments.all(), {3, 12, {}});  // twice as large
  ASSERT_TRUE(execution.ok());
  const Expected expected = arguments.expected();
  ASSERT_TRUE(execution->rerun_values().ok());  // the first is a run
  expect_close(arguments.a, expected);
  for (std::int64_t p = 0; p < arguments.b.stored(); ++p) arguments.b.values().as<double>()[p] /= 2;
  for (int repeat = 0; repeat < 2; ++repeat) {
    ASSERT_TRUE(execution->rerun_values().ok());
    expect_close(arguments.a, expected);
  }
  for (std::int64_t p = 0; p < arguments.b.stored(); ++p) arguments.b.values().as<double>()[p] *= 2;
  ASSERT_TRUE(execution->run().ok());
  expect_close(arguments.a, expected);
  arguments.a.values() = arguments.a.values().copy();  // other arrays: again a run
  ASSERT_TRUE(execution->rerun_values().ok());
  expect_close(arguments.a, expected);
}

TEST(SparseResult, values_start_from_the_kernels_fill_value) {
  Product arguments;
  auto execution = Execution::prepare(*load("filled"), arguments.all(), {2, 12, {}});
  ASSERT_TRUE(execution.ok() && execution->run().ok());
  const DenseTensor filled = *to_dense(arguments.a);
  const Expected expected = arguments.expected();
  for (std::int64_t e = 0; e < filled.size();
       ++e)  // where there is an entry, it was -1 at first; elsewhere it is -1
    EXPECT_NEAR(filled.at(e), expected.values.at(e) - 1, 1e-12);
}

std::string error_of(const std::string& variant, Product& arguments) {
  auto execution = Execution::prepare(*load(variant), arguments.all(), {2, 12, {"Y", "M", "X"}});
  if (!execution.ok()) return support::render(execution.error());
  const auto done = execution->run();
  return done.ok() ? "" : support::render(done.error());
}

void expect_empty(const PackedTensor& result) {
  EXPECT_TRUE(validate(result.view(), "A").ok());
  EXPECT_EQ(result.stored(), 0);
}

TEST(SparseResult, too_many_entries_for_32_bit_positions_are_refused) {
  Product arguments(32);
  const std::int64_t entries = nonzeros(arguments.expected());
  EXPECT_EQ(error_of("overflow", arguments),
            "invalid [position-overflow]: level 2 of `Y` has " + std::to_string(entries) +
                "000000000 entries, too many for 32-bit positions: use 64-bit positions");
  expect_empty(arguments.a);
}

TEST(SparseResult, more_memory_than_there_is_is_refused) {
  Product arguments(64);
  const std::string error = error_of("memory", arguments), end = "more than this machine has";
  EXPECT_EQ(error.substr(0, 30), "exhausted [memory]: `Y` needs ");
  EXPECT_EQ(error.substr(error.size() - end.size()), end);
  expect_empty(arguments.a);
}

TEST(SparseResult, is_empty_after_a_kernels_error) {
  Product arguments;
  EXPECT_EQ(error_of("failing", arguments), "internal [kernel-failed]: kernel 00fe returned error 1");
  expect_empty(arguments.a);
}

TEST(SparseResult, kernels_must_count_what_the_result_has) {
  Product arguments;
  EXPECT_EQ(error_of("uncounted", arguments),
            "invalid [kernel-binary]: the kernel binary cannot be used: it counts 0 levels of the result, "
            "which has 1 compressed ones");
}

TEST(SparseResult, updates_are_refused) {
  Product arguments;
  EXPECT_EQ(error_of("update", arguments),
            "unsupported [sparse-update]: `Y` is stored as dense,compressed:0,1; only dense results can be "
            "updated");
}

TEST(SparseResult, is_written_as_entries) {
  Product arguments;
  auto execution = Execution::prepare(*load("product"), arguments.all(), {2, 12, {}});
  ASSERT_TRUE(execution.ok() && execution->run().ok());
  const std::string path = testing::TempDir() + "/sparse_result.mtx";
  ASSERT_TRUE(write(path, arguments.a).ok());
  const auto again = read(path, {});
  ASSERT_TRUE(again.ok());
  const auto& entries = std::get<CooTensor>(*again);
  EXPECT_EQ(entries.extents, arguments.a.extents());
  EXPECT_EQ(entries.coordinates, unpack(arguments.a).coordinates);
  EXPECT_EQ(entries.values, unpack(arguments.a).values);
}

TEST(Scan, sums_what_comes_before) {
  const std::uint64_t seed = 11;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (const std::int64_t size : {0, 1, 2, 100, 200000}) {
    for (const int threads : {1, 2, 5}) {
      std::vector<std::int64_t> counts(size + 1, 0), sums(size + 1, 0);
      for (std::int64_t n = 0; n < size; ++n) {
        counts[n] = static_cast<std::int64_t>(random() % 9);
        sums[n + 1] = sums[n] + counts[n];
      }
      Team team = Team::exactly(threads);
      EXPECT_EQ(exclusive_scan(counts.data(), size, team), sums.back());
      EXPECT_EQ(counts, sums);
    }
  }
}

}  // namespace
}  // namespace schaas::client
