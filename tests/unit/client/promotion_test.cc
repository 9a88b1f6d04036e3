#include <gtest/gtest.h>

#include "schaas/views.hpp"

namespace schaas {
namespace {

/// numpy.result_type of the types in the order of their numbers; f32 where numpy has f16, and for bf16.
constexpr int of_numpy[13][13] = {
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},      {0, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 1},
    {0, 0, 2, 2, 0, 0, 2, 2, 2, 2, 2, 0, 2},      {0, 0, 2, 3, 0, 0, 3, 3, 3, 3, 2, 0, 3},
    {0, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 1},      {0, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 1},
    {0, 1, 2, 3, 1, 1, 6, 7, 7, 3, 2, 0, 6},      {0, 1, 2, 3, 1, 1, 7, 7, 7, 3, 2, 0, 7},
    {0, 1, 2, 3, 1, 1, 7, 7, 8, 9, 10, 11, 8},    {0, 1, 2, 3, 1, 1, 3, 3, 9, 9, 10, 11, 9},
    {0, 0, 2, 2, 0, 0, 2, 2, 10, 10, 10, 11, 10}, {0, 0, 0, 0, 0, 0, 0, 0, 11, 11, 11, 11, 11},
    {0, 1, 2, 3, 1, 1, 6, 7, 8, 9, 10, 11, 12},
};

TEST(Promotion, IsNumpys) {
  for (std::int32_t a = 0; a < 13; ++a)
    for (std::int32_t b = 0; b < 13; ++b) EXPECT_EQ(of_numpy[a][b], promoted(a, b)) << a << " and " << b;
}

/// numpy.result_type with complex64; with complex128 it is that.
constexpr int with_complex64[15] = {14, 13, 14, 14, 13, 13, 13, 13, 13, 13, 14, 14, 13, 13, 14};

TEST(Promotion, OfComplexNumbersIsNumpys) {
  for (std::int32_t a = 0; a < 15; ++a) {
    EXPECT_EQ(with_complex64[a], promoted(a, SCHAAS_C64)) << a;
    EXPECT_EQ(with_complex64[a], promoted(SCHAAS_C64, a)) << a;
    EXPECT_EQ(SCHAAS_C128, promoted(a, SCHAAS_C128)) << a;
  }
}

}  // namespace
}  // namespace schaas
