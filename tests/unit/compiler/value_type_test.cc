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

}  // namespace
}  // namespace schaas::operators
