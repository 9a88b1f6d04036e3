// The schedules of programs against a naive enumeration that shares nothing with compiler/space: every order
// of the statements, every order of each one's loops, every number of loops shared by neighbours, built as
// trees and judged by the verifier alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "compiler/concrete_notation/checks/verifier.h"
#include "compiler/concrete_notation/printer.h"
#include "compiler/cost/cost.h"
#include "compiler/frontier/frontier.h"
#include "compiler/schedule/nests.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/space/listed/appending.h"
#include "compiler/space/listed/program.h"
#include "compiler/space/listed/result_entries.h"
#include "compiler/space/space.h"
#include "tests/support/intersections.h"
#include "tests/support/problem_of.h"
#include "tests/support/space_members.h"

namespace schaas {
namespace {

using concrete_notation::StatementPtr;
using Names = std::vector<std::string>;

struct Example {
  const char* name;
  const char* expression;
  std::map<std::string, std::string> formats;
};
std::ostream& operator<<(std::ostream& out, const Example& example) { return out << example.expression; }

const Example examples[] = {
    {"SampledQuotient", "A(i,j) = B(i,j) / sum(k)(C(i,k) * D(k,j))", {{"B", "csr"}}},
    {"TwoStatements", "T(i,j) = C(i,k) * D(k,j); A(i,j) = B(i,j) * T(i,j)", {{"B", "csr"}}},
    {"ByColumns", "T(i,j) = C(i,k) * D(k,j); A(i,j) = B(i,j) / T(i,j)", {{"B", "csc"}}},
    {"Softmax",
     "m(i) = max(j)(B(i,j)); e(i,j) = exp(B(i,j) - m(i)); s(i) = e(i,j); A(i,j) = e(i,j) / s(i)",
     {}},
    {"OneReadTwice",
     "T(i,j) = C(i,k) * D(k,j); E(i,j) = T(i,j) * B(i,j); G(i) = E(i,j) + T(i,j)",
     {{"B", "csr"}}},
    {"Transposed", "T(i,j) = B(i,j) * x(j); y(j) = T(i,j) * T(i,j)", {{"B", "csr"}}},
    {"ReadAcross", "T(i,j) = B(i,j) + C(i,j); A(i,j) = T(i,j) * T(j,i)", {}},
    {"Independent",
     "t(i) = B(i,j) * x(j); u(i) = C(i,j) * x(j); y(i) = t(i) * u(i) + b(i)",
     {{"B", "csr"}, {"C", "csr"}}},
    {"Norm", "s = x(i) * x(i); y(i) = x(i) / sqrt(s)", {}},
    {"Residual", "y(i) = b(i) - A(i,j) * x(j)", {{"A", "csr"}}},
    {"SumOfSparse",
     "A(i,j) = B(i,j) + C(i,j) + D(i,j)",
     {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}, {"D", "csr"}}},
    {"ProductAndSum", "A(i,j) = B(i,k) * C(k,j) + D(i,j)", {{"B", "csr"}, {"D", "csr"}}},
    {"MaxOfSums", "y(i) = max(j)(sum(k)(B(i,k) * C(k,j)))", {{"B", "csr"}}},
};

/// One assignment of the naive program.
struct Line {
  index_notation::Access target;
  StatementPtr assignment;
  Names loops;
};

/// A way to run the lines: their order, the order of each one's loops, how many each shares with the next.
struct Way {
  std::vector<Line> lines;
  std::vector<std::size_t> shared;
};

StatementPtr without_lost_indices(const Way& way, const StatementPtr& assignment) {
  return concrete_notation::with_accesses(assignment, [&](index_notation::Access access) {
    for (std::size_t n = 0; n < way.lines.size(); ++n) {
      const auto& full = way.lines[n].target;
      if (full.tensor != access.tensor) continue;
      Names kept;
      for (std::size_t at = 0; at < full.indices.size(); ++at) {
        const auto& loops = way.lines[n].loops;
        const auto end = loops.begin() + static_cast<std::ptrdiff_t>(way.shared[n]);
        if (std::find(loops.begin(), end, full.indices[at]) == end) kept.push_back(access.indices[at]);
      }
      access.indices = kept;
    }
    return access;
  });
}

StatementPtr tree_of(const Way& way, std::size_t first, std::size_t last, std::size_t depth) {
  const auto& loops = way.lines[first].loops;
  if (first == last) {
    StatementPtr tree = without_lost_indices(way, way.lines[first].assignment);
    for (std::size_t n = loops.size(); n-- > depth;) tree = concrete_notation::forall(loops[n], tree);
    return tree;
  }
  std::size_t cut = first;
  while (cut < last && way.shared[cut] > depth) ++cut;
  if (cut == last) return concrete_notation::forall(loops[depth], tree_of(way, first, last, depth + 1));
  return concrete_notation::where(tree_of(way, cut + 1, last, depth), tree_of(way, first, cut, depth));
}

/// Calls `visit` with every way, legal or not; the last line stays last.
template <class Visit>
void each_sharing(Way& way, std::size_t at, const Visit& visit) {
  if (at + 1 == way.lines.size()) return visit(way);
  const Names& ours = way.lines[at].loops;
  const Names& theirs = way.lines[at + 1].loops;
  for (std::size_t common = 0;; ++common) {
    way.shared[at] = common;
    each_sharing(way, at + 1, visit);
    if (common == std::min(ours.size(), theirs.size()) || ours[common] != theirs[common]) break;
  }
  way.shared[at] = 0;
}
template <class Visit>
void each_loop_order(Way& way, std::size_t at, const Visit& visit) {
  if (at == way.lines.size()) return each_sharing(way, 0, visit);
  Names& loops = way.lines[at].loops;
  std::sort(loops.begin(), loops.end());
  do {
    each_loop_order(way, at + 1, visit);
  } while (std::next_permutation(loops.begin(), loops.end()));
}
template <class Visit>
void each_way(const std::vector<Line>& lines, const Visit& visit) {
  std::vector<std::size_t> order;
  for (std::size_t n = 0; n + 1 < lines.size(); ++n) order.push_back(n);
  do {
    Way way;
    for (std::size_t n : order) way.lines.push_back(lines[n]);
    way.lines.push_back(lines.back());
    way.shared.assign(lines.size(), 0);
    each_loop_order(way, 0, visit);
  } while (std::next_permutation(order.begin(), order.end()));
}

/// Sizes of every variable: extents 2 to 1000, fibers up to them.
cost::Point random_point(const cost::Variables& variables, std::mt19937& random) {
  cost::Point point(cost::Variables::first_fiber + variables.fibers.size(), 1.0);
  for (std::size_t n = 0; n < variables.extents.size(); ++n)
    point[n] = std::uniform_int_distribution<int>(2, 1000)(random);
  for (std::size_t n = 0; n < variables.fibers.size(); ++n) {
    const auto extent = std::find_if(variables.extents.begin(), variables.extents.end(),
                                     [&](const auto& v) { return v.index == variables.fibers[n].index; });
    point[cost::Variables::first_fiber + n] = std::uniform_real_distribution<double>(
        1, point[static_cast<std::size_t>(extent - variables.extents.begin())])(random);
  }
  test_support::draw_intersections(variables, point, random);
  return point;
}

class Programs : public testing::TestWithParam<Example> {
 protected:
  const problem::Problem problem_ = test_support::problem_of(GetParam().expression, GetParam().formats);

  space::ListedMembers members(const space::ProgramOptions& options = {}) const {
    return space::program_members(schedule::default_nest(problem_), problem_, options,
                                  support::Cancellation())
        .value();
  }
};

TEST_P(Programs, EveryMemberHasATraceWithItsCost) {
  for (const auto& member : members().members) {
    const auto tree = schedule::apply(member.trace, problem_);
    ASSERT_TRUE(tree.ok()) << schedule::print(member.trace) << "\n" << support::render(tree.error());
    EXPECT_EQ(cost::of(*tree, problem_), member.cost) << schedule::print(member.trace);
  }
}

TEST_P(Programs, NaiveEnumerationHasAsManySchedulesAndNoBetterOne) {
  const auto found = members({.distributed = false});
  std::vector<Line> lines;
  const auto nests = schedule::nests_of(schedule::default_nest(problem_)).value();
  for (const auto& nest : nests) lines.push_back({nest.leaf().target, nest.assignment, nest.loops});
  std::uint64_t ways = 0;
  std::set<cost::Cost> costs;
  each_way(lines, [&](const Way& way) {
    const StatementPtr tree = tree_of(way, 0, way.lines.size() - 1, 0);
    if (!concrete_notation::verify(tree, problem_).ok()) return;
    ++ways;
    costs.insert(cost::of(tree, problem_));
  });
  EXPECT_EQ(found.schedules, ways);
  EXPECT_EQ(found.limited, "");
  for (const auto& member : found.members)
    EXPECT_EQ(costs.count(member.cost), 1U) << schedule::print(member.trace);
  const auto variables = cost::variables_of(problem_);
  std::mt19937 random(7);
  for (int n = 0; n < 50; ++n) {
    const cost::Point point = random_point(variables, random);
    for (const auto& cost : costs) {
      const bool covered = std::any_of(found.members.begin(), found.members.end(), [&](const auto& member) {
        return cost::evaluate_time(member.cost, point) <= cost::evaluate_time(cost, point) * (1 + 1e-12) &&
               cost::evaluate_serial(member.cost, point) <=
                   cost::evaluate_serial(cost, point) * (1 + 1e-12) &&
               cost::evaluate_memory(member.cost, point) <= cost::evaluate_memory(cost, point) * (1 + 1e-12);
      });
      ASSERT_TRUE(covered) << cost::print_time(cost, variables) << ", seed 7, point " << n;
    }
  }
}

/// Sizes with no schedule better than every survivor: what was removed wins nowhere.
TEST_P(Programs, NothingRemovedBeatsTheFrontier) {
  const auto all = members();
  const auto frontier =
      frontier::compute(problem_, frontier::options_for(problem_.profile), {}, support::Cancellation());
  ASSERT_TRUE(frontier.ok()) << support::render(frontier.error());
  const auto variables = cost::variables_of(problem_);
  std::mt19937 random(11);
  for (int n = 0; n < 200; ++n) {
    const cost::Point point = random_point(variables, random);
    for (int threads : {1, 8}) {
      double best = std::numeric_limits<double>::infinity(), kept = best;
      for (const auto& member : all.members)
        best = std::min(best, cost::evaluate_time(member.cost, point, threads));
      for (const auto& survivor : frontier->survivors)
        kept = std::min(kept, cost::evaluate_time(survivor.cost, point, threads));
      ASSERT_LE(kept, best * (1 + 1e-12)) << "seed 11, point " << n << ", threads " << threads;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Examples, Programs, testing::ValuesIn(examples),
                         [](const auto& example) { return example.param.name; });

/// A sum among the factors is not merged: the operands' rows are added to the workspace one after another.
TEST(ProductsWithSums, AreDistributed) {
  const auto problem = test_support::problem_of("A(i,k) = B(i,j) * (C(j,k) + D(j,k))",
                                                {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}, {"D", "csr"}});
  const auto survivors =
      frontier::compute(problem, frontier::options_for(problem.profile), {}, support::Cancellation())
          .value()
          .survivors;
  EXPECT_TRUE(std::any_of(survivors.begin(), survivors.end(), [&](const auto& survivor) {
    return cost::print_time(survivor.cost, cost::variables_of(problem)) ==
           "6*i*k'C*j' + 6*i*k'C*j' + 6*i*k'D*j' + 6*i*k'D*j'";
  }));
}

/// Merging many lists compares each coordinate with every head; added to a workspace, an entry costs the same
/// however many operands there are. Of two the merge needs no workspace and takes as long.
TEST(SumsOfSparse, AreAddedToAWorkspaceFromThreeOperandsOn) {
  const auto sum = [](const std::string& expression) {
    std::map<std::string, std::string> formats;
    for (const char tensor : std::string("ABCD")) {
      if (expression.find(tensor) != std::string::npos) formats[std::string(1, tensor)] = "csr";
    }
    const auto problem = test_support::problem_of(expression, formats);
    const auto frontier =
        frontier::compute(problem, frontier::options_for(problem.profile), {}, support::Cancellation())
            .value();
    std::vector<std::string> costs;
    for (const auto& survivor : frontier.survivors) {
      costs.push_back(cost::print_time(survivor.cost, cost::variables_of(problem)) + ", " +
                      cost::print_memory(survivor.cost, cost::variables_of(problem)) + ": " +
                      schedule::print(survivor.traces.front()));
    }
    std::sort(costs.begin(), costs.end());
    return costs;
  };
  EXPECT_EQ(sum("A(i,j) = B(i,j) + C(i,j)"),
            (std::vector<std::string>{"6*i*j'B + 6*i*j'C + merge(i*j'B) + merge(i*j'C), 0: linear"}));
  const auto three = sum("A(i,j) = B(i,j) + C(i,j) + D(i,j)");
  ASSERT_EQ(three.size(), 3U);
  EXPECT_THAT(three[0], testing::HasSubstr("gather(storage=hash)"));
  EXPECT_EQ(three[1],
            "6*i*j'B + 6*i*j'C + 6*i*j'D + merge(i*j'B) + merge(i*j'B) + merge(i*j'C) + merge(i*j'C) + "
            "merge(i*j'D) + merge(i*j'D), 0: linear");
  EXPECT_EQ(three[2],
            "6*i*j'B + 6*i*j'C + 6*i*j'D + merge(i*j'B) + merge(i*j'C) + merge(i*j'D), j + j: "
            "distribute(path={}, depth=1)");
}

/// Products with a sparse result: every schedule of the dense result, each with the cost of its own tree.
const Example appending[] = {
    {"MatrixProduct", "A(i,j) = B(i,k) * C(k,j)", {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}}},
    {"ByColumns", "A(i,j) = B(i,k) * C(k,j)", {{"A", "csc"}, {"B", "csr"}, {"C", "csr"}}},
    {"Sampled", "A(i,j) = B(i,j) * C(i,k) * D(k,j)", {{"A", "csr"}, {"B", "csr"}}},
    {"Mttkrp",
     "A(i,j) = B(i,k,l) * C(k,j) * D(l,j)",
     {{"A", "csr"}, {"B", "csf"}, {"C", "csr"}, {"D", "csr"}}},
    {"TensorTimesMatrix", "A(i,j,k) = B(i,j,l) * C(k,l)", {{"A", "csf"}, {"B", "csf"}, {"C", "csr"}}},
};

class SparseResults : public testing::TestWithParam<Example> {
 protected:
  const problem::Problem problem_ = test_support::problem_of(GetParam().expression, GetParam().formats);
};

TEST_P(SparseResults, EveryScheduleOfTheDenseResultIsOneOfThese) {
  const auto found = space::appending_members(problem_, 4'000, 16, support::Cancellation()).value();
  ASSERT_TRUE(found.has_value());
  space::Space dense(space::with_dense_result(problem_), {});
  std::vector<space::ResultEntries> entries;  // a workspace may be a hash table, too
  const auto add = [&](const schedule::Trace& trace) {
    if (const auto tree = schedule::apply(trace, problem_); tree.ok())
      entries.push_back(space::result_entries(schedule::nests_of(*tree).value(), problem_));
  };
  ASSERT_TRUE(dense
                  .for_each(
                      [&](schedule::Trace trace) {
                        add(trace);
                        trace.directives.emplace_back(
                            schedule::WorkspaceStorage{concrete_notation::Storage::hash});
                        add(trace);
                        return true;
                      },
                      support::Cancellation())
                  .ok());
  const std::vector<bool> fewest = space::with_fewest_entries(entries);
  EXPECT_EQ(found->schedules, std::count(fewest.begin(), fewest.end(), true));
  EXPECT_EQ(found->steps, entries.size());
  test_support::expect_appending_costs(problem_);
}

TEST_P(SparseResults, WiderSpacesAreListedToo) {
  problem::Problem wider = problem_;
  for (const auto option : {problem::SpaceOption::stored_producers, problem::SpaceOption::shorter_fusion}) {
    wider.space = option;
    test_support::expect_appending_costs(wider);
  }
}

TEST_P(SparseResults, NothingRemovedBeatsTheFrontier) {
  const auto all = space::appending_members(problem_, 4'000, 16, support::Cancellation()).value();
  const auto frontier =
      frontier::compute(problem_, frontier::options_for(problem_.profile), {}, support::Cancellation());
  ASSERT_TRUE(frontier.ok()) << support::render(frontier.error());
  EXPECT_TRUE(frontier->complete);
  const auto variables = cost::variables_of(problem_);
  const auto entries_of = [&](const schedule::Trace& trace) {
    return space::result_entries(schedule::nests_of(schedule::apply(trace, problem_).value()).value(),
                                 schedule::problem_of(trace, problem_).value());
  };
  // With copies there may be fewer entries.
  std::vector<cost::Cost> costs;
  const auto fewest = entries_of(frontier->survivors.front().traces.front());
  for (const auto& member : all->members)
    if (space::has_no_more_entries(entries_of(member.trace), fewest)) costs.push_back(member.cost);
  std::mt19937 random(5);
  for (int n = 0; n < 100; ++n) {
    const cost::Point point = random_point(variables, random);
    double best = std::numeric_limits<double>::infinity(), kept = best;
    for (const cost::Cost& cost : costs) best = std::min(best, cost::evaluate_time(cost, point));
    for (const auto& survivor : frontier->survivors)
      kept = std::min(kept, cost::evaluate_time(survivor.cost, point));
    ASSERT_LE(kept, best * (1 + 1e-12)) << "seed 5, point " << n;
  }
}

TEST(SparseResult, RowsOfAMatrixProductAreGatheredInAWorkspace) {
  const auto problem =
      test_support::problem_of("A(i,j) = B(i,k) * C(k,j)", {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}});
  const auto frontier =
      frontier::compute(problem, frontier::options_for(problem.profile), {}, support::Cancellation());
  ASSERT_TRUE(frontier.ok());
  ASSERT_EQ(frontier->survivors.size(), 2U);
  const auto variables = cost::variables_of(problem);
  // Each product is added to the row, and each entry listed, sorted and appended.
  std::map<std::string, std::string> costs;
  for (const auto& survivor : frontier->survivors)
    costs[cost::print_time(survivor.cost, variables)] = cost::print_memory(survivor.cost, variables);
  const std::map<std::string, std::string> expected{
      {"6*i*j'*k' + 6*i*j'*k'", "j + j"},
      {"6*i*j'*k' + 6*i*j'*k' + 6*i*j'*k'", "j'*k' + j'*k' + j'*k' + j'*k'"}};
  EXPECT_EQ(costs, expected);
  const auto dense = test_support::problem_of("A(i,j) = B(i,k) * C(k,j)", {{"A", "csr"}, {"B", "csr"}});
  const auto rows =
      frontier::compute(dense, frontier::options_for(dense.profile), {}, support::Cancellation());
  ASSERT_TRUE(rows.ok());
  // Rows of a dense C: every element of the row is written, so it is appended once.
  EXPECT_EQ(cost::print_time(rows->survivors[0].cost, cost::variables_of(dense)), "i*j*k' + 6*i*j");
}

// Issue 38: a schedule that stores full rows was kept beside two that do not, and removed both of them.
TEST(ResultEntries, OneSetStandsForThoseThatNoOtherHasFewerThan) {
  const space::ResultEntries first{{{"B(i,j)"}}}, second{{{"C(i,j)"}}}, more{{{"B(i,j)"}, {"D(i,j)"}}},
      full{{{}}, true};
  EXPECT_EQ(space::with_fewest_entries({full, second, first, more, first}),
            (std::vector<bool>{false, false, true, false, true}));
  EXPECT_EQ(space::with_fewest_entries({more, full}), (std::vector<bool>{true, false}));
  EXPECT_EQ(space::with_fewest_entries({}), std::vector<bool>());
}

INSTANTIATE_TEST_SUITE_P(Examples, SparseResults, testing::ValuesIn(appending),
                         [](const auto& example) { return example.param.name; });

}  // namespace
}  // namespace schaas
