// Which coordinates an operand's entries meet, and that a run makes no other rows.
#include "client/cpp/runtime/stored_coordinates.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "compiler/format/tensor_format.h"
#include "schaas/kernel.h"
#include "schaas/tensor.h"

namespace schaas::client {
namespace {

std::vector<std::int64_t> met(const PackedTensor& tensor, int level) {
  const auto found = stored_coordinates(tensor.view(), level);
  EXPECT_TRUE(found.ok());
  const auto* first = found->coordinates.as<std::int64_t>();
  return {first, first + found->count};
}

PackedTensor packed(const CooTensor& entries, const std::string& text, int bits) {
  const auto order = static_cast<int>(entries.extents.size());
  return *pack(entries, *format::parse(text, order, "B"), {"B", ValueType::f64, bits});
}

TEST(StoredCoordinates, ascending_each_once_whatever_the_width) {
  CooTensor entries;
  entries.extents = {3, 300, 7};
  entries.coordinates = {{2, 0, 0, 2}, {299, 5, 5, 5}, {6, 1, 0, 1}};
  entries.values = {1, 2, 3, 4};
  for (const int bits : {32, 64}) {
    const PackedTensor csf = packed(entries, "csf", bits);
    EXPECT_EQ(met(csf, 0), (std::vector<std::int64_t>{0, 2}));
    EXPECT_EQ(met(csf, 1), (std::vector<std::int64_t>{5, 299}));
    EXPECT_EQ(met(csf, 2), (std::vector<std::int64_t>{0, 1, 6}));
  }
}

TEST(StoredCoordinates, of_modes_in_another_order_and_of_no_entries) {
  CooTensor entries;
  entries.extents = {4, 9};
  entries.coordinates = {{3, 1}, {8, 8}};
  entries.values = {1, 2};
  EXPECT_EQ(met(packed(entries, "csr", 32), 1), (std::vector<std::int64_t>{8}));
  EXPECT_EQ(met(packed(entries, "csc", 32), 1), (std::vector<std::int64_t>{1, 3}));
  entries.coordinates = {{}, {}};
  entries.values = {};
  EXPECT_TRUE(met(packed(entries, "csr", 64), 1).empty());
}

support::Result<Kernel> load(const std::string& variant) {
  std::ifstream file(std::string(SCHAAS_FIXTURE_DIR) + "/libclient_met_" + variant + ".so", std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  EXPECT_FALSE(bytes.str().empty()) << variant;
  return Kernel::load(bytes.str(), support::digest_of(bytes.str()));
}

struct Product {
  Product() {
    CooTensor entries;
    entries.extents = {4, 900};
    entries.coordinates = {{0, 0, 2, 3}, {7, 899, 7, 0}};
    entries.values = {1, 2, 3, 4};
    b = packed(entries, "csr", 32);
    CooTensor all;
    all.extents = {900};
    all.coordinates.resize(1);
    for (int j = 0; j < 900; ++j) all.coordinates[0].push_back(j), all.values.push_back(j + 1);
    x = packed(all, "dense", 32);
    CooTensor none;
    none.extents = {4};
    none.coordinates.resize(1);
    y = packed(none, "dense", 32);
  }
  PackedTensor b, x, y;
};

TEST(StoredCoordinates, runs_over_the_coordinates_with_one_thread_and_with_several) {
  for (const int threads : {1, 3}) {
    Product product;
    ExecutionOptions options;
    options.threads = threads;
    auto execution = Execution::prepare(*load("good"), {&product.y, &product.b, &product.x}, options);
    ASSERT_TRUE(execution.ok()) << support::render(execution.error());
    for (int run = 0; run < 2; ++run) {
      ASSERT_TRUE(execution->run().ok());
      const std::vector<double> values{product.y.value(0), product.y.value(1), product.y.value(2),
                                       product.y.value(3)};
      EXPECT_EQ(values, (std::vector<double>{1 * 8 + 2 * 900, 0, 3 * 8, 4 * 1}));
    }
  }
}

TEST(StoredCoordinates, kernels_that_want_what_cannot_be_met_are_refused) {
  const std::string refused = "invalid [kernel-binary]: the kernel binary cannot be used: ";
  for (const char* variant : {"of_the_result", "odd"}) {
    const auto kernel = load(variant);
    ASSERT_FALSE(kernel.ok());
    EXPECT_EQ(support::render(kernel.error()), refused + "a shared array that begins as none can");
  }
  const auto plain = load("of_nothing");
  ASSERT_FALSE(plain.ok());
  EXPECT_EQ(support::render(plain.error()), refused + "a phase over a list that is none");
  Product product;
  const auto execution =
      Execution::prepare(*load("of_a_dense_level"), {&product.y, &product.b, &product.x}, {});
  ASSERT_FALSE(execution.ok());
  EXPECT_EQ(support::render(execution.error()),
            refused + "it wants the coordinates of a level that is not compressed");
}

}  // namespace
}  // namespace schaas::client
