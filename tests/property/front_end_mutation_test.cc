// Damaged and random texts: the front end answers each with a value or a diagnostic that renders, never with
// a crash, an exception or a wrong family. Run it under the address and undefined-behaviour sanitizers.
#include <gtest/gtest.h>

#include <random>

#include "compiler/index_notation/parser.h"
#include "compiler/problem/canonical.h"

namespace schaas::problem {
namespace {

class Mutation {
 public:
  explicit Mutation(std::uint32_t seed) : engine_(seed) {}

  std::size_t below(std::size_t n) { return engine_() % n; }

  std::string bytes() {
    std::string out(below(40), ' ');
    for (char& c : out) c = static_cast<char>(below(256));
    return out;
  }
  // Words of the language in random order: far more of these reach deep into the parsers than random bytes
  // do.
  std::string words() {
    static const std::vector<std::string> all = {
        "A",   "B",       "C",     "i",          "j",  "k",      "(",          ")",      ",",     "=",
        "*",   "+",       "-",     "/",          "<=", "<",      ">=",         ">",      "==",    "|",
        "nnz", "density", "1e-3",  "8",          "0",  "9e18",   "1e18",       ";",      "[",     "+=",
        "max", ":",       "dense", "compressed", " ",  "nnz(B)", "density(B)", "B(i,j)", "(i+j)", "0.5"};
    std::string out;
    for (std::size_t n = below(14); n > 0; --n) out += all[below(all.size())];
    return out;
  }
  std::string damaged(std::string text) {
    for (std::size_t n = 1 + below(3); n > 0 && !text.empty(); --n) {
      const std::size_t at = below(text.size());
      switch (below(5)) {
        case 0:
          text[at] = static_cast<char>(below(256));
          break;
        case 1:
          text.erase(at, 1 + below(4));
          break;
        case 2:
          text.insert(at, words());
          break;
        case 3:
          text.insert(at, text.substr(below(text.size()), below(20)));
          break;
        default:
          std::swap(text[at], text[below(text.size())]);
      }
    }
    return text;
  }
  std::string text(const std::vector<std::string>& good) {
    switch (below(4)) {
      case 0:
        return bytes();
      case 1:
        return words();
      default:
        return damaged(good[below(good.size())]);
    }
  }

 private:
  std::mt19937 engine_;
};

// Counts outcomes; a diagnostic must be ours to give, and render with its text.
struct Outcomes {
  int fine = 0, refused = 0;
  template <class T>
  void add(const support::Result<T>& result) {
    if (result.ok()) {
      ++fine;
      return;
    }
    ++refused;
    const auto family = result.error().family;
    EXPECT_TRUE(family == support::Family::invalid || family == support::Family::unsupported);
    EXPECT_FALSE(result.error().code.empty());
    EXPECT_NE(support::render(result.error()).find(result.error().message), std::string::npos);
    if (!result.error().range) return;
    EXPECT_LE(result.error().range->begin, result.error().range->end);
    EXPECT_LE(result.error().range->end, result.error().source.size());
  }
};

TEST(FrontEndMutations, Expressions) {
  const std::vector<std::string> good = {"A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", "a = alpha * B(i)",
                                         "A(i,j) = where(B(i,j) > 0, C(i,j) + D(i,j), 0)",
                                         "Y(i) += (B(i,j)) / 2;"};
  Mutation mutation(1);
  Outcomes outcomes;
  for (int n = 0; n < 40000; ++n) outcomes.add(index_notation::parse(mutation.text(good)));
  EXPECT_GE(outcomes.fine, 500);
  EXPECT_GE(outcomes.refused, 10000);
}

TEST(FrontEndMutations, Formats) {
  const std::vector<std::string> good = {"csr", "csf:2,0,1", "dense,compressed:1,0", "compressed , dense"};
  Mutation mutation(2);
  Outcomes outcomes;
  for (int n = 0; n < 20000; ++n) {
    outcomes.add(format::parse(mutation.text(good), static_cast<int>(mutation.below(4)), "B"));
  }
  EXPECT_GE(outcomes.fine, 50);
  EXPECT_GE(outcomes.refused, 10000);
}

TEST(FrontEndMutations, Constraints) {
  const ConstraintScope scope{{"i", "j", "k"}, {{"B", {"i", "j"}}, {"C", {"j", "k"}}, {"A", {}}}};
  const std::vector<std::string> good = {"8 <= k <= 256", "density(B) <= 1e-3", "nnz(B,2) <= 4*nnz(B) + 9e18",
                                         "(i+j)*(i-j)/2 < |k|*density(C)*density(B)", "1e18*i*j == 1e-18*k"};
  Mutation mutation(3);
  Outcomes outcomes;
  for (int n = 0; n < 40000; ++n) {
    const auto constraints = parse_constraint(mutation.text(good), scope);
    outcomes.add(constraints);
    if (!constraints.ok()) continue;
    for (const auto& constraint : *constraints) {
      const auto again = parse_constraint(print(constraint), scope);
      ASSERT_TRUE(again.ok()) << print(constraint);
      EXPECT_EQ(*again, std::vector<Constraint>{constraint}) << print(constraint);
    }
  }
  EXPECT_GE(outcomes.fine, 500);
  EXPECT_GE(outcomes.refused, 10000);
}

TEST(FrontEndMutations, StoredProblems) {
  ProblemText text;
  text.expression = "A(i,l) = B(i,j) * C(j,l)";
  text.formats["B"] = "csr";
  text.constraints = {"8 <= l <= 256", "density(B) <= 1e-3"};
  const std::vector<std::string> good = {print(build(text).value())};
  Mutation mutation(4);
  Outcomes outcomes;
  for (int n = 0; n < 10000; ++n) {
    const auto problem = parse_problem(mutation.text(good));
    outcomes.add(problem);
    // What is accepted is a sound problem: it prints, reads back and has a canonical form.
    if (problem.ok()) {
      EXPECT_EQ(parse_problem(canonicalize(*problem).text).value(), canonicalize(*problem).problem);
    }
  }
  EXPECT_GE(outcomes.fine, 10);
  EXPECT_GE(outcomes.refused, 1000);
}

}  // namespace
}  // namespace schaas::problem
