// Products of several sparse operands, at counted trips: loop trees run over random patterns, and what their
// loops do is counted (tests/support/counted_work.h). No schedule that the search dropped may be much faster
// than every one that it kept, and costs at the counted averages are near the counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <random>
#include <set>

#include "compiler/frontier/frontier.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/space/space.h"
#include "tests/support/counted_work.h"

namespace schaas {
namespace {

constexpr int problems_to_check = 40;
constexpr int inputs_per_problem = 3;
constexpr std::size_t max_members = 24;
/// Rows are not of average length and their patterns not independent, as costs take them to be.
constexpr double slack = 1.6, few_steps = 400;

const support::Cancellation never;

const std::vector<std::string> expressions{
    "y(i) = B(i,j) * x(j)",
    "a = x(i) * z(i)",
    "y(i) = x(i) * z(i) * v(i)",
    "A(i,k) = B(i,j) * C(j,k)",
    "A(i,k) = B(i,j) * C(k,j)",
    "y(i) = B(i,j) * C(i,j) * x(j)",
    "a = B(i,j) * C(j,k) * D(i,k)",
    "a = B(i,j) * B(j,k) * B(i,k)",
    "A(i,l) = B(i,j) * C(j,k) * D(k,l)",
    "y(i) = B(i,j) * x(j) * C(j,k) * z(k)",
    "A(i,k) = B(i,j) * C(j,k) * x(j)",
    "y(i) = T(i,j,k) * x(j) * z(k)",
    "A(i,l) = T(i,j,k) * B(j,l) * C(k,l)",
};

/// An expression with random levels for each operand, of which at least two are sparse.
problem::ProblemText random_text(std::mt19937_64& random) {
  problem::ProblemText text;
  text.expression = expressions[random() % expressions.size()];
  for (const char tensor : std::string("BCDTvxz")) {
    const std::string name(1, tensor);
    if (text.expression.find(name + "(") == std::string::npos) continue;
    const std::size_t order = tensor == 'T' ? 3 : std::islower(tensor) ? 1 : 2;
    std::vector<int> modes(order);
    for (std::size_t n = 0; n < order; ++n) modes[n] = static_cast<int>(n);
    std::shuffle(modes.begin(), modes.end(), random);
    std::string levels, tail;
    const bool dense = random() % 5 == 0;
    for (std::size_t n = 0; n < order; ++n) {
      const bool compressed = !dense && (n + 1 == order || random() % 3 == 0);
      levels += (n ? "," : "") + std::string(compressed ? "compressed" : "dense");
      tail += (n ? "," : ":") + std::to_string(modes[n]);
    }
    text.formats[name] = levels + tail;
  }
  return text;
}

int sparse_operands(const problem::Problem& problem) {
  int count = 0;
  for (const auto& operand : problem.operands())
    count += problem.formats.at(operand.tensor).all_dense() ? 0 : 1;
  return count;
}

/// Patterns of very different densities.
test_support::RandomInput random_input(const problem::Problem& problem, std::mt19937_64& random) {
  constexpr double densities[] = {0.02, 0.1, 0.3, 0.9};
  test_support::Extents extents;
  const bool tied = problem.operands()[0].tensor == problem.operands().back().tensor;
  const auto common = std::uniform_int_distribution<std::int64_t>(20, 48)(random);
  for (const auto& index : problem.indices())
    extents[index] = tied ? common : std::uniform_int_distribution<std::int64_t>(12, 48)(random);
  test_support::RandomInput input = test_support::random_input(problem, extents, random);
  for (auto& [name, tensor] : input.operands) {
    if (problem.formats.at(name).all_dense()) continue;
    test_support::RandomTensorOptions options;
    options.density = densities[random() % 4];
    tensor = test_support::random_tensor(tensor.dense.extents, options, random);
  }
  return input;
}

concrete_notation::StatementPtr tree_of(const schedule::Trace& trace, const problem::Problem& problem) {
  return schedule::apply(trace, problem).value();
}

struct Members {
  std::vector<schedule::Trace> kept, some;  ///< representatives of the frontier; members of the space
};

std::optional<Members> members_of(const problem::Problem& problem, std::mt19937_64& random) {
  space::Space space(problem, {});
  if (space.count(never).value() == 0) return std::nullopt;
  frontier::Options options = frontier::options_for(problem.profile);
  options.solver_milliseconds = 50;
  const auto found = frontier::compute(problem, options, {}, never).value();
  Members members;
  for (const auto& survivor : found.survivors) members.kept.push_back(survivor.traces.front());
  const bool all = space.count(never).value() <= max_members;
  if (all) {
    const auto listed = space.for_each(
        [&](const auto& trace) {
          members.some.push_back(trace);
          return true;
        },
        never);
    EXPECT_TRUE(listed.ok());
  } else {
    for (std::size_t n = 0; n < max_members; ++n) members.some.push_back(space.draw(random).value());
  }
  return members;
}

TEST(SeveralSparseOperands, NoDroppedScheduleBeatsEverySurvivorInCountedWork) {
  int problems = 0;
  for (std::uint64_t seed = 0; problems < problems_to_check && seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto built = problem::build(random_text(random));
    if (!built.ok() || sparse_operands(*built) < 2) continue;
    const auto members = members_of(*built, random);
    if (!members) continue;
    ++problems;
    for (int n = 0; n < inputs_per_problem; ++n) {
      const auto input = random_input(*built, random);
      const auto work = [&](const schedule::Trace& trace) {
        const auto with_copies = schedule::problem_of(trace, *built).value();
        return test_support::counted_work(tree_of(trace, *built), with_copies, input).total();
      };
      double best = std::numeric_limits<double>::infinity();
      for (const auto& trace : members->kept) best = std::min(best, work(trace));
      for (const auto& trace : members->some) {
        const double own = work(trace);
        ASSERT_LE(best, slack * own + few_steps)
            << schedule::print(trace) << " takes " << own << ", the best survivor " << best << "\n"
            << problem::print(*built);
      }
    }
  }
  EXPECT_EQ(problems, problems_to_check);
}

TEST(SeveralSparseOperands, CostsAtCountedAveragesAreNearTheCounts) {
  int problems = 0;
  for (std::uint64_t seed = 0; problems < problems_to_check && seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto built = problem::build(random_text(random));
    if (!built.ok() || sparse_operands(*built) < 2) continue;
    space::Space space(*built, {});
    if (space.count(never).value() == 0) continue;
    ++problems;
    const auto input = random_input(*built, random);
    const cost::Point point = test_support::counted_point(*built, input);
    for (int n = 0; n < 5; ++n) {
      const auto trace = space.draw(random).value();
      const auto tree = tree_of(trace, *built);
      const double counted = test_support::counted_work(tree, *built, input).total();
      const double predicted = cost::evaluate_time(cost::of(tree, *built), point);
      EXPECT_LE(counted, slack * predicted + few_steps) << schedule::print(trace);
      EXPECT_LE(predicted, slack * counted + few_steps) << schedule::print(trace);
    }
  }
  EXPECT_EQ(problems, problems_to_check);
}

// The default nest of a result by columns begins with other loops than that of a dense one.
TEST(SeveralSparseOperands, TracesOfSparseResultsBeginFromTheirDefaultNest) {
  for (const std::string result : {"dense,compressed:1,0", "compressed,compressed:1,0", "csr"}) {
    for (const std::string operand : {"csr", "csc", "dcsr"}) {
      problem::ProblemText text;
      text.expression = "A(i,k) = B(i,j) * C(k,j)";
      text.formats = {{"A", result}, {"B", "csr"}, {"C", operand}};
      const auto problem = problem::build(text).value();
      const auto found =
          frontier::compute(problem, frontier::options_for(problem.profile), {}, never).value();
      for (const auto& survivor : found.survivors) {
        for (const auto& trace : survivor.traces) {
          const auto tree = schedule::apply(trace, problem);
          EXPECT_TRUE(tree.ok()) << schedule::print(trace) << "\n" << problem::print(problem);
        }
      }
    }
  }
}

}  // namespace
}  // namespace schaas
