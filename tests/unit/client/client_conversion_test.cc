// Conversions between formats give exactly what packing the entries gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "schaas/convert.h"

namespace schaas::client {
namespace {

using format::TensorFormat;

// The named formats of an order, in every order of modes.
std::vector<TensorFormat> formats(int order) {
  std::vector<std::string> names = {"dense"};
  if (order >= 1) names.insert(names.end(), {"csf", "coo"});
  if (order == 2) names.insert(names.end(), {"csr", "dcsr", "compressed,dense"});
  if (order == 3) names.push_back("dense,compressed(nonunique),singleton");
  if (order == 4) names.push_back("bcsr");
  std::vector<TensorFormat> all;
  for (const std::string& name : names) {
    TensorFormat format = *format::parse(name, order, "B");
    std::iota(format.mode_order.begin(), format.mode_order.end(), 0);
    do all.push_back(format);
    while (std::next_permutation(format.mode_order.begin(), format.mode_order.end()));
  }
  return all;
}

CooTensor random_tensor(std::mt19937_64& random, const std::vector<std::int64_t>& extents, int entries) {
  CooTensor tensor;
  tensor.extents = extents;
  tensor.coordinates.resize(extents.size());
  if (extents.empty()) entries = 1;
  for (int e = 0; e < entries; ++e) {
    for (std::size_t m = 0; m < extents.size(); ++m)
      tensor.coordinates[m].push_back(static_cast<std::int64_t>(random() % extents[m]));
    tensor.values.push_back(1 + static_cast<double>(random() % 100));
  }
  return tensor;
}

bool same(const Buffer& a, const Buffer& b) {
  return a.bytes() == b.bytes() && (a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

void expect_same(const PackedTensor& got, const PackedTensor& wanted) {
  EXPECT_EQ(got.format(), wanted.format());
  EXPECT_EQ(got.extents(), wanted.extents());
  EXPECT_EQ(got.value_type(), wanted.value_type());
  EXPECT_EQ(got.position_bits(), wanted.position_bits());
  EXPECT_EQ(got.fill_value(), wanted.fill_value());
  ASSERT_EQ(got.levels().size(), wanted.levels().size());
  for (std::size_t l = 0; l < got.levels().size(); ++l) {
    EXPECT_EQ(got.levels()[l].entries, wanted.levels()[l].entries) << "level " << l;
    EXPECT_TRUE(same(got.levels()[l].pos, wanted.levels()[l].pos)) << "level " << l;
    EXPECT_TRUE(same(got.levels()[l].crd, wanted.levels()[l].crd)) << "level " << l;
  }
  EXPECT_TRUE(same(got.values(), wanted.values()));
}

void convert_all(const CooTensor& entries, const PackOptions& options, int threads) {
  const auto all = formats(entries.order());
  for (const TensorFormat& from : all) {
    const auto packed = pack(entries, from, options);
    ASSERT_TRUE(packed.ok());
    for (const TensorFormat& to : all) {
      SCOPED_TRACE(format::print(from) + " to " + format::print(to));
      const auto wanted = pack(entries, to, options);
      for (const auto& way : {convert, convert_by_entries}) {
        const auto converted = way(*packed, to, {options.name, threads});
        ASSERT_TRUE(converted.ok()) << support::render(converted.error());
        expect_same(*converted, *wanted);
      }
    }
  }
}

TEST(Conversion, between_any_two_formats_gives_what_packing_gives) {
  const std::uint64_t seed = 41;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const std::vector<std::vector<std::int64_t>> shapes = {{},     {7},      {5, 6},    {1, 9},
                                                         {9, 1}, {40, 30}, {3, 4, 5}, {2, 3, 2, 3}};
  for (const auto& shape : shapes) {
    for (const int entries : {0, 1, 20}) {
      const CooTensor tensor = random_tensor(random, shape, entries);
      convert_all(tensor, {"B", ValueType::f64, 32}, 2);
      convert_all(tensor, {"B", ValueType::f32, 64, -1}, 1);
    }
  }
}

TEST(Conversion, of_many_entries_by_many_threads) {
  const std::uint64_t seed = 42;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const CooTensor entries = random_tensor(random, {900, 700}, 150000);
  const TensorFormat csr = *format::parse("csr", 2, "B"), csc = *format::parse("csc", 2, "B");
  const PackOptions options{"B", ValueType::f64, 32};
  const PackedTensor by_rows = *pack(entries, csr, options), by_columns = *pack(entries, csc, options);
  for (const int threads : {1, 2, 7}) {
    expect_same(*convert(by_rows, csc, {"B", threads}), by_columns);
    expect_same(*convert(by_columns, csr, {"B", threads}), by_rows);
  }
}

TEST(Conversion, of_a_hypersparse_matrix_does_not_count_its_columns) {
  const CooTensor entries{{std::int64_t{1} << 60, std::int64_t{1} << 60},
                          {{5, std::int64_t{1} << 59}, {std::int64_t{1} << 58, 0}},
                          {1, 2}};
  const PackOptions options{"B", ValueType::f64, 64};
  const TensorFormat coo = *format::parse("coo", 2, "B"), turned = *format::parse("coo:1,0", 2, "B");
  expect_same(*convert(*pack(entries, coo, options), turned, {"B"}), *pack(entries, turned, options));
}

TEST(Conversion, stored_zeros_stay) {
  const CooTensor entries{{2, 2}, {{0, 1}, {1, 0}}, {0, 3}};
  const PackOptions options{"B", ValueType::f64, 32};
  const PackedTensor csr = *pack(entries, *format::parse("csr", 2, "B"), options);
  for (const char* name : {"csc", "coo", "dcsc"})
    EXPECT_EQ(convert(csr, *format::parse(name, 2, "B"), {"B"})->stored(), 2) << name;
}

TEST(Conversion, KeepsSignedZerosBetweenDenseFormats) {
  DenseTensor values = *zeros({2, 3}, ValueType::f64);
  values.set(1, -0.0);
  const PackedTensor rows = *pack(values, format::dense(2), {"B"});
  const PackedTensor columns = *convert(rows, *format::parse("dense:1,0", 2, "B"), {"B"});
  EXPECT_TRUE(std::signbit(columns.value(2)));
}

TEST(Conversion, RoundsTheFillValueToTheTypeOfTheValues) {
  const CooTensor entries{{2, 2}, {{0}, {1}}, {5}};
  const PackedTensor csr = *pack(entries, *format::parse("csr", 2, "B"), {"B", ValueType::f32, 32, 0.1});
  const PackedTensor dense = *convert(csr, format::dense(2), {"B"});
  EXPECT_EQ(convert(dense, *format::parse("csr", 2, "B"), {"B"})->stored(), 1);
}

TEST(Conversion, ChangesTheWidthOfPositions) {
  const CooTensor entries{{2, 2}, {{0, 1}, {1, 0}}, {0, 3}};
  const PackedTensor narrow = *pack(entries, *format::parse("csr", 2, "B"), {"B", ValueType::f64, 32});
  for (const char* name : {"csr", "csc", "coo"}) {
    const TensorFormat format = *format::parse(name, 2, "B");
    expect_same(*convert(narrow, format, {"B", 1, 64}), *pack(entries, format, {"B", ValueType::f64, 64}));
  }
}

TEST(Conversion, formats_must_have_the_tensors_order) {
  const PackedTensor csr =
      *pack(CooTensor{{2, 3}, {{1}, {1}}, {1}}, *format::parse("csr", 2, "B"), {"B", ValueType::f64, 32});
  const auto refused = convert(csr, *format::parse("csf", 3, "B"), {"B"});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(
      support::render(refused.error()),
      "invalid [format-rank]: `B` has 2 modes but its format compressed,compressed,compressed:0,1,2 has 3 "
      "levels");
}

}  // namespace
}  // namespace schaas::client
