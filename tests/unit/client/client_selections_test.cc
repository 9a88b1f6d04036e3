// Coordinates of ranges, and the operands that are made of them.
#include "schaas/selections.h"

#include <gtest/gtest.h>

namespace schaas::client {
namespace {

Selections selections(const std::string& text) {
  return Selections::of(*parse_program(text), {}, text).value();
}

// The coordinates that numpy's slice has, by walking: `begin` and `end` as the Python reference tells them.
std::vector<std::int64_t> walked(std::int64_t extent, std::int64_t begin, std::int64_t end,
                                 std::int64_t step) {
  std::vector<std::int64_t> out;
  if (begin < 0) begin += extent;
  if (end < 0) end += extent;
  if (step > 0) {
    for (std::int64_t c = begin < 0 ? 0 : begin; c < end && c < extent; c += step) out.push_back(c);
  } else {
    for (std::int64_t c = begin >= extent ? extent - 1 : begin; c > end && c >= 0; c += step)
      out.push_back(c);
  }
  return out;
}

TEST(SelectedCoordinates, AreThoseOfEverySmallSlice) {
  index_notation::IndexOperand mode{"S", "p", "i", {}, false};
  for (std::int64_t extent = 0; extent <= 4; ++extent)
    for (std::int64_t begin = -6; begin <= 6; ++begin)
      for (std::int64_t end = -6; end <= 6; ++end)
        for (const std::int64_t step : {-5, -2, -1, 1, 2, 5}) {
          mode.range.begin = begin;
          mode.range.end = end;
          mode.range.step = step;
          const auto found = selected_coordinates(mode, extent, {}).value();
          std::vector<std::int64_t> all;
          for (std::int64_t n = 0; n < found.count; ++n) all.push_back(found.begin + n * found.step);
          EXPECT_EQ(all, walked(extent, begin, end, step))
              << extent << ' ' << begin << ' ' << end << ' ' << step;
        }
}

TEST(Selections, BindTheIndexToTheNumberOfCoordinates) {
  const Selections found = selections("A(i,j) = B(i(1:-1:2),j)");
  Extents extents;
  ASSERT_TRUE(extents.bind("B_mode1", 8, "B").ok());
  ASSERT_TRUE(found.bind(extents, {}).ok());
  EXPECT_EQ(extents.bound("i"), 3);
  const auto made = found.tensors(extents, {}).value();
  const CooTensor& tensor = made.at("select_B_mode1");
  EXPECT_EQ(tensor.extents, (std::vector<std::int64_t>{3, 8}));
  EXPECT_EQ(tensor.coordinates[1], (std::vector<std::int64_t>{1, 3, 5}));
}

TEST(Selections, TellExtentsThatDiffer) {
  const Selections found = selections("A(i) = B(i(1:3))");
  Extents extents;
  ASSERT_TRUE(extents.bind("B_mode1", 8, "B").ok());
  ASSERT_TRUE(extents.bind("i", 8, "C").ok());
  EXPECT_EQ(support::render(found.bind(extents, {}).error()),
            "invalid [extent-conflict]: index `i` has extent 8 by C but 2 by the range `i(1:3)` of extent 8");
}

TEST(Selections, ReadNamesInBounds) {
  const Selections found = selections("A(i) = B(i(lo:))");
  Extents extents;
  ASSERT_TRUE(extents.bind("B_mode1", 8, "B").ok());
  EXPECT_EQ(support::render(found.bind(extents, {}).error()),
            "invalid [missing-operand]: no number is given for `lo`, which bounds a range");
  ASSERT_TRUE(found.bind(extents, {{"lo", -3}}).ok());
  EXPECT_EQ(extents.bound("i"), 3);
  EXPECT_EQ(support::render(parameter_of("lo", 0.5).error()),
            "invalid [range]: `lo` is 0.500000: expected a whole number, which bounds a range");
}

TEST(Selections, HoldTheOneOfTheSemiring) {
  const Selections found = selections("min-plus: A(i) = B(i,2)");
  Extents extents;
  ASSERT_TRUE(extents.bind("B_mode2", 3, "B").ok());
  EXPECT_EQ(found.tensors(extents, {}).value().at("select_B_mode2").values, std::vector<double>{0.0});
}

}  // namespace
}  // namespace schaas::client
