// Real sizes against the constraints of a problem: exact values, the user's names, damaged answers.
#include "schaas/bounds.h"

#include <gtest/gtest.h>

#include "client/cpp/platform/natural.h"

namespace schaas::client {
namespace {

constexpr std::int64_t largest_extent = (std::int64_t{1} << 62) - 1;

std::vector<std::string> split(std::string text, const std::string& by) {
  std::vector<std::string> parts;
  for (std::size_t end; (end = text.find(by)) != std::string::npos; text.erase(0, end + by.size()))
    parts.push_back(text.substr(0, end));
  parts.push_back(text);
  return parts;
}

/// Reads `1 + 6*nnz(B,2)`; each factor has exponent 1, unless it is repeated: `i*i`.
std::vector<Constraint::Monomial> sum(const std::string& text) {
  std::vector<Constraint::Monomial> monomials;
  for (const std::string& term : split(text, " + ")) {
    Constraint::Monomial& monomial = monomials.emplace_back();
    for (const std::string& word : split(term, "*")) {
      auto& factors = monomial.factors;
      if (word.find_first_not_of("0123456789") == std::string::npos) {
        monomial.coefficient = std::stoull(word);
      } else if (word.substr(0, 4) == "nnz(") {
        const auto comma = word.find(',');
        factors.push_back({Constraint::Factor::Kind::nonzeros, word.substr(4, comma - 4),
                           std::stoi(word.substr(comma + 1))});
      } else if (!factors.empty() && factors.back().name == word) {
        ++factors.back().exponent;
      } else {
        factors.push_back({Constraint::Factor::Kind::extent, word});
      }
    }
  }
  return monomials;
}

/// Checks constraints, one a line, on a user's tensors. The canonical names B, i, j, k are the user's Mat,
/// row, col, rank. Mat is a CSR matrix of 33 x 31, 153 entries.
std::string checked(const std::string& constraints, Sizes sizes = {{{"row", 33}, {"col", 31}, {"rank", 64}},
                                                                   {{"Mat", {33, 153}}, {"s", {}}}}) {
  Frontier frontier;
  for (const std::string& line : split(constraints, "\n")) {
    const auto sides = split(line, " <= ");
    if (sides.size() == 2) frontier.constraints.push_back({sum(sides[0]), sum(sides[1])});
  }
  frontier.user_tensors = {{"A", "Out"}, {"B", "Mat"}, {"C", "Fac"}, {"D", "s"}};
  frontier.user_indices = {{"i", "row"}, {"j", "col"}, {"k", "rank"}};
  const auto outcome = check_bounds(frontier, sizes);
  return outcome.ok() ? "kept" : support::render(outcome.error());
}

constexpr const char* note =
    "\n  note: a schedule is the best, and a kernel made, for the sizes that the constraints (-c) allow";

TEST(Bounds, without_constraints_all_sizes_will_do) { EXPECT_EQ(checked(""), "kept"); }

TEST(Bounds, both_sides_are_compared_and_equal_ones_pass) {
  EXPECT_EQ(checked("64 <= k\nk <= 64"), "kept");
  EXPECT_EQ(checked("65 <= k"),
            "invalid [bound-violated]: the tensors break `65 <= rank`: rank is 64, so it would say 65 <= 64" +
                std::string(note));
  EXPECT_EQ(checked("64 <= k\nk <= 63"),
            "invalid [bound-violated]: the tensors break `rank <= 63`: rank is 64, so it would say 64 <= 63" +
                std::string(note));
}

TEST(Bounds, densities_and_sums_speak_of_entries_and_extents) {
  EXPECT_EQ(checked("6*nnz(B,2) <= i*j"), "kept");
  EXPECT_EQ(
      checked("1000*nnz(B,2) <= i*j"),
      "invalid [bound-violated]: the tensors break `1000*nnz(Mat,2) <= row*col`: nnz(Mat,2) is 153, row is "
      "33, col is 31, so it would say 153000 <= 1023" +
          std::string(note));
  EXPECT_EQ(checked("1 + i + i*i <= 1123"), "kept");
  EXPECT_EQ(
      checked("1 + i + i*i <= 1122"),
      "invalid [bound-violated]: the tensors break `1 + row + row*row <= 1122`: row is 33, so it would say "
      "1123 <= 1122" +
          std::string(note));
}

TEST(Bounds, no_entries_and_scalars) {
  const Sizes empty{{{"row", 1}, {"col", 1}, {"rank", 1}}, {{"Mat", {1, 0}}, {"s", {}}}};
  EXPECT_EQ(checked("nnz(B,2) <= 0\nnnz(D,0) <= 1", empty), "kept");
  EXPECT_EQ(checked("1 <= nnz(B,2)", empty),
            "invalid [bound-violated]: the tensors break `1 <= nnz(Mat,2)`: nnz(Mat,2) is 0, so it would say "
            "1 <= 0" +
                std::string(note));
}

TEST(Bounds, products_of_large_numbers_are_exact) {
  const Sizes large{{{"row", largest_extent}, {"col", largest_extent}, {"rank", largest_extent - 1}}, {}};
  EXPECT_EQ(checked("i*i*i*k <= i*i*i*j", large), "kept");
  EXPECT_EQ(
      checked("i*j <= i*k", large),
      "invalid [bound-violated]: the tensors break `row*col <= row*rank`: row is 4611686018427387903, col is "
      "4611686018427387903, rank is 4611686018427387902, so it would say "
      "21267647932558653957237540927630737409 <= 21267647932558653952625854909203349506" +
          std::string(note));
  EXPECT_EQ(checked("9223372036854775807 <= 3*i", large), "kept");
}

TEST(Bounds, unknown_sizes) {
  EXPECT_EQ(checked("k <= 3", {{{"rang", 3}}, {}}),
            "invalid [unknown-size]: no extent is known for index `rank`; did you mean `rang`?");
  EXPECT_EQ(checked("nnz(B,1) <= 3", {{}, {{"Mac", {3, 3}}}}),
            "invalid [unknown-size]: no entry counts are known for `Mat`; did you mean `Mac`?");
}

TEST(Bounds, BlameTheServerForConstraintsOnWhatTheProblemLacks) {
  for (const std::string symbol : {"z", "nnz(B,3)", "nnz(B,0)", "nnz(Z,1)"}) {
    EXPECT_EQ(checked("k <= " + symbol),
              "internal [server-internal]: the server's answer has a constraint on `" + symbol +
                  "`, which the problem does not have");
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
