// Sorted copies that are kept for later calls: found by contents, bounded in bytes.
#include "client/cpp/tensor/sorted_copies.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "client/cpp/tensor/sorted_copy.h"

namespace schaas::client {
namespace {

/// A matrix of `count` entries by rows, the columns of each row descending.
struct Matrix {
  explicit Matrix(std::int32_t count) : positions{0}, values(static_cast<std::size_t>(count), 1.5) {
    constexpr std::int32_t row = 10;
    for (std::int32_t q = 0; q < count; ++q) columns.push_back(row - q % row);
    for (std::int32_t q = row; q <= count; q += row) positions.push_back(q);
    extents = {static_cast<std::int64_t>(positions.size()) - 1, 2 * row};
    levels = {{SCHAAS_LEVEL_DENSE, 32, nullptr, nullptr, extents[0]},
              {SCHAAS_LEVEL_COMPRESSED, 32, positions.data(), columns.data(), count}};
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  PackedTensor borrowed() {
    const schaas_tensor view{2, SCHAAS_F64, extents.data(), order.data(), levels.data(), values.data()};
    return *borrow(view, "B", 0, Trust::bounds);
  }
  std::vector<std::int64_t> extents;
  std::vector<std::int32_t> order{0, 1}, positions, columns;
  std::vector<schaas_level> levels;
  std::vector<double> values;
};

bool equal(const Buffer& a, const Buffer& b) {
  return a.bytes() == b.bytes() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

/// The copy that is returned; it is expected to be what sorting gives.
std::shared_ptr<const PackedTensor> copy_of(SortedCopies& copies, Matrix& matrix) {
  const PackedTensor tensor = matrix.borrowed();
  const auto found = copies.of(tensor, "B");
  EXPECT_TRUE(found.ok());
  const auto sorted = sorted_copy(tensor, "B");
  EXPECT_TRUE(equal((*found)->values(), sorted->values()));
  EXPECT_TRUE(equal((*found)->levels()[1].crd, sorted->levels()[1].crd));
  EXPECT_TRUE(equal((*found)->levels()[1].pos, sorted->levels()[1].pos));
  return *found;
}

constexpr std::size_t enough = std::size_t{1} << 20;

TEST(SortedCopies, SortsATensorTwiceAndThenNoMore) {
  SortedCopies copies(enough);
  Matrix matrix(1000);
  const auto first = copy_of(copies, matrix), second = copy_of(copies, matrix);
  EXPECT_NE(first, second);
  EXPECT_EQ(copy_of(copies, matrix), second);
  Matrix same(1000);
  EXPECT_EQ(copy_of(copies, same), second);
}

TEST(SortedCopies, SortsAnewWhereAnyByteChanged) {
  SortedCopies copies(enough);
  Matrix matrix(1000);
  copy_of(copies, matrix);
  const auto kept = copy_of(copies, matrix);
  for (std::size_t q = 0; q < 1000; ++q) {
    matrix.values[q] += 1;
    EXPECT_NE(copy_of(copies, matrix), kept) << q;
    matrix.values[q] -= 1;
  }
  for (std::size_t q = 0; q < 1000; ++q) {
    matrix.columns[q] += 1;
    EXPECT_NE(copy_of(copies, matrix), kept) << q;
    matrix.columns[q] -= 1;
  }
  for (std::size_t p = 1; p < 100; ++p) {
    matrix.positions[p] -= 1;
    EXPECT_NE(copy_of(copies, matrix), kept) << p;
    matrix.positions[p] += 1;
  }
  matrix.extents[1] += 1;
  EXPECT_NE(copy_of(copies, matrix), kept);
}

TEST(SortedCopies, KeepsNoMoreBytesThanAllowed) {
  Matrix one(1000), other(2000), large(100'000);
  const std::size_t both = 2 * one.borrowed().bytes() + 2 * other.borrowed().bytes();
  SortedCopies copies(both - 1);
  copy_of(copies, one);
  const auto kept = copy_of(copies, one);
  copy_of(copies, other);
  EXPECT_EQ(copy_of(copies, one), kept);
  const auto later = copy_of(copies, other);
  EXPECT_EQ(copies.bytes(), 2 * other.borrowed().bytes());
  EXPECT_EQ(copy_of(copies, other), later);
  EXPECT_NE(copy_of(copies, one), kept);
  copy_of(copies, large);
  copy_of(copies, large);
  EXPECT_LT(copies.bytes(), both);
}

TEST(SortedCopies, EvictsTheOneThatWasUsedLongestAgo) {
  SortedCopies copies(enough);
  Matrix first(10), second(20);
  copy_of(copies, first);
  copy_of(copies, second);
  const auto kept = copy_of(copies, first), evicted = copy_of(copies, second);
  for (std::int32_t n = 3; n < 18; ++n) {
    Matrix another(10 * n);
    copy_of(copies, another);
    copy_of(copies, another);
    EXPECT_EQ(copy_of(copies, first), kept);
  }
  EXPECT_NE(copy_of(copies, second), evicted);
}

}  // namespace
}  // namespace schaas::client
