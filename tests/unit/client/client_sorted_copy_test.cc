// Sorted copies beside what pack makes of the same entries.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "client/cpp/tensor/sorted_copy.h"
#include "schaas/tensor.h"

namespace schaas::client {
namespace {

struct Disorder {
  std::vector<std::int64_t> extents;
  std::vector<std::int32_t> mode_order;
  std::vector<schaas_level> levels;
  std::vector<std::vector<std::int32_t>> arrays;
  std::vector<double> values;

  schaas_tensor view() const {
    return {static_cast<std::int32_t>(extents.size()),
            SCHAAS_F64,
            extents.data(),
            mode_order.data(),
            levels.data(),
            const_cast<double*>(values.data())};
  }
};

std::int32_t below(std::mt19937_64& random, std::int64_t extent) {
  return static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(extent));
}

// Entries by row, their columns in disorder; and the same as a list for pack.
Disorder random_rows(std::mt19937_64& random, std::int64_t rows, std::int64_t columns, std::int64_t longest,
                     CooTensor& same) {
  Disorder made{{rows, columns}, {0, 1}, {}, {{0}, {}}, {}};
  same = {{rows, columns}, {{}, {}}, {}};
  for (std::int32_t row = 0; row < rows; ++row) {
    for (std::int32_t n = below(random, longest + 1); n > 0; --n) {
      made.arrays[1].push_back(below(random, columns));
      made.values.push_back(below(random, 100));
      same.coordinates[0].push_back(row);
      same.coordinates[1].push_back(made.arrays[1].back());
    }
    made.arrays[0].push_back(static_cast<std::int32_t>(made.values.size()));
  }
  same.values = made.values;
  const auto entries = static_cast<std::int64_t>(made.values.size());
  made.levels = {{SCHAAS_LEVEL_DENSE, 0, nullptr, nullptr, rows},
                 {SCHAAS_LEVEL_COMPRESSED, 32, made.arrays[0].data(), made.arrays[1].data(), entries}};
  return made;
}

// The same entries as a list, in any order.
Disorder as_list(std::mt19937_64& random, CooTensor& entries) {
  for (std::size_t n = entries.values.size(); n > 1; --n) {
    const std::size_t other = random() % n;
    std::swap(entries.values[n - 1], entries.values[other]);
    for (auto& mode : entries.coordinates) std::swap(mode[n - 1], mode[other]);
  }
  const auto count = static_cast<std::int64_t>(entries.values.size());
  Disorder made{entries.extents, {0, 1}, {}, {{0, static_cast<std::int32_t>(count)}}, entries.values};
  for (const auto& mode : entries.coordinates) made.arrays.emplace_back(mode.begin(), mode.end());
  made.levels = {{SCHAAS_LEVEL_COMPRESSED_NONUNIQUE, 32, made.arrays[0].data(), made.arrays[1].data(), count},
                 {SCHAAS_LEVEL_SINGLETON, 32, nullptr, made.arrays[2].data(), count}};
  return made;
}

bool equal(const Buffer& a, const Buffer& b) {
  return a.bytes() == b.bytes() && (a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

void expect_packed(const Disorder& given, const CooTensor& entries, const char* format) {
  ASSERT_TRUE(can_be_sorted(given.view()));
  const auto borrowed = borrow(given.view(), "B", 0, Trust::bounds);
  ASSERT_TRUE(borrowed.ok()) << support::render(borrowed.error());
  const auto sorted = sorted_copy(*borrowed, "B");
  ASSERT_TRUE(sorted.ok());
  ASSERT_TRUE(validate(sorted->view(), "B").ok());
  const auto packed = pack(entries, *format::parse(format, 2, "B"), {"B", ValueType::f64, 32});
  ASSERT_TRUE(packed.ok());
  EXPECT_TRUE(equal(sorted->values(), packed->values()));
  for (std::size_t l = 0; l < 2; ++l) {
    EXPECT_EQ(sorted->levels()[l].entries, packed->levels()[l].entries);
    EXPECT_TRUE(equal(sorted->levels()[l].pos, packed->levels()[l].pos)) << l;
    EXPECT_TRUE(equal(sorted->levels()[l].crd, packed->levels()[l].crd)) << l;
  }
}

TEST(SortedCopy, IsWhatPackMakesOfTheEntries) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 400; ++round) {
    CooTensor entries;
    const std::int64_t rows = 1 + below(random, 40), columns = 1 + below(random, 60);
    const Disorder given = random_rows(random, rows, columns, round % 3 == 0 ? 90 : 7, entries);
    expect_packed(given, entries, "csr");
    expect_packed(as_list(random, entries), entries, "coo");
  }
}

TEST(SortedCopy, LeavesListsOfFarTooManyRowsAlone) {
  std::mt19937_64 random(12);
  CooTensor entries;
  random_rows(random, 10, 10, 5, entries);
  entries.extents[0] = std::int64_t{1} << 30;
  EXPECT_FALSE(can_be_sorted(as_list(random, entries).view()));
  EXPECT_FALSE(can_be_sorted({}));
}

}  // namespace
}  // namespace schaas::client
