// Whether real sizes keep the constraints of a problem: exact values, the user's names, damaged answers.
#include "schaas/bounds.h"

#include <gtest/gtest.h>

#include "client/cpp/platform/natural.h"

namespace schaas::client {
namespace {

constexpr std::int64_t largest_extent = (std::int64_t{1} << 62) - 1;

// The canonical names B, i, j, k are the user's Mat, row, col, rank. Mat is a CSR matrix of 33 x 31, 153
// entries.
std::string checked(const std::string& constraints, Sizes sizes = {{{"row", 33}, {"col", 31}, {"rank", 64}},
                                                                   {{"Mat", {33, 153}}, {"s", {}}}}) {
  Frontier frontier;
  frontier.canonical =
      "schaas-problem 1\nA(i,k) = B(i,j) * C(j,k)\nformat B dense,compressed:0,1\n" + constraints;
  frontier.user_tensors = {{"A", "Out"}, {"B", "Mat"}, {"C", "Fac"}, {"D", "s"}};
  frontier.user_indices = {{"i", "row"}, {"j", "col"}, {"k", "rank"}};
  const auto outcome = check_bounds(frontier, sizes);
  return outcome.ok() ? "kept" : support::render(outcome.error());
}

constexpr const char* note =
    "\n  note: a schedule is the best, and a kernel made, for the sizes that the constraints (-c) allow";

TEST(Bounds, without_constraints_all_sizes_will_do) { EXPECT_EQ(checked(""), "kept"); }

TEST(Bounds, both_sides_are_compared_and_equal_ones_pass) {
  EXPECT_EQ(checked("where 64 <= k\nwhere k <= 64\n"), "kept");
  EXPECT_EQ(checked("where 65 <= k\n"),
            "invalid [bound-violated]: the tensors break `65 <= rank`: rank is 64, so it would say 65 <= 64" +
                std::string(note));
  EXPECT_EQ(checked("where 64 <= k\nwhere k <= 63\n"),
            "invalid [bound-violated]: the tensors break `rank <= 63`: rank is 64, so it would say 64 <= 63" +
                std::string(note));
}

TEST(Bounds, densities_and_sums_speak_of_entries_and_extents) {
  EXPECT_EQ(checked("where 6*nnz(B,2) <= i*j\n"), "kept");
  EXPECT_EQ(
      checked("where 1000*nnz(B,2) <= i*j\n"),
      "invalid [bound-violated]: the tensors break `1000*nnz(Mat,2) <= row*col`: nnz(Mat,2) is 153, row is "
      "33, col is 31, so it would say 153000 <= 1023" +
          std::string(note));
  EXPECT_EQ(checked("where 1 + i + i*i <= 1123\n"), "kept");
  EXPECT_EQ(
      checked("where 1 + i + i*i <= 1122\n"),
      "invalid [bound-violated]: the tensors break `1 + row + row*row <= 1122`: row is 33, so it would say "
      "1123 <= 1122" +
          std::string(note));
}

TEST(Bounds, no_entries_and_scalars) {
  const Sizes empty{{{"row", 1}, {"col", 1}, {"rank", 1}}, {{"Mat", {1, 0}}, {"s", {}}}};
  EXPECT_EQ(checked("where nnz(B,2) <= 0\nwhere nnz(D,0) <= 1\n", empty), "kept");
  EXPECT_EQ(checked("where 1 <= nnz(B,2)\n", empty),
            "invalid [bound-violated]: the tensors break `1 <= nnz(Mat,2)`: nnz(Mat,2) is 0, so it would say "
            "1 <= 0" +
                std::string(note));
}

TEST(Bounds, products_of_large_numbers_are_exact) {
  const Sizes large{{{"row", largest_extent}, {"col", largest_extent}, {"rank", largest_extent - 1}}, {}};
  EXPECT_EQ(checked("where i*i*i*k <= i*i*i*j\n", large), "kept");
  EXPECT_EQ(
      checked("where i*j <= i*k\n", large),
      "invalid [bound-violated]: the tensors break `row*col <= row*rank`: row is 4611686018427387903, col is "
      "4611686018427387903, rank is 4611686018427387902, so it would say "
      "21267647932558653957237540927630737409 <= 21267647932558653952625854909203349506" +
          std::string(note));
  EXPECT_EQ(checked("where 9223372036854775807 <= 3*i\n", large), "kept");
}

TEST(Bounds, unknown_sizes) {
  EXPECT_EQ(checked("where k <= 3\n", {{{"rang", 3}}, {}}),
            "invalid [unknown-size]: no extent is known for index `rank`; did you mean `rang`?");
  EXPECT_EQ(checked("where nnz(B,1) <= 3\n", {{}, {{"Mac", {3, 3}}}}),
            "invalid [unknown-size]: no entry counts are known for `Mat`; did you mean `Mac`?");
}

TEST(Bounds, damaged_answers_are_no_fault_of_the_user) {
  for (const char* line : {"k", "k <= ", "k <= 3 <= i", "k <= z", "k < 3", "k <= nnz(B)", "k <= nnz(B,3)",
                           "k <= nnz(B,0)", "k <= nnz(Z,1)", "k <= nnz(", "k <= 3x", "k*  <= 3"}) {
    EXPECT_EQ(checked("where " + std::string(line) + "\n"),
              "internal [server-internal]: the server's answer has the constraint `" + std::string(line) +
                  "`, which is not in its normal form");
  }
}

TEST(Naturals, carry_and_compare) {
  EXPECT_EQ(Natural().decimal(), "0");
  EXPECT_EQ((Natural(0) * Natural(7)), Natural());
  Natural most(UINT64_MAX);
  EXPECT_EQ(most.decimal(), "18446744073709551615");
  most += Natural(1);
  EXPECT_EQ(most.decimal(), "18446744073709551616");
  EXPECT_LT(Natural(UINT64_MAX), most);
  EXPECT_EQ((most * most).decimal(), "340282366920938463463374607431768211456");
  EXPECT_GT(most * most, most);
}

}  // namespace
}  // namespace schaas::client
