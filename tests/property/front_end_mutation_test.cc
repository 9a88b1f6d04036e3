// Damaged and random texts: the front end answers each with a value or a diagnostic that renders, never with
// a crash, an exception or a wrong family. Run it under the address and undefined-behaviour sanitizers.
#include <gtest/gtest.h>

#include "compiler/index_notation/parser.h"
#include "compiler/index_notation/printer.h"
#include "compiler/index_notation/verifier.h"
#include "compiler/problem/canonical.h"
#include "tests/support/mutation.h"

namespace schaas::problem {
namespace {

using test_support::Mutation;

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

const std::vector<std::string> programs = {
    "A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)",
    "a = alpha * B(i)",
    "A(i,j) = where(B(i,j) > 0, C(i,j) + D(i,j), 0)",
    "Y(i) += (B(i,j)) / 2;",
    "Y(i) max= max(j)(relu(B(i,j)) - c(i)) / 2",
    "M(i) = max(j)(X(i,j)); E(i,j) = exp(X(i,j) - M(i)); S(i) = E(i,j); Y(i,j) = E(i,j) / S(i)",
    "min-plus: T(i,k) = B(i,j) * C(j,k) + 1e-3; D(i,k) += T(i,k)",
    "a = -B(i,i) - inf * (C(i) == D(i))"};

TEST(FrontEndMutations, Programs) {
  Mutation mutation(1);
  Outcomes parsed, verified;
  for (int n = 0; n < 40000; ++n) {
    const std::string text = mutation.text(programs);
    const auto program = index_notation::parse(text);
    parsed.add(program);
    if (!program.ok()) continue;
    EXPECT_EQ(index_notation::parse(index_notation::print(*program)).value(), *program) << text;
    verified.add(index_notation::verify(*program, text));
  }
  EXPECT_GE(parsed.fine, 3000);
  EXPECT_GE(parsed.refused, 10000);
  EXPECT_GE(verified.fine, 1000);
  EXPECT_GE(verified.refused, 300);
}

// Whatever is accepted is a sound problem: it prints, reads back, and has a canonical form of its own.
TEST(FrontEndMutations, BuiltPrograms) {
  Mutation mutation(5);
  Outcomes outcomes;
  for (int n = 0; n < 10000; ++n) {
    ProblemText text;
    text.expression = mutation.text(programs);
    const auto problem = build(text);
    outcomes.add(problem);
    if (!problem.ok()) continue;
    EXPECT_EQ(parse_problem(print(*problem)).value(), *problem) << text.expression;
    const Canonical canonical = canonicalize(*problem);
    EXPECT_EQ(parse_problem(canonical.text).value(), canonical.problem) << text.expression;
    EXPECT_EQ(canonicalize(canonical.problem).text, canonical.text) << text.expression;
  }
  EXPECT_GE(outcomes.fine, 500);
  EXPECT_GE(outcomes.refused, 3000);
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
  std::vector<std::string> good = {print(build(text).value())};
  text.expression = "min-plus: T(i,l) = B(i,j) * C(j,l); A(i,l) += T(i,l)";
  good.push_back(print(build(text).value()));
  Mutation mutation(4);
  Outcomes outcomes;
  for (int n = 0; n < 10000; ++n) {
    const auto problem = parse_problem(mutation.text(good));
    outcomes.add(problem);
    // An accepted text is a sound problem: it prints, reads back and has a canonical form.
    if (problem.ok()) {
      EXPECT_EQ(parse_problem(canonicalize(*problem).text).value(), canonicalize(*problem).problem);
    }
  }
  EXPECT_GE(outcomes.fine, 10);
  EXPECT_GE(outcomes.refused, 1000);
}

}  // namespace
}  // namespace schaas::problem
