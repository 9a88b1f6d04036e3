// Coordinates of ranges, the operands that are made of them, and the parts of operands that need none.
#include "schaas/selections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cpp/expression/operand_parts.h"
#include "client/cpp/tensor/tensor_part.h"

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

ProgramOfParts in_parts(const std::string& text, const std::map<std::string, std::string>& formats) {
  return with_operand_parts(*parse_program(text), formats);
}

TEST(OperandParts, TakeTheModeThatIsStoredFirst) {
  const auto rows = in_parts("A(i,j) = B(i(2:5),j(1:)) * C(i,j(1:))", {{"B", "csr"}, {"C", "csc"}});
  EXPECT_EQ(print(rows.program), "A(i,j) = B_part(i,j(1:)) * C_part(i,j)");
  EXPECT_EQ(rows.formats.at("B_part"), "dense,compressed:0,1");
  EXPECT_EQ(rows.formats.at("C_part"), "dense,compressed:1,0");
  EXPECT_EQ(rows.formats.count("B"), 0u) << "nothing reads B";
  ASSERT_EQ(rows.parts.size(), 2u);
  EXPECT_EQ(rows.parts[1].mode, 1u);
  EXPECT_EQ(rows.parts[1].written, "C(i,j(1:))");
}

TEST(OperandParts, AreSharedByEqualRanges) {
  const auto found = in_parts("y(i) = x(i(1:)) * x(i(1:)) - x(i(:-1)) * x_part(i)", {});
  EXPECT_EQ(print(found.program), "y(i) = x_part_2(i) * x_part_2(i) - x_part_3(i) * x_part(i)");
}

TEST(OperandParts, LoseAFixedMode) {
  const auto row = in_parts("y(j) = B(3,j)", {{"B", "csr@f32"}});
  EXPECT_EQ(print(row.program), "y(j) = B_part(j)");
  EXPECT_EQ(row.formats.at("B_part"), "compressed:0@f32");
}

TEST(OperandParts, LeaveWhatDoesNotLieTogether) {
  const std::map<std::string, std::string> formats = {{"B", "csr"}, {"L", "coo"}, {"H", "hashed"}};
  for (const char* text :
       {"A(i,j) = B(i(::2),j)", "A(i,j) = B(i(lo:hi:step),j)", "A(i,j) = B(i,j(1:3))", "A(i,j) = L(i(1:3),j)",
        "A(i,j) = H(i(1:3),j)", "y = x(3)", "A(i(1:3),j) = B(i,j)", "t(i) = x(i); y(i) = t(i(1:))"})
    EXPECT_TRUE(in_parts(text, formats).parts.empty()) << text;
}

// Every range of a small tensor beside the elements of the whole.
TEST(TensorPart, HoldsTheElementsOfTheRange) {
  const std::vector<std::int64_t> extents = {4, 3, 5};
  CooTensor whole{extents, {{}, {}, {}}, {}};
  for (std::int64_t n = 0; n < 4 * 3 * 5; ++n) {
    if (n * n % 7 > 2 || n / 15 == 2) continue;  // the third coordinate of the first mode has no entries
    const std::int64_t at[] = {n / 15, n / 5 % 3, n % 5};
    for (std::size_t mode = 0; mode < 3; ++mode) whole.coordinates[mode].push_back(at[mode]);
    whole.values.push_back(static_cast<double>(n + 1));
  }
  const DenseTensor dense = to_dense(whole, "B").value();
  for (const char* text :
       {"dense", "dense:2,0,1", "dense,compressed,compressed", "dense,dense,compressed:1,2,0",
        "dense,compressed,dense:2,1,0", "dense,compressed(nonunique),singleton:1,0,2"})
    for (const int bits : {32, 64}) {
      const auto format = format::parse(text, 3, "B").value();
      ASSERT_TRUE(has_parts(format)) << text;
      const PackedTensor packed = pack(whole, format, {"B", ValueType::f64, bits}).value();
      const auto mode = static_cast<std::size_t>(format.mode_order.front());
      for (std::int64_t begin = 0; begin <= extents[mode]; ++begin)
        for (std::int64_t count = 0; begin + count <= extents[mode]; ++count)
          for (const bool is_fixed : {false, true}) {
            if (is_fixed && count != 1) continue;
            const PackedTensor part = part_of(packed, begin, count, is_fixed);
            EXPECT_TRUE(validate(part.view(), "B").ok()) << text;
            const DenseTensor found = to_dense(part).value();
            std::vector<double> expected, values;
            for (std::int64_t n = 0; n < dense.size(); ++n) {
              const std::int64_t at[] = {n / 15, n / 5 % 3, n % 5};
              if (at[mode] >= begin && at[mode] < begin + count) expected.push_back(dense.at(n));
            }
            for (std::int64_t n = 0; n < found.size(); ++n) values.push_back(found.at(n));
            EXPECT_EQ(values, expected) << text << ' ' << begin << ' ' << count;
            EXPECT_EQ(part.order(), is_fixed ? 2 : 3);
          }
    }
}

}  // namespace
}  // namespace schaas::client
