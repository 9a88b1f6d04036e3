#include "compiler/operators/value_type.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace schaas::operators {
namespace {

TEST(ValueTypes, RowsStandInTheOrderOfTheirNumbers) {
  for (std::size_t n = 0; n < value_types().size(); ++n) {
    const auto& row = value_types()[n];
    EXPECT_EQ(static_cast<std::size_t>(row.type), n);
    EXPECT_EQ(value_type_named(row.name), row.type);
    EXPECT_STREQ(name(row.type), row.name);
  }
  EXPECT_FALSE(value_type_named("double").has_value());
}

TEST(ValueTypes, InfinityIsTheExtremeInteger) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(INT64_MAX, integer_of(infinity, ValueType::i64));
  EXPECT_EQ(INT64_MIN, integer_of(-infinity, ValueType::i64));
  EXPECT_EQ(INT32_MAX, integer_of(infinity, ValueType::i32));
  EXPECT_EQ(INT32_MIN, integer_of(-infinity, ValueType::i32));
  EXPECT_EQ(-7, integer_of(-7, ValueType::i32));
}

TEST(ValueTypes, IntegersWrapAround) {
  EXPECT_EQ(INT32_MIN, wrapped(std::uint64_t{INT32_MAX} + 1, ValueType::i32));
  EXPECT_EQ(INT64_MIN, wrapped(std::uint64_t{INT64_MAX} + 1, ValueType::i64));
}

TEST(ValueTypes, SumsOfSemiringsAbsorbTheirInfiniteZero) {
  EXPECT_EQ(Function::add_absorbing_largest, product_of(*semiring_named("min-plus"), ValueType::i64));
  EXPECT_EQ(Function::add_absorbing_smallest, product_of(*semiring_named("max-plus"), ValueType::i32));
  EXPECT_EQ(Function::add, product_of(*semiring_named("min-plus"), ValueType::f64));
  EXPECT_EQ(Function::multiply, product_of(plus_times(), ValueType::i64));
}

TEST(ValueTypes, Bfloat16RoundsToTheNearestAndTiesToEven) {
  const auto rounded = [](float value) { return of_bfloat16(bfloat16_bits(value)); };
  EXPECT_EQ(1.0F, rounded(1.0F + 0x1p-9F));
  EXPECT_EQ(1.0F + 0x1p-7F, rounded(1.0F + 0x1p-8F + 0x1p-9F));
  EXPECT_EQ(1.0F, rounded(1.0F + 0x1p-8F));              // a tie, down to even
  EXPECT_EQ(1.0F + 0x1p-6F, rounded(1.0F + 0x1.8p-7F));  // a tie, up to even
  EXPECT_TRUE(std::isinf(rounded(std::numeric_limits<float>::max())));
  EXPECT_TRUE(std::isnan(rounded(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_TRUE(std::signbit(rounded(-0.0F)));
}

TEST(ValueTypes, HalvesRoundToTheNearestAndTiesToEven) {
  EXPECT_EQ(0x3c00, half_bits(1));
  EXPECT_EQ(0x3c00, half_bits(1 + 0x1p-11));
  EXPECT_EQ(0x3c02, half_bits(1 + 3 * 0x1p-11));
  EXPECT_EQ(0x3c01, half_bits(1 + 0x1p-11 + 0x1p-40));  // by way of float it would be a tie
  EXPECT_EQ(0x7bff, half_bits(65519.9));
  EXPECT_EQ(0x7c00, half_bits(65520));
  EXPECT_EQ(0x0000, half_bits(0x1p-25));
  EXPECT_EQ(0x0002, half_bits(3 * 0x1p-25));
  EXPECT_EQ(0x0000, half_bits(0));
  EXPECT_EQ(0x8000, half_bits(-0.0));
  EXPECT_EQ(0xfc00, half_bits(-std::numeric_limits<double>::infinity()));
  EXPECT_TRUE(std::isnan(of_half(half_bits(std::nan("")))));
}

TEST(ValueTypes, EveryHalfIsItself) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const float value = of_half(static_cast<std::uint16_t>(bits));
    ASSERT_TRUE(std::isnan(value) || bits == half_bits(static_cast<double>(value))) << bits;
  }
}

TEST(ValueTypes, IntegersWithoutASignWrapAroundAndCompare) {
  EXPECT_EQ(255, wrapped(static_cast<std::uint64_t>(-1), ValueType::u8));
  EXPECT_EQ(-128, wrapped(128, ValueType::i8));
  EXPECT_EQ(1, wrapped(256, ValueType::boolean));
  EXPECT_EQ(255, integer_of(HUGE_VAL, ValueType::u8));
  EXPECT_EQ(0, integer_of(-HUGE_VAL, ValueType::u8));
  EXPECT_EQ(-1, integer_of(HUGE_VAL, ValueType::u64));  // the bits of the largest
  EXPECT_TRUE(is_less(1, -1, ValueType::u64));
  EXPECT_EQ(0x1p64, real_of(-1, ValueType::u64));
}

TEST(ValueTypes, WiderTypesHaveAllNumbersOfNarrowerOnes) {
  EXPECT_TRUE(widens_to(ValueType::i8, ValueType::f32));
  EXPECT_FALSE(widens_to(ValueType::i32, ValueType::f32));
  EXPECT_TRUE(widens_to(ValueType::i32, ValueType::f64));
  EXPECT_TRUE(widens_to(ValueType::u8, ValueType::i16));
  EXPECT_FALSE(widens_to(ValueType::i8, ValueType::u16));
  EXPECT_FALSE(widens_to(ValueType::f16, ValueType::i32));
  EXPECT_TRUE(widens_to(ValueType::f16, ValueType::f64));
  EXPECT_FALSE(widens_to(ValueType::i8, ValueType::bf16));
}

TEST(ValueTypes, ComplexNumbersHaveThoseOfTheirParts) {
  EXPECT_TRUE(widens_to(ValueType::f64, ValueType::c128));
  EXPECT_TRUE(widens_to(ValueType::f32, ValueType::c64));
  EXPECT_TRUE(widens_to(ValueType::i32, ValueType::c128));
  EXPECT_TRUE(widens_to(ValueType::c64, ValueType::c128));
  EXPECT_TRUE(widens_to(ValueType::f16, ValueType::c64));
  EXPECT_FALSE(widens_to(ValueType::i64, ValueType::c128));
  EXPECT_FALSE(widens_to(ValueType::f64, ValueType::c64));
  EXPECT_FALSE(widens_to(ValueType::c64, ValueType::f64));
  EXPECT_FALSE(widens_to(ValueType::i32, ValueType::c64));
  EXPECT_FALSE(runs_on_gpu(ValueType::c128));
  EXPECT_FALSE(has_complex_values(Function::maximum));
  EXPECT_TRUE(has_complex_values(Function::conj));
}

}  // namespace
}  // namespace schaas::operators
