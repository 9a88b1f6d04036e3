// What the search proposes for GPUs: which points of Sgap's grid, and which not.
#include "compiler/frontier/gpu_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/concrete_notation/checks/verifier.h"
#include "compiler/pipeline/gpu_schedules.h"
#include "compiler/schedule/replay/apply.h"
#include "tests/support/problem_of.h"

namespace schaas::frontier {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

problem::Problem bounded(const std::string& expression, const std::map<std::string, std::string>& formats,
                         const std::vector<std::string>& constraints) {
  problem::ProblemText text;
  text.expression = expression;
  text.formats = formats;
  text.constraints = constraints;
  return problem::build(text).value();
}

std::vector<GpuPoint> points(const problem::Problem& problem, const std::string& trace = "linear",
                             std::size_t most = 100) {
  return gpu_points(schedule::parse(trace).value(), problem, most);
}

std::vector<std::string> texts(const std::vector<GpuPoint>& points) {
  std::vector<std::string> out;
  for (const auto& point : points) out.push_back(point.text);
  return out;
}

std::vector<std::string> traces(const std::vector<GpuPoint>& points) {
  std::vector<std::string> out;
  for (const auto& point : points) out.push_back(schedule::print(point.trace));
  return out;
}

const problem::Problem& spmm() {
  static const problem::Problem problem =
      test_support::problem_of("C(i,k) = A(i,j) * B(j,k)", {{"A", "csr"}});
  return problem;
}

TEST(GpuPoints, OfSpmmAreTheFourFamilies) {
  const auto found = texts(points(spmm(), "reorder(order={i,j,k})"));
  EXPECT_THAT(found, AllOf(Contains("{<1 row, 1 col>, 1}"), Contains("{<1/8 row, 4 col>, 8 parallel}"),
                           Contains("{<1 nnz, 2 col>, 32 segment}"), Contains("{<32 nnz, 1 col>, 1}")));
  EXPECT_EQ(found.front(), "{<1 row, 1 col>, 1}");
  EXPECT_EQ(found.size(), 42u);
}

TEST(GpuPoints, StandAfterTheScheduleTheyAreOf) {
  EXPECT_THAT(
      traces(points(spmm(), "reorder(order={i,j,k})", 3)),
      ElementsAre("reorder(path={}, order={i,j,k}); reorder(path={}, order={k,i,j}); "
                  "threads(path={}, loop=k, each=1); threads(path={}, loop=i, each=1)",
                  "reorder(path={}, order={i,j,k}); reorder(path={}, order={k,i,j}); "
                  "threads(path={}, loop=k, each=1); threads(path={}, loop=i, each=1/8); "
                  "group(path={}, loop=i, width=8, reduce=parallel)",
                  "reorder(path={}, order={i,j,k}); reorder(path={}, order={k,i,j}); "
                  "threads(path={}, loop=k, each=1); pos(path={}, loop=j, from=i); "
                  "threads(path={}, loop=i, each=1); group(path={}, loop=i, width=32, reduce=segment)"));
}

TEST(GpuPoints, LeaveOutWhatNeverWins) {
  const auto found = texts(points(spmm()));
  EXPECT_THAT(found, Each(Not(AllOf(HasSubstr("row"), HasSubstr("atomic")))));
  EXPECT_THAT(found, Each(Not(AllOf(HasSubstr("row"), HasSubstr("segment")))));
  EXPECT_THAT(found, Not(Contains("{<4 row, 1 col>, 1}")));
  EXPECT_THAT(found, Not(Contains("{<1 nnz, 1 col>, 1}")));
}

TEST(GpuPoints, BoundsTakeThreadsAwayThatHaveNothingToDo) {
  const auto found = texts(points(bounded("C(i,k) = A(i,j) * B(j,k)", {{"A", "csr"}}, {"k <= 2", "j <= 8"})));
  EXPECT_THAT(found, Each(Not(HasSubstr("4 col"))));
  EXPECT_THAT(found, Contains("{<1 row, 2 col>, 1}"));
  EXPECT_THAT(found, Contains("{<1/8 row, 1 col>, 8 parallel}"));
  EXPECT_THAT(found, Each(Not(HasSubstr("1/16 row"))));
}

TEST(GpuPoints, StageWhereAGroupHasAllOfItsColumns) {
  EXPECT_THAT(texts(points(spmm())),
              AllOf(Contains("{<1 row, 4 col>, 1, stage 32}"), Contains("{<32 nnz, 1 col>, 1, stage 32}")));
  const auto narrow = points(bounded("C(i,k) = A(i,j) * B(j,k)", {{"A", "csr"}}, {"k <= 64"}));
  EXPECT_THAT(texts(narrow), AllOf(Contains("{<1 row, 2 col>, 1, stage 32}"),
                                   Not(Contains("{<1 row, 4 col>, 1, stage 32}"))));
}

TEST(GpuPoints, SayWhatRoundsByChance) {
  for (const auto& point : points(spmm())) {
    const bool rows = point.text.find("row") != std::string::npos;
    EXPECT_EQ(point.nondeterministic, !rows) << point.text;
  }
}

TEST(GpuPoints, OfADotProductAtEachEntryShareTheSum) {
  const auto problem =
      test_support::problem_of("Y(i,j) = A(i,j) * C(i,k) * D(k,j)", {{"A", "csr"}, {"Y", "csr"}});
  const auto found = points(problem, "reorder(order={i,j,k})");
  EXPECT_THAT(texts(found), Contains("{<1/8 nnz>, 8 parallel}"));
  EXPECT_THAT(texts(found), Contains("{<1 nnz>, 1}"));
  for (const auto& point : found) EXPECT_FALSE(point.nondeterministic) << point.text;
  EXPECT_THAT(texts(found), Each(Not(HasSubstr("atomic")))) << "one writer stores";
  EXPECT_THAT(texts(found), Not(Contains("{<32 nnz>, 1}"))) << "dot products have nothing in common";
}

TEST(GpuPoints, ShareTheEntriesOfARowWhereEachIsWritten) {
  const auto problem =
      test_support::problem_of("Y(i,j) = A(i,j) * C(i,k) * D(j,k)", {{"A", "csr"}, {"Y", "csr"}});
  const auto found = points(problem);
  EXPECT_THAT(texts(found), AllOf(Contains("{<1/4 row>, 1}"), Contains("{<1/8 row>, 1}"),
                                  Contains("{<1/16 row>, 1}"), Contains("{<1/32 row>, 1}")));
  EXPECT_EQ(texts(found)[2], "{<1/8 row>, 1}") << "among the three compiled at once";
  EXPECT_THAT(texts(found), AllOf(Contains("{<1/32 row>, 4 parallel}"), Contains("{<1/32 row>, 8 parallel}"),
                                  Contains("{<1/32 row>, 16 parallel}")))
      << "groups share the entries, and the threads of a group each sum";
  EXPECT_THAT(texts(points(spmm())), Each(Not(AllOf(HasSubstr("<1/"), HasSubstr(", 1}")))));
}

TEST(GpuPoints, OfOtherSemiringsToo) {
  const auto found =
      texts(points(test_support::problem_of("min-plus: y(i) = A(i,j) * x(j)", {{"A", "csr"}})));
  EXPECT_THAT(found, AllOf(Contains("{<1/8 row>, 8 parallel}"), Contains("{<1 nnz>, 32 segment}")));
}

TEST(GpuPoints, OfAFusedNestAreRowsAndEntries) {
  const auto problem = test_support::problem_of("Y(i,l) = A(i,j) * C(i,k) * D(j,k) * E(j,l)", {{"A", "csr"}});
  const auto found = texts(points(problem, "reorder(order={i,j,k,l}); loopfuse(loc=3, pol=left)"));
  EXPECT_THAT(found, AllOf(Contains("{<1 row>, 1}"), Contains("{<1 nnz>, 1}"), Contains("{<32 nnz>, 1}")));
  EXPECT_THAT(found,
              AllOf(Contains("{<1/8 row>, 1}"), Contains("{<1/32 row>, 1}"), Contains("{<1/32 nnz>, 1}")))
      << "around the branch";
}

TEST(GpuPoints, OfTensorsOfMoreModesHaveFibers) {
  const auto problem = test_support::problem_of("Y(i,j) = A(i,k,l) * C(k,j) * D(l,j)", {{"A", "csf"}});
  EXPECT_THAT(texts(points(problem)), Contains("{<1/8 fiber, 1 col>, 8 atomic}"));
}

TEST(GpuPoints, AreNoneWhereTheResultIsAppendedTo) {
  EXPECT_TRUE(
      points(test_support::problem_of("C(i,k) = A(i,j) * B(j,k)", {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}}))
          .empty());
}

TEST(GpuPoints, AreVerifiedTreesAndAllDifferent) {
  const auto problem = test_support::problem_of("Y(i,l,m) = A(i,j,k) * B(j,l) * C(k,m)", {{"A", "csf"}});
  const auto found = points(problem);
  ASSERT_FALSE(found.empty());
  for (const auto& point : found) {
    EXPECT_TRUE(concrete_notation::verify(point.tree, problem).ok()) << point.text;
    EXPECT_TRUE(concrete_notation::equal(point.tree, schedule::apply(point.trace, problem).value()));
    EXPECT_EQ(
        std::count_if(found.begin(), found.end(),
                      [&](const auto& other) { return concrete_notation::equal(other.tree, point.tree); }),
        1);
  }
}

TEST(GpuSchedules, OfALongFrontierAreBounded) {
  Frontier frontier;
  for (int n = 1; n <= 40; ++n) {
    Survivor survivor;
    survivor.id = "s" + std::to_string(n);
    survivor.traces.push_back(schedule::parse("reorder(order={i,j,k})").value());
    frontier.survivors.push_back(survivor);
  }
  const auto of_equal = pipeline::gpu_schedules(frontier, spmm());
  ASSERT_GE(of_equal.size(), 4u);
  EXPECT_LE(of_equal.size(), 42u) << "equal trees count once";
  EXPECT_EQ(of_equal.front().id, "g1");
  EXPECT_EQ(of_equal.back().id, "g" + std::to_string(of_equal.size()));
  frontier.survivors.resize(1);
  EXPECT_EQ(pipeline::gpu_schedules(frontier, spmm()).size(), 42u);
}

}  // namespace
}  // namespace schaas::frontier
