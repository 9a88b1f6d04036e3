#include "compiler/index_notation/selections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/index_notation/equations.h"
#include "compiler/index_notation/parser.h"
#include "compiler/index_notation/printer.h"
#include "compiler/index_notation/verifier.h"

// Ranges from text to products: what a statement with ranges means, written out, and the operands that stand
// for its selections. Values are compared with numpy's slices in tests/python/ranges_test.py.
namespace schaas::index_notation {
namespace {

using testing::ElementsAre;

Program read(const std::string& text) {
  auto parsed = parse(text).value();
  const auto verified = verify(parsed, text);
  EXPECT_TRUE(verified.ok()) << (verified.ok() ? "" : support::render(verified.error()));
  return parsed;
}
std::string written(const std::string& text) {
  const Program out = with_selections(read(text));
  EXPECT_TRUE(verify(out, "").ok()) << print(out);
  EXPECT_EQ(parse(print(out)).value(), out) << print(out);
  return print(out);
}

TEST(Ranges, PrintAsTheyAreRead) {
  for (const std::string text :
       {"A(i,j) = B(i(2:5),j)", "A(i) = B(i(:-1:-2),0)", "A(i) = B(i(lo:),-1)", "A(i) = B(i(:hi:s),(c))",
        "A(i(::2),3) = B(i)", "A(i,j) = B(i,p) * select(p,j(1:))"})
    EXPECT_EQ(print(read(text)), text);
}

TEST(Ranges, OfAllCoordinatesAreNone) {
  for (const char* text : {"A(i) = B(i(:))", "A(i) = B(i(::))", "A(i) = B(i(::1))"})
    EXPECT_EQ(read(text), read("A(i) = B(i)")) << text;
}

TEST(Ranges, FixedCoordinatesAreNoIndices) {
  const Program program = read("A(i) = B(i,0)");
  EXPECT_THAT(index_variables(program.statements), ElementsAre("i"));
  EXPECT_FALSE(program == read("A(i) = B(i,1)"));
}

TEST(Selections, StandBesideTheAccess) {
  EXPECT_EQ(written("A(i,j) = B(i(2:5),j)"), "A(i,j) = sum(B_mode1)(B(B_mode1,j) * select(B_mode1,i(2:5)))");
  EXPECT_EQ(written("A(i,k) = B(i,3) * C(k)"),
            "A(i,k) = sum(B_mode2)(B(i,B_mode2) * C(k) * select(B_mode2,3))");
}

TEST(Selections, StandInsideImpliedSums) {
  EXPECT_EQ(written("A(i) = B(i(2:5),j) * x(j)"),
            "A(i) = sum(j,B_mode1)(B(B_mode1,j) * x(j) * select(B_mode1,i(2:5)))");
}

TEST(Selections, StandInEachTermAndReduction) {
  EXPECT_EQ(written("y(i) = x(i(1:)) - x(i(:-1))"),
            "y(i) = sum(x_mode1)(x(x_mode1) * select(x_mode1,i(1:))) - "
            "sum(x_mode1_2)(x(x_mode1_2) * select(x_mode1_2,i(:-1)))");
  EXPECT_EQ(written("y(i) = max(j)(B(i,j(1:)))"),
            "y(i) = max(j)(sum(B_mode2)(B(i,B_mode2) * select(B_mode2,j(1:))))");
  EXPECT_EQ(written("y(i) = sum(j)(B(i(2:),j)) * B(i(2:),0)"),
            "y(i) = sum(B_mode1,B_mode2)(sum(j)(sum(B_mode1_2)(B(B_mode1_2,j) * select(B_mode1_2,i(2:)))) * "
            "B(B_mode1,B_mode2) * select(B_mode1,i(2:)) * select(B_mode2,0))");
}

TEST(Selections, AreSharedByEqualRangesOfOneTerm) {
  EXPECT_EQ(written("y(i) = x(i(1:)) * x(i(1:))"),
            "y(i) = sum(x_mode1)(x(x_mode1) * x(x_mode1) * select(x_mode1,i(1:)))");
}

TEST(Selections, ScatterWhatIsWritten) {
  EXPECT_EQ(written("A(i(2:5),j) += B(i,j)"), "A(A_mode1,j) += sum(i)(B(i,j) * select(A_mode1,i(2:5)))");
  EXPECT_EQ(written("A(i,0) = x(i)"), "A(i,A_mode2) = x(i) * select(A_mode2,0)");
}

TEST(Selections, PutWhatIsWrittenOnADiagonal) {
  EXPECT_EQ(written("D(i,i) = x(i)"), "D(i,D_mode2) = x(i) * select(D_mode2,i)");
  EXPECT_EQ(written("D(i,j,i) += x(i) - B(i,j)"),
            "D(i,j,D_mode3) += x(i) * select(D_mode3,i) - B(i,j) * select(D_mode3,i)");
}

TEST(Selections, AreOperandsByTheirLevels) {
  const Program program = read("A(i,j) = B(i(lo:),j(::2)) * C(j,0)");
  const auto walked = [](const Access& access, std::size_t mode) {
    return access.tensor == "B" && mode == 1 ? std::optional(1) : std::nullopt;
  };
  const SelectedProgram found = with_selection_operands(program, walked);
  EXPECT_EQ(
      print(found.program),
      "A(i,j) = sum(B_mode1,B_mode2,C_mode2)(B(B_mode1,B_mode2) * C(j,C_mode2) * select_B_mode1(i,B_mode1) "
      "* select_B_mode2(B_mode2,j) * select_C_mode2(C_mode2))");
  EXPECT_THAT(found.parameters, ElementsAre("lo"));
  ASSERT_EQ(found.selections.size(), 3U);
  EXPECT_EQ(selection_format(found.selections[0]), "dense,banded");
  EXPECT_TRUE(found.selections[1].coordinate_first);
  EXPECT_EQ(selection_format(found.selections[2]), "banded");
  EXPECT_FALSE(has_ranges(found.program));
}

TEST(Selections, OfWholeModesAreStoredLikeASparseTensorWithTheirIndices) {
  const auto first = [](const char* text, std::map<std::string, std::vector<int>> levels) {
    const auto walked = [&](const Access& access, std::size_t mode) -> std::optional<int> {
      const auto known = levels.find(access.tensor);
      if (known == levels.end() || known->second[mode] < 0) return std::nullopt;
      return known->second[mode];
    };
    return print(with_selection_operands(read(text), walked).program);
  };
  constexpr const char* rows = "A(i,j) = B(i,j) + select_i(i,j)";
  constexpr const char* columns = "A(i,j) = B(i,j) + select_i(j,i)";
  EXPECT_EQ(first("A(i,j) = B(i,j) + select(i,j)", {{"B", {-1, 1}}}), rows) << "csr";
  EXPECT_EQ(first("A(i,j) = B(i,j) + select(i,j)", {{"B", {1, -1}}}), columns) << "csc";
  EXPECT_EQ(first("A(i,j) = B(i,j) + select(i,j)", {{"B", {0, 1}}}), rows) << "dcsr";
  EXPECT_EQ(first("A(i,j) = B(i,j) + select(i,j)", {{"B", {0, -1}}}), rows) << "compressed,dense";
  EXPECT_EQ(first("A(i,j) = B(i,j) + select(i,j)", {{"A", {1, -1}}, {"B", {-1, 1}}}), columns)
      << "the result decides";
  EXPECT_EQ(first("D(i,i) = x(i)", {{"D", {-1, 1}}}), "D(i,D_mode2) = x(i) * select_D_mode2(i,D_mode2)");
}

TEST(Selections, LeaveProgramsWithoutRangesAlone) {
  const Program program = read("T(i) = B(i,j); A(i) = exp(T(i)) + x(i)");
  EXPECT_FALSE(has_ranges(program));
  EXPECT_EQ(with_selections(program), program);
}

/// The program with selections in place of equations. B is csr, C is dense.
std::string with_diagonals(const std::string& text) {
  const WalkedLevel columns_of_b = [](const Access& access, std::size_t mode) {
    return access.tensor == "B" && mode == 1 ? std::optional(1) : std::nullopt;
  };
  return print(with_equations_selected(read(text), columns_of_b));
}

TEST(Equations, AreSelectionsBesideEntriesThatAreWalked) {
  EXPECT_EQ(with_diagonals("A(i,j) = d(i) * (i == j) - B(i,j)"), "A(i,j) = d(i) * ==(i,j) - B(i,j)");
  EXPECT_EQ(with_diagonals("A(i,j) = -(j == i) + B(i,j) / d(i)"), "A(i,j) = -==(j,i) + B(i,j) / d(i)");
  EXPECT_EQ(with_diagonals("A(i,j) = 2 * (i == j) / d(i) + B(i,j)"), "A(i,j) = 2 * ==(i,j) / d(i) + B(i,j)");
  EXPECT_EQ(with_diagonals("A(i,j) = B(i,j) + where(i == j, d(i) - e(j), 0)"),
            "A(i,j) = B(i,j) + (d(i) - e(j)) * ==(i,j)");
  EXPECT_EQ(with_diagonals("A(i,j) = where(i == j, 1, B(i,j))"), "A(i,j) = ==(i,j) + where(i == j,0,B(i,j))");
  EXPECT_EQ(with_diagonals("A(i,k) = sum(j)(x(i) * (B(i,j) + (i == j)) * C(j,k))"),
            "A(i,k) = sum(j)(x(i) * (B(i,j) + ==(i,j)) * C(j,k))");
  EXPECT_EQ(with_diagonals("B(i,j) = d(i) * (i == j)"), "B(i,j) = d(i) * ==(i,j)");
}

TEST(Equations, StayWhereNothingIsWalkedOrTheTermWalksItsOwn) {
  for (const std::string text :
       {"A(i,j) = d(i) * (i == j) - C(i,j)", "A(i,j) = B(i,j) * (i == j)",
        "A(i,j) = B(i,j) * (i == j) + B(i,j)", "A(i,j) = B(i,j) + (i == j + 1)",
        "A(i,j) = B(i,j) + (i == k) * C(k,j)", "A(i,j) = B(i,j) * (1 + (i <= j))",
        "A(i,j) = B(i,j) + exp(C(i,j) * (i == j))", "min-plus: A(i,j) = B(i,j) + (i == j)"})
    EXPECT_EQ(with_diagonals(text), print(read(text)));
}

TEST(Equations, AreOperandsWhoseExtentsMayDiffer) {
  const auto walked = [](const Access& access, std::size_t mode) {
    return access.tensor == "B" && mode == 1 ? std::optional(1) : std::nullopt;
  };
  const Program program = with_equations_selected(read("A(i,j) = B(i,j) + (i == j) + select(i,j)"), walked);
  const SelectedProgram out = with_selection_operands(program, walked);
  ASSERT_EQ(out.selections.size(), 2U);
  EXPECT_TRUE(out.selections[0].is_equation);
  EXPECT_FALSE(out.selections[1].is_equation);
  EXPECT_EQ(print(out.program), "A(i,j) = B(i,j) + select_i(i,j) + select_i_2(i,j)");
}

}  // namespace
}  // namespace schaas::index_notation
