// Members as traces: each applies to the default nest and gives a tree of its class's cost.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "compiler/cost/cost.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/space/space.h"
#include "tests/support/search_oracle.h"
#include "tests/support/space_members.h"

namespace schaas {
namespace {

/// A product of three (rarely four) operands over few indices with random formats, sometimes with a sparse
/// result.
problem::Problem small_problem(std::mt19937_64& random, problem::Profile profile) {
  const std::vector<std::string> names{"i", "j", "k", "l"};
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const auto format = [&](int order, bool sparse) {
    format::TensorFormat result = format::dense(order);
    for (auto& level : result.levels) {
      if (sparse && pick(0, 1) == 1) level = format::LevelFormat::compressed;
    }
    std::shuffle(result.mode_order.begin(), result.mode_order.end(), random);
    return result;
  };
  problem::Problem problem;
  problem.profile = profile;
  std::vector<index_notation::Access> operands;
  std::set<std::string> used;
  const int count = pick(0, 5) == 0 ? 4 : 3;
  for (int n = 0; n < count; ++n) {
    std::vector<std::string> indices = names;
    std::shuffle(indices.begin(), indices.end(), random);
    indices.resize(static_cast<std::size_t>(pick(count == 4 ? 0 : 1, count == 4 ? 2 : 3)));
    used.insert(indices.begin(), indices.end());
    operands.push_back({std::string(1, static_cast<char>('B' + n)), indices});
    problem.formats[operands.back().tensor] =
        format(static_cast<int>(indices.size()), n == 0 || pick(0, 3) == 0);
  }
  std::vector<std::string> result(used.begin(), used.end());
  std::shuffle(result.begin(), result.end(), random);
  result.resize(static_cast<std::size_t>(pick(0, std::min<int>(3, static_cast<int>(result.size())))));
  problem.statement.result = {"A", result};
  problem.formats["A"] = format(static_cast<int>(result.size()), pick(0, 4) == 0);
  problem.statement.value = index_notation::product_of(operands);
  return problem;
}

TEST(SpaceProperty, EveryMemberAppliesAndHasTheCostOfItsClass) {
  for (const std::string name : {"K4", "K6", "K7"}) {
    for (const std::string profile : {"default", "sparseauto"}) {
      for (const auto& kernel : test_support::search_oracle()) {
        if (kernel.name != name) continue;
        SCOPED_TRACE(name + " " + profile);
        test_support::expect_members_apply(problem::build(kernel.text(profile)).value(),
                                           space::Rule::symmetric);
      }
    }
  }
}

TEST(SpaceProperty, EveryMemberOfRandomContractionsAppliesAndHasTheCostOfItsClass) {
  int checked = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto problem = small_problem(random, problem::Profile::standard);
    const support::Cancellation never;
    space::Space space(problem, {});
    if (space.count(never).value() > 1500 || space.count(never).value() == 0) continue;
    ++checked;
    test_support::expect_members_apply(problem, space::Rule::symmetric);
    if (HasFailure()) return;
  }
  EXPECT_GE(checked, 20);
}

TEST(SpaceProperty, RandomMembersOfLargeKernelsApplyAndTheirClassContainsThem) {
  for (const auto& kernel : test_support::search_oracle()) {
    const auto problem = problem::build(kernel.text("default")).value();
    space::Space space(problem, {});
    const support::Cancellation never;
    std::mt19937_64 random(7);
    for (int n = 0; n < 30; ++n) {
      const auto trace = space.draw(random).value();
      const auto tree = schedule::apply(trace, problem);
      ASSERT_TRUE(tree.ok()) << kernel.name << ": " << support::render(tree.error());
      if (n % 10 != 0) continue;
      const auto cost = cost::of(*tree, problem);
      const auto members = space.members_of(cost, 4, never).value();
      ASSERT_GE(members.traces.size(), 1U);
      EXPECT_LE(members.traces.size(), members.members);
      for (const auto& member : members.traces) {
        EXPECT_EQ(cost::of(schedule::apply(member, problem).value(), problem), cost)
            << schedule::print(member);
      }
    }
  }
}

TEST(SpaceProperty, MembersOfEveryClassAreCountedExactly) {
  for (const auto& kernel : test_support::search_oracle()) {
    if (kernel.name != "K1" && kernel.name != "K4" && kernel.name != "K6" && kernel.name != "K7") continue;
    const auto problem = problem::build(kernel.text("default")).value();
    space::Space space(problem, {});
    const support::Cancellation never;
    const std::vector<space::ClassCount> classes = space.classes(99, never).value();
    for (const space::ClassCount& one : classes) {
      EXPECT_EQ(space.members_of(one.cost, 1, never).value().members, one.members) << kernel.name;
    }
  }
}

}  // namespace
}  // namespace schaas
