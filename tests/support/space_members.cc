#include "tests/support/space_members.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/cost/cost.h"
#include "compiler/schedule/nests.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/space/listed/appending.h"
#include "compiler/space/listed/result_entries.h"

// Two ways to the same numbers. The recursion counts members per cost without listing them; here each member
// is listed, replayed as a trace, and costed from its tree. Counts per cost must agree, traces must be
// distinct, and none may be refused. For a sparse result the listed members are compared with the traces of
// the dense result, completed with workspaces. Costs of those trees come from cost::of, whereas the list
// reads costs off the member.
namespace schaas::test_support {
namespace {

using Counts = std::map<cost::Cost, std::uint64_t>;

const support::Cancellation never;

/// The result is copied from a temporary, as no member of the space itself does.
bool gathers(const concrete_notation::StatementPtr& tree, const problem::Problem& problem) {
  const auto* read = std::get_if<index_notation::Access>(&concrete_notation::leaf_of(tree).value.node);
  return read != nullptr && problem.formats.count(read->tensor) == 0;
}

}  // namespace

void expect_appending_costs(const problem::Problem& problem) {
  SCOPED_TRACE(problem::print(problem));
  const auto listed = space::appending_members(problem, 4'000, 3, never);
  ASSERT_TRUE(listed.ok());
  if (!*listed) return;
  Counts all, by_tree;
  std::vector<cost::Cost> costs;
  std::vector<space::ResultEntries> entries;
  const auto count = [&](schedule::Trace trace, bool legal) {
    const auto tree = schedule::apply(trace, problem);
    EXPECT_TRUE(tree.ok() || !legal) << support::render(tree.error());
    if (!tree.ok()) return;
    costs.push_back(cost::of(*tree, problem));
    entries.push_back(space::result_entries(schedule::nests_of(*tree).value(), problem));
  };
  for (const space::ListedMember& member : (*listed)->members) {
    all[member.cost] += member.schedules.get_ui();
    const auto tree = schedule::apply(member.trace, problem);
    ASSERT_TRUE(tree.ok()) << support::render(tree.error());
    EXPECT_EQ(cost::of(*tree, problem), member.cost) << schedule::print(member.trace);
  }
  const auto seen =
      space::Space(space::with_dense_result(problem), {})
          .for_each(
              [&](const schedule::Trace& trace) {
                count(trace, true);
                schedule::Trace table = trace;
                table.directives.emplace_back(schedule::WorkspaceStorage{concrete_notation::Storage::hash});
                count(std::move(table), false);
                return !testing::Test::HasFailure();
              },
              never);
  ASSERT_TRUE(seen.ok());
  const std::vector<bool> fewest = space::with_fewest_entries(entries);
  for (std::size_t n = 0; n < costs.size(); ++n)
    if (fewest[n]) ++by_tree[costs[n]];
  EXPECT_EQ(all, by_tree);
}

void expect_members_apply(const problem::Problem& problem, space::Rule rule) {
  SCOPED_TRACE(problem::print(problem));
  space::Space space(problem, {rule});
  Counts found, gathered;
  std::set<std::string> traces;
  const auto listed = space.for_each(
      [&](const schedule::Trace& trace) {
        EXPECT_TRUE(traces.insert(schedule::print(trace)).second) << schedule::print(trace);
        const auto tree = schedule::apply(trace, problem);
        EXPECT_TRUE(tree.ok()) << support::render(tree.error());
        if (tree.ok()) ++(gathers(*tree, problem) ? gathered : found)[cost::of(*tree, problem)];
        return !testing::Test::HasFailure();
      },
      never);
  ASSERT_TRUE(listed.ok());
  EXPECT_EQ(space.count(never).value(), traces.size());
  Counts expected;
  const std::vector<space::ClassCount> classes = space.classes(99, never).value();
  for (const space::ClassCount& one : classes) {
    expected[one.cost] = one.members.get_ui();
    EXPECT_EQ(space.members_of(one.cost, 1, never).value().members, one.members);
  }
  if (gathered.empty()) {
    EXPECT_EQ(found, expected);
    return;
  }
  EXPECT_TRUE(space::appends(problem));
  for (const auto& [cost, members] : found) EXPECT_LE(members, expected[cost]);
  expect_appending_costs(problem);
}

}  // namespace schaas::test_support
