// Calls that get intermediates, and what a problem keeps of itself when they do.
#include "compiler/problem/precomputed.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/index_notation/printer.h"
#include "tests/support/problem_of.h"

namespace schaas {
namespace {

problem::Problem built(const std::string& expression) {
  return test_support::problem_of(expression, {{"B", "csr"}});
}

TEST(Precomputed, DefinesACallBeforeItsFirstReader) {
  const auto asked = built("S(i,c) = B(i,j) * log(P(c,j)) * x(c)");
  const auto problem = problem::with_precomputed(asked, problem::possible_precomputes(asked)).value();
  EXPECT_EQ(index_notation::print(problem.program()),
            "log_values(c,j) = log(P(c,j)); S(i,c) = B(i,j) * log_values(c,j) * x(c)");
}

// Costs and constraints of an answer name extents and tensors by their place in the request.
TEST(Precomputed, KeepsTheOrderOfIndicesAndArguments) {
  const auto asked = built("S(i,c) = B(i,j) * log(P(c,j)) * x(c)");
  const auto problem = problem::with_precomputed(asked, problem::possible_precomputes(asked)).value();
  EXPECT_EQ(problem.indices(), (std::vector<std::string>{"i", "c", "j"}));
  EXPECT_EQ(problem.indices(), asked.indices());
  EXPECT_EQ(problem.tensors(), (std::vector<std::string>{"S", "B", "P", "x"}));
  EXPECT_EQ(problem.tensors(), asked.tensors());
}

TEST(Precomputed, RefusesCallsThatAreNotThere) {
  const auto asked = built("S(i,c) = B(i,j) * log(P(c,j))");
  EXPECT_EQ(problem::possible_precomputes(asked).calls, std::vector<int>{0});
  for (const std::vector<int>& calls : {std::vector<int>{}, {1}, {-1}, {0, 0}}) {
    const auto refused = problem::with_precomputed(asked, {calls});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, "illegal-directive");
  }
}

}  // namespace
}  // namespace schaas
