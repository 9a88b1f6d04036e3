#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/schedule/replay/apply.h"
#include "compiler/schedule/section.h"
#include "tests/support/kernel_batch.h"
#include "tests/support/kernel_trial.h"
#include "tests/support/problem_of.h"
#include "tests/support/seed.h"

// Sums over windows in loop orders of every kind: each of the indices of an equation is the one that the
// others determine, windows reach beyond operands on both sides, and sparse operands are walked. Kernels run
// against the dense oracle, which reads the statement and knows no orders. SCHAAS_SEED=n replays a run.
namespace schaas {
namespace {

using Names = std::vector<std::string>;

constexpr std::size_t max_orders = 36;  ///< of one statement
constexpr std::size_t inputs = 12;
constexpr std::size_t runs = 4;  ///< inputs of every kernel

struct Window {
  std::string expression;
  std::map<std::string, std::string> formats;
};
void PrintTo(const Window& window, std::ostream* out) { *out << window.expression; }

/// Returns the default schedule and reorders of all loops, some of them where there are many.
std::vector<schedule::Trace> in_all_orders(const problem::Problem& problem, std::mt19937_64& random) {
  std::vector<schedule::Trace> out{schedule::Trace{}};
  const auto section = schedule::find_section(schedule::default_nest(problem), {});
  if (!section.ok()) return out;
  Names order = section->loops;
  std::sort(order.begin(), order.end());
  std::vector<Names> orders;
  do orders.push_back(order);
  while (std::next_permutation(order.begin(), order.end()));
  std::shuffle(orders.begin(), orders.end(), random);
  for (const Names& each : orders) {
    schedule::Trace trace;
    trace.directives.emplace_back(schedule::Reorder{{}, each});
    if (out.size() <= max_orders && schedule::apply(trace, problem).ok()) out.push_back(std::move(trace));
  }
  return out;
}

class ShiftedAccesses : public testing::TestWithParam<Window> {};

TEST_P(ShiftedAccesses, ComputeWhatTheOracleSaysInEveryOrder) {
  const std::uint64_t seed = test_support::seed_or(test_support::seed_of_the_day());
  SCOPED_TRACE(GetParam().expression + ", seed " + std::to_string(seed));
  const auto problem = test_support::problem_of(GetParam().expression, GetParam().formats);
  std::mt19937_64 random(seed);
  const auto schedules = in_all_orders(problem, random);
  const test_support::Trials trials(problem, inputs, seed);
  test_support::QuickToolchain toolchain;
  for (const auto& failure : trials.failures(schedules, runs, *toolchain, random)) ADD_FAILURE() << failure;
  EXPECT_GT(trials.determined_elements(), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Windows, ShiftedAccesses,
    testing::Values(
        Window{"A(i) = B(i+k-1) * w(k)", {}}, Window{"A(i) = w(k) * B(i-k)", {{"B", "compressed"}}},
        Window{"A(i) = B(2*i+k-1) * w(k)", {}}, Window{"A(i) = B(2*i+k-1) * w(k)", {{"B", "compressed"}}},
        Window{"A(i) += B(i+k) * w(k)", {}}, Window{"A(i) = B(4-i)", {}},
        Window{"A(i) = B(i+1) - 2 * B(i) + B(i-1)", {}}, Window{"A(i,j) = C(i+k-2,j) * w(k)", {}},
        Window{"A(i,j) = C(i,j-k) * w(k)", {{"C", "csr"}}}, Window{"A(i,j) = B(i+k-1,j+l-2) * v(k,l)", {}},
        Window{"A(i,j) = B(i+k-1,j+l-2) * v(k,l)", {{"B", "csr"}}},
        Window{"A(i,c) = B(i+k,d) * w(k,d,c)", {}},
        Window{"A(i) = sum(k,p,q)(B(p) * C(q) * w(k) * (p == i + k) * (q == p + 2))", {}}));

}  // namespace
}  // namespace schaas
