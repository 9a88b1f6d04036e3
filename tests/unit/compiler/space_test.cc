#include "compiler/space/space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "compiler/concrete_notation/printer.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/space/contraction.h"
#include "compiler/space/divisions.h"
#include "compiler/space/listed/appending.h"
#include "compiler/space/listed/member_tree.h"
#include "compiler/space/loop_trees.h"
#include "compiler/space/prefixes.h"
#include "tests/support/search_oracle.h"

// The recursion over the schedule space: counts, cost classes, depths, loop trees, uniform drawing. Sizes of
// the spaces of SparseAuto's kernels are known numbers (tests/support/search_oracle.h), and classes must add
// up to them. Draws from 109 members pass a chi-square test under a fixed seed. Limits and cancellation are
// reported; a cancelled fold leaves no partial result in the memo. tests/property/exact_search_test.cc
// compares the recursion with a naive enumeration.
namespace schaas::space {
namespace {

const support::Cancellation never;

problem::Problem problem_of(const std::string& expression, const std::map<std::string, std::string>& formats,
                            const std::string& profile = "sparseauto") {
  problem::ProblemText text;
  text.expression = expression;
  text.formats = formats;
  text.profile = profile;
  return problem::build(text).value();
}

class EightKernels : public testing::TestWithParam<test_support::SearchOracle> {
 protected:
  problem::Problem papers() const { return problem::build(GetParam().text("sparseauto")).value(); }
};

TEST_P(EightKernels, SymmetricSpaceHasTheKnownSize) {
  Space space(problem::build(GetParam().text("default")).value(), {Rule::symmetric});
  EXPECT_EQ(space.count(never).value().get_str(), GetParam().symmetric);
}

TEST_P(EightKernels, AsWrittenSpaceHasTheKnownSize) {
  Space space(papers(), {Rule::as_written});
  EXPECT_EQ(space.count(never).value().get_str(), GetParam().as_written);
}

TEST_P(EightKernels, CostClassesOfTheWholeSpaceAddUpToIt) {
  Space space(papers(), {Rule::as_written});
  const std::vector<ClassCount> classes = space.classes(max_indices, never).value();
  EXPECT_EQ(classes.size(), GetParam().classes);
  mpz_class sum = 0;
  for (const ClassCount& one : classes) sum += one.members;
  EXPECT_EQ(sum.get_str(), GetParam().as_written);
}

TEST_P(EightKernels, DepthsAndBoundedClassesAreThoseOfTheClasses) {
  if (GetParam().name == "K2") return;
  Space space(papers(), {Rule::as_written});
  std::map<Space::Depths, mpz_class> expected, found;
  const std::vector<ClassCount> classes = space.classes(max_indices, never).value();
  for (const ClassCount& one : classes)
    expected[{cost::loop_depth(one.cost), cost::memory_depth(one.cost)}] += one.members;
  const std::vector<Space::DepthCount> counts = space.depths(never).value();
  for (const auto& one : counts) found[one.depths] = one.members;
  EXPECT_EQ(found, expected);
  for (const auto& [bound, members] : expected) {
    std::map<cost::Cost, mpz_class> within, asked;
    for (const ClassCount& one : classes) {
      if (cost::loop_depth(one.cost) <= bound.loops && cost::memory_depth(one.cost) <= bound.memory)
        within[one.cost] = one.members;
    }
    const std::vector<ClassCount> bounded = space.classes(bound, never).value();
    for (const ClassCount& one : bounded) asked[one.cost] = one.members;
    EXPECT_EQ(asked, within);
  }
}

TEST_P(EightKernels, LoopTreesOfMemoryDepthTwoAreTheKnownNumber) {
  Space space(papers(), {Rule::as_written});
  EXPECT_EQ(std::to_string(space.loop_trees({{max_indices, 2}}, never).value()), GetParam().trees_stage1);
}

TEST_P(EightKernels, PublishedRuleHasTheCountsOfThePapers) {
  Space space(papers(), {Rule::published});
  const test_support::PublishedCounts& known = GetParam().published;
  EXPECT_EQ(space.count(never).value().get_str(), known.members);
  EXPECT_EQ(space.loop_trees({{max_indices, 2}}, never).value(), known.trees_stage1);
  EXPECT_EQ(space.published_pairs(2, never).value().size(), known.pairs_stage1);
}

INSTANTIATE_TEST_SUITE_P(Oracle, EightKernels, testing::ValuesIn(test_support::search_oracle()),
                         [](const auto& instance) { return instance.param.name; });

TEST(Space, KernelSevenWithADenseResult) {
  const auto problem =
      problem_of("A(i,j,m) = B(i,j,k) * C(k,l) * D(l,m)", {{"B", "dense,compressed,compressed"}});
  EXPECT_EQ(Space(problem, {Rule::as_written}).count(never).value(), 802);
  EXPECT_EQ(Space(problem, {Rule::symmetric}).count(never).value(), 2522);
}

TEST(Space, SixOperandsAreCountedExactly) {
  const auto problem =
      problem_of("A(i,n) = B(i,j) * C(i,k) * D(j,k) * E(j,l) * F(l,m) * G(m,n)", {{"B", "dense,compressed"}});
  Space symmetric(problem, {Rule::symmetric});
  EXPECT_EQ(symmetric.count(never).value().get_str(), "163048541159352");
  EXPECT_EQ(Space(problem, {Rule::as_written}).count(never).value().get_str(), "26869327023504");
}

TEST(Space, TheSizeDoesNotDependOnNamesOrOnTheOrderOfFactors) {
  const auto a = problem_of("A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", {{"B", "csr"}}, "default");
  const auto b = problem_of("Y(x,y) = D(z,y) * S(x,z) * W(z,q) * V(x,q)", {{"S", "csr"}}, "default");
  EXPECT_EQ(Space(a, {}).count(never).value(), Space(b, {}).count(never).value());
  EXPECT_EQ(Space(a, {}).classes(9, never).value().size(), Space(b, {}).classes(9, never).value().size());
}

TEST(Space, OneOrTwoOperandsHaveLinearNestsOnly) {
  EXPECT_EQ(Space(problem_of("A(i,j) = B(i,j)", {{"B", "csr"}}), {}).count(never).value(), 1);
  EXPECT_EQ(Space(problem_of("A(i,j) = B(i,j)", {}), {}).count(never).value(), 2);
  EXPECT_EQ(Space(problem_of("A(i,k) = B(i,j) * C(j,k)", {{"B", "csr"}}), {}).count(never).value(), 3);
  EXPECT_EQ(Space(problem_of("a = b * c", {}), {}).count(never).value(), 1);
}

TEST(Space, OpposedStorageOrdersLeaveNoSchedule) {
  Space space(problem_of("A(i,j) = B(i,j) * C(i,j)", {{"B", "csr"}, {"C", "csc"}}), {});
  EXPECT_EQ(space.count(never).value(), 0);
  std::mt19937_64 random(1);
  EXPECT_EQ(space.draw(random).error().code, "no-schedule");
}

TEST(Space, ACycleOfStorageOrdersHasSchedulesIfItIsSplit) {
  // No nest reaches B, C and D, each by rows; a temporary reaches two of them and is read the other way.
  const std::vector<problem::Problem> cycles = {
      problem_of("s = B(i,j) * C(j,k) * D(k,i)", {{"B", "csr"}, {"C", "csr"}, {"D", "csr"}}, "default"),
      problem_of("s = B(i,j) * C(j,k) * D(k,l) * E(l,i)",
                 {{"B", "csr"}, {"C", "csr"}, {"D", "csr"}, {"E", "csr"}}, "default"),
      problem_of("A(i,l) = B(i,j) * C(j,k) * D(k,i) * E(k,l)", {{"B", "csr"}, {"C", "csr"}, {"D", "csr"}},
                 "default")};
  for (const auto& problem : cycles) {
    Space space(problem, {});
    ASSERT_GT(space.count(never).value(), 0);
    std::mt19937_64 random(1);
    for (int n = 0; n < 20; ++n) {
      const auto trace = space.draw(random);
      ASSERT_TRUE(trace.ok());
      const auto tree = schedule::apply(*trace, problem);
      EXPECT_TRUE(tree.ok()) << schedule::print(*trace) << support::render(tree.error());
    }
  }
}

TEST(Space, ALimitOnMemoryIsExhaustion) {
  Options options;
  options.max_bytes = 100'000;
  Space space(problem_of("A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", {{"B", "csr"}}), options);
  const auto count = space.count(never);
  ASSERT_FALSE(count.ok());
  EXPECT_EQ(count.error().family, support::Family::exhausted);
  EXPECT_EQ(count.error().code, "space-memory");
  EXPECT_EQ(space.classes(2, never).error().code, "space-memory");
}

TEST(Space, ACancelledSearchSaysSo) {
  support::Cancellation cancelled;
  cancelled.cancel();
  const auto kernel = test_support::search_oracle()[1];
  Space space(problem::build(kernel.text("sparseauto")).value(), {});
  const auto classes = space.classes(max_indices, cancelled);
  ASSERT_FALSE(classes.ok());
  EXPECT_EQ(classes.error().code, "cancelled");
  EXPECT_EQ(space.count(never).value().get_str(), kernel.symmetric)
      << "an interrupted fold must leave no trace";
}

TEST(Space, DrawIsUniform) {
  Space space(problem_of("A(i,j,m) = B(i,j,k) * C(k,l) * D(l,m)",
                         {{"B", "dense,compressed,compressed"}, {"A", "dense,compressed,dense"}}),
              {Rule::as_written});
  const std::size_t members = 109;
  std::mt19937_64 random(20241121);
  std::map<std::string, std::uint64_t> drawn;
  const std::uint64_t draws = 200 * members;
  for (std::uint64_t n = 0; n < draws; ++n) ++drawn[schedule::print(space.draw(random).value())];
  ASSERT_EQ(drawn.size(), members);
  double chi_square = 0;
  for (const auto& [trace, times] : drawn) {
    const double deviation = static_cast<double>(times) - 200;
    chi_square += deviation * deviation / 200;
  }
  // 108 degrees of freedom: mean 108, standard deviation 14.7; five of them either way.
  EXPECT_LT(chi_square, 182);
  EXPECT_GT(chi_square, 34);
}

TEST(Space, ForEachStopsWhenAsked) {
  Space space(problem_of("A(i,l) = B(i,j) * C(j,k) * D(k,l)", {{"B", "csr"}}), {});
  int visited = 0;
  ASSERT_TRUE(space.for_each([&](const schedule::Trace&) { return ++visited < 5; }, never).ok());
  EXPECT_EQ(visited, 5);
}

TEST(Space, TheFirstTraceOfAClassRunsItsOutermostLoopOverTheResult) {
  const auto problem = problem_of("A(i,l) = B(i,j) * C(j,k) * D(k,l)", {{"B", "csr"}}, "default");
  Space space(problem, {});
  for (const ClassCount& one : std::vector<ClassCount>(space.classes(9, never).value())) {
    if (cost::print_time(one.cost, cost::variables_of(problem)) != "i*l*k + i*j'*k") continue;
    const auto members = space.members_of(one.cost, 9, never).value();
    EXPECT_EQ(schedule::print(members.traces.at(0)),
              "reorder(path={}, order={i,j,k,l}); loopfuse(path={}, loc=2, pol=left)");
    return;
  }
  FAIL() << "the row-temporary class is missing";
}

TEST(LoopTrees, AreAllCountedUpToTheLimit) {
  Recursion recursion(problem_of("A(i,m) = B(i,j) * C(j,k) * D(k,l) * E(l,m)", {}), {Rule::symmetric});
  const auto trees_of = [&](std::uint64_t limit, StateId root) -> std::optional<std::size_t> {
    Watch watch(recursion, never, "counting loop trees");
    TreeTable table;
    LoopTrees trees(recursion, table, limit);
    const std::size_t found = trees.of(root, max_indices, max_indices, watch).size();
    if (!watch.stopped()) return found;
    EXPECT_EQ(watch.error().code, "loop-trees");
    return std::nullopt;
  };
  for (const Side& root : recursion.roots()) {
    const std::size_t all = trees_of(1'000'000, root.state).value();
    ASSERT_GT(all, 1U);
    EXPECT_EQ(trees_of(all, root.state), all);
    EXPECT_EQ(trees_of(all - 1, root.state), std::nullopt);
    EXPECT_EQ(trees_of(all / 8, root.state), std::nullopt);
  }
}

TEST(Divisions, AreDistinctAndWithinTheLimit) {
  std::vector<std::string> found;
  std::vector<EqualTerms> groups = equal_terms({1, 1, 2, 5});
  groups[1].counts = false;
  groups[2].min_first = 1;
  each_division(groups, 2, [&](const std::vector<std::size_t>& taken) {
    std::string text;
    for (const cost::Term term : first_side(groups, taken)) text += std::to_string(term);
    text += '|';
    for (const cost::Term term : second_side(groups, taken)) text += std::to_string(term);
    found.push_back(text);
  });
  EXPECT_EQ(found, (std::vector<std::string>{"5|112", "15|12", "25|11", "125|1"}));
}

TEST(Divisions, DoNotDependOnTheNumberOfTerms) {
  std::vector<cost::Term> sorted(40);
  std::iota(sorted.begin(), sorted.end(), cost::Term{1});
  std::size_t found = 0;
  each_division(equal_terms(sorted), 2, [&](const std::vector<std::size_t>&) { ++found; });
  EXPECT_EQ(found, 1U + 40U + 40U * 39U / 2U);
}

TEST(Appending, KeepsATraceOfEveryCost) {
  const auto problem =
      problem_of("A(i,k) = B(i,j) * C(j,k)", {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}}, "default");
  const ListedMembers none = appending_members(problem, 4'000, 0, never).value().value();
  const ListedMembers one = appending_members(problem, 4'000, 1, never).value().value();
  ASSERT_FALSE(none.members.empty());
  EXPECT_EQ(none.members.size(), one.members.size());
  EXPECT_EQ(none.schedules, one.schedules);
}

/// The tree with temporaries numbered in order of appearance, their indices sorted.
std::string normalised(const concrete_notation::StatementPtr& tree, const problem::Problem& problem) {
  std::map<std::string, std::string> names;
  return concrete_notation::print(concrete_notation::with_accesses(tree, [&](index_notation::Access access) {
    if (problem.formats.count(access.tensor) != 0) return access;
    access.tensor = names.try_emplace(access.tensor, "t" + std::to_string(names.size())).first->second;
    std::sort(access.indices.begin(), access.indices.end());
    return access;
  }));
}

TEST(MemberTrees, AreTheTreesOfTheTraces) {
  for (const std::string expression :
       {"A(i,l) = B(i,j) * C(j,k) * D(k,l)", "A(i,k) = B(i,j) * C(j,k) * D(i,k)",
        "A(i,m) = B(i,j) * C(j,k) * D(k,l) * E(l,m)"}) {
    const auto problem = problem_of(expression, {{"B", "csr"}, {"C", "csr"}}, "default");
    Recursion recursion(problem, {});
    Counter counter(recursion);
    Watch watch(recursion, never, "");
    MemberTrees trees(recursion, problem);
    for (std::size_t n = 0; n < recursion.roots().size(); ++n) {
      const Side root = recursion.roots()[n];
      const auto& order = recursion.operand_orders()[n];
      const mpz_class count = counter.of(root.state, watch);
      for (mpz_class number = 0; number < count; number += 1 + count / 200) {
        const MemberPtr member = member_at(recursion, counter, root.state, number, watch);
        const auto replayed = schedule::apply(trace_of(recursion, *member, order, root.mirrored), problem);
        ASSERT_TRUE(replayed.ok()) << replayed.error().message;
        EXPECT_EQ(normalised(trees.of(*member, order, root.mirrored), problem),
                  normalised(*replayed, problem));
      }
    }
  }
}

TEST(Orders, AreCountedAndNumberedUnderAPrecedence) {
  Precedence before{};
  before[1] = 0b00001;  // 1 after 0
  before[3] = 0b00011;  // 3 after 0 and 1
  Orders orders(before);
  EXPECT_EQ(orders.count(0b11111), 120U / 6U);
  EXPECT_EQ(orders.count(0b01010), 1U);
  EXPECT_EQ(orders.count_ending_in(0b11111, 0), 0U);
  std::uint64_t number = 0;
  orders.each(0b11111, [&](const Order& order) {
    EXPECT_EQ(orders.at(0b11111, number++), order);
    return true;
  });
  EXPECT_EQ(number, 20U);
}

TEST(Orders, ACycleHasNone) {
  Precedence before{};
  before[0] = 0b10;
  before[1] = 0b01;
  EXPECT_EQ(Orders(before).count(0b11), 0U);
  EXPECT_EQ(Orders(before).count(0b101), 2U);
}

TEST(CommonPrefixes, NeedALoopThatDivergesUnlessEveryOneIsWanted) {
  const auto prefixes = [](const Precedence& before, Prefixes kind) {
    std::vector<IndexSet> found;
    each_common_prefix(Orders(before), 0b011, 0b101, kind, [&](IndexSet q) { found.push_back(q); });
    return found;
  };
  // Producer over {0,1}, consumer over {0,2}; 1 after 0: the empty prefix needs 2 to come first.
  Precedence before{};
  before[1] = 0b001;
  EXPECT_EQ(prefixes(before, Prefixes::maximal), (std::vector<IndexSet>{0b000, 0b001}));
  before[2] = 0b001;  // now both sides start with 0 in every order
  EXPECT_EQ(prefixes(before, Prefixes::maximal), (std::vector<IndexSet>{0b001}));
  EXPECT_EQ(prefixes(before, Prefixes::every), (std::vector<IndexSet>{0b000, 0b001}));
}

}  // namespace
}  // namespace schaas::space
