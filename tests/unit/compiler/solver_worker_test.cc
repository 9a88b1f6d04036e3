#include "compiler/pipeline/solver_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "compiler/frontier/frontier.h"
#include "compiler/frontier/proofs/solver_protocol.h"
#include "tests/support/search_oracle.h"
#include "tests/support/temporary_directory.h"

// The solver in a child process, and its protocol. Shell scripts stand in for a solver that hangs, crashes or
// answers nonsense. Each failure must count as unknown, and three of them end the use of the solver in a
// search. A search without answers keeps every survivor that a search with answers keeps. Cancellation ends a
// question that the solver works on; time limits are wide, because machines may be busy.
namespace schaas {
namespace {

using frontier::SolverRelation;
using frontier::Verdict;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

const support::Cancellation never;
const std::string real_program = std::string(SCHAAS_BINARY_DIR) + "/schaas-solver";

// x >= 2
const std::vector<SolverRelation> at_least_two{{{{2, {}}}, {{1, {0}}}, false}};
const SolverRelation below_two{{{1, {0}}}, {{2, {}}}, true};
const SolverRelation below_ten{{{1, {0}}}, {{10, {}}}, true};

class Worker : public testing::Test {
 protected:
  std::unique_ptr<frontier::Solver> start(const std::string& program,
                                          const support::Cancellation& cancellation = never,
                                          std::size_t memory_bytes = std::size_t{1} << 30) {
    pipeline::SolverWorkerOptions options;
    options.memory_bytes = memory_bytes;
    options.program = program;
    options.slowness = slowness;
    options.grace = milliseconds(100);
    options.isolated = program == real_program;  // scripts note what they did, and run others
    options.log = [this](const std::string& sentence) { log.push_back(sentence); };
    auto solver = pipeline::solver_workers(options)(cancellation);
    solver->assume(1, at_least_two);
    return solver;
  }
  std::string script(const std::string& body) {
    const std::string path = directory / "solver.sh";
    std::ofstream(path) << "#!/bin/sh\n" << body;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  test_support::TemporaryDirectory directory;
  std::vector<std::string> log;
  int slowness = 1;
};

TEST_F(Worker, AnswersLikeTheSolverInThisProcess) {
  const auto solver = start(real_program);
  EXPECT_EQ(solver->check(below_two, 1000), Verdict::unsatisfiable);
  EXPECT_EQ(solver->check(below_ten, 1000), Verdict::satisfiable);
  ASSERT_EQ(solver->model().size(), 1U);
  EXPECT_GE(solver->model()[0], 2);
  EXPECT_LT(solver->model()[0], 10);
  EXPECT_GT(solver->steps(), 0);
  solver->assume(1, {});
  EXPECT_EQ(solver->check(below_two, 1000), Verdict::satisfiable);
  EXPECT_THAT(log, testing::IsEmpty());
}

TEST_F(Worker, AHangingSolverIsKilledAndAfterThreeTimesLeftAlone) {
  const auto solver = start(script("echo ready\nexec /bin/sleep 60\n"));
  const auto begin = Clock::now();
  for (int n = 0; n < 5; ++n) EXPECT_EQ(solver->check(below_two, 50), Verdict::unknown);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(20));
  ASSERT_EQ(log.size(), 3U);
  EXPECT_THAT(log[0], HasSubstr("its question stays open: `" + (directory / "solver.sh") +
                                "` did not answer within 150 ms"));
  EXPECT_THAT(log[2], HasSubstr("it is not asked again in this search"));
}

TEST_F(Worker, AQuestionThatComputesForTooLongStaysOpenAndIsNoFailure) {
  slowness = 500;
  const std::string busy = directory / "busy.";
  const auto solver =
      start(script("set -- '" + busy + "'*\nif [ $# -eq 4 ]; then exec " + real_program +
                   "; fi\necho ready\n: > '" + busy + "'$$\nread line\nwhile :; do :; done\n"));
  const auto begin = Clock::now();
  for (int n = 0; n < 4; ++n) {
    EXPECT_EQ(solver->check(below_two, 50), Verdict::unknown);
    EXPECT_EQ(solver->steps(), 50 * frontier::steps_per_millisecond);
  }
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(20)) << "by the clock each would take 25 s";
  EXPECT_EQ(solver->check(below_two, 1000), Verdict::unsatisfiable) << "it is asked again";
  EXPECT_THAT(log, testing::IsEmpty());
}

TEST_F(Worker, AQuestionThatOutlastsTheBudgetIsNoFailure) {
  slowness = 500;
  const auto solver = start(script("echo ready\nexec /bin/sleep 60\n"));
  const auto begin = Clock::now();
  for (int n = 0; n < 4; ++n) {
    solver->end_at(Clock::now() + milliseconds(100));
    EXPECT_EQ(solver->check(below_two, 1000), Verdict::unknown);
  }
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(20)) << "each would take 500 s";
  EXPECT_THAT(log, testing::IsEmpty());
}

TEST_F(Worker, ACrashingSolverIsStartedAgain) {
  const std::string once = directory / "crashed";
  const auto solver = start(script("if [ -e '" + once + "' ]; then exec " + real_program + "; fi\n" +
                                   "echo ready\nread line\n: > '" + once + "'\nkill -SEGV $$\n"));
  EXPECT_EQ(solver->check(below_two, 1000), Verdict::unknown);
  EXPECT_EQ(solver->check(below_two, 1000), Verdict::unsatisfiable) << "the constraints are told again";
  ASSERT_EQ(log.size(), 1U);
  EXPECT_THAT(log[0], HasSubstr("ended (exit code 139)"));
}

TEST_F(Worker, GarbageIsUnknown) {
  for (const std::string answer :
       {"unsat?", "sat", "sat 1 2", "sat inf", "sat 1x", "UNSAT", "", "unsat steps -1"}) {
    const auto solver = start(
        script("echo ready\nread a; read b; read c; read d\necho '" + answer + "'\nexec /bin/sleep 60\n"));
    EXPECT_EQ(solver->check(below_two, 1000), Verdict::unknown) << answer;
    EXPECT_TRUE(solver->model().empty());
  }
  EXPECT_EQ(log.size(), 8U);
  EXPECT_THAT(log[0], HasSubstr("expected `unsat`, `unknown` or `sat` with a value for each variable, found "
                                "`unsat?`"));
  const auto endless = start(script("exec /usr/bin/yes | /usr/bin/tr -d '\\n'\n"));
  EXPECT_EQ(endless->check(below_two, 1000), Verdict::unknown);
  EXPECT_THAT(log.back(), HasSubstr("sent a line without an end"));
}

TEST_F(Worker, AMissingProgramIsUnknownAndSaidSo) {
  const auto solver = start(directory / "nothing");
  EXPECT_EQ(solver->check(below_two, 1000), Verdict::unknown);
  ASSERT_EQ(log.size(), 1U);
  EXPECT_THAT(log[0], HasSubstr("`" + (directory / "nothing") + "` could not be started"));
}

TEST_F(Worker, HasTheMemoryItIsGiven) {
  const auto solver = start(script("ulimit -v\n"), never, std::size_t{96} << 20);
  EXPECT_EQ(solver->check(below_two, 1000), Verdict::unknown);
  ASSERT_FALSE(log.empty());
  EXPECT_THAT(log[0], HasSubstr("began with `98304`"));  // kibibytes
}

TEST_F(Worker, WithoutEnoughMemoryLeavesQuestionsOpen) {
  const auto solver = start(real_program, never, std::size_t{8} << 20);
  for (int n = 0; n < 4; ++n) EXPECT_EQ(solver->check(below_two, 1000), Verdict::unknown);
  EXPECT_EQ(log.size(), 3U);
}

TEST_F(Worker, IsNotStartedBeforeItIsAsked) {
  const std::string mark = directory / "started";
  const auto solver = start(script(": > '" + mark + "'\nexec " + real_program + "\n"));
  EXPECT_FALSE(std::filesystem::exists(mark));
  solver->check(below_two, 1000);
  EXPECT_TRUE(std::filesystem::exists(mark));
}

TEST_F(Worker, CancellationEndsAQueryTheSolverThinksAbout) {
  support::Cancellation cancellation;
  const auto solver = start(script("echo ready\nexec /bin/sleep 60\n"), cancellation);
  std::thread canceller([&] {
    std::this_thread::sleep_for(milliseconds(200));
    cancellation.cancel();
  });
  const auto begin = Clock::now();
  EXPECT_EQ(solver->check(below_two, 30'000), Verdict::unknown);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5));
  canceller.join();
  EXPECT_THAT(log, testing::IsEmpty()) << "nothing failed";
}

TEST_F(Worker, ASearchEndsSoonAfterItIsCancelledWhileItsSolverThinks) {
  problem::ProblemText text = test_support::search_oracle()[7].text("default");
  text.constraints = {"j <= k + l"};
  const auto problem = problem::build(text).value();
  frontier::Options options;
  options.solver_milliseconds = 30'000;
  pipeline::SolverWorkerOptions worker;
  worker.program = script("echo ready\nexec /bin/sleep 60\n");
  options.solver = pipeline::solver_workers(worker);
  for (const int moment : {20, 100, 300}) {
    support::Cancellation cancellation;
    Clock::time_point cancelled;
    std::thread canceller([&] {
      std::this_thread::sleep_for(milliseconds(moment));
      cancelled = Clock::now();
      cancellation.cancel();
    });
    const auto found = frontier::compute(problem, options, {}, cancellation);
    const auto ended = Clock::now();
    canceller.join();
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().code, "cancelled");
    // What is aimed at is 0.1 s; the machine may be busy.
    EXPECT_LT(ended - cancelled, std::chrono::seconds(5));
    std::printf("cancelled while the solver thinks: ended %.1f ms later\n",
                std::chrono::duration<double, std::milli>(ended - cancelled).count());
  }
}

/// Without a solver more is kept, never less.
TEST_F(Worker, ASearchWithABrokenSolverKeepsAllThatASearchWithAWorkingOneKeeps) {
  problem::ProblemText text = test_support::search_oracle()[7].text("default");
  text.constraints = {"j <= k + l"};
  const auto problem = problem::build(text).value();
  frontier::Options options;
  pipeline::SolverWorkerOptions worker;
  worker.program = real_program;
  options.solver = pipeline::solver_workers(worker);
  const auto sound = frontier::compute(problem, options, {}, never).value();
  worker.program = script("echo ready\nexec /bin/sleep 60\n");
  worker.grace = milliseconds(10);
  options.solver = pipeline::solver_workers(worker);
  options.solver_milliseconds = 20;
  const auto more = frontier::compute(problem, options, {}, never).value();
  for (const frontier::Survivor& one : sound.survivors) {
    EXPECT_TRUE(std::any_of(more.survivors.begin(), more.survivors.end(),
                            [&](const frontier::Survivor& other) { return other.cost == one.cost; }));
  }
  EXPECT_GT(more.counts.solver_queries, 0U);
  EXPECT_EQ(more.counts.solver_unknown, more.counts.solver_queries);
  EXPECT_FALSE(more.complete);
}

TEST(SolverProtocol, RelationsAndAnswersRoundTrip) {
  std::mt19937_64 random(3);
  const auto sum = [&] {
    frontier::SolverSum result;
    for (std::size_t n = random() % 4; n > 0; --n) {
      frontier::SolverMonomial monomial{static_cast<std::int64_t>(1 + random() % 1'000'000'000'000), {}};
      for (std::size_t v = random() % 4; v > 0; --v)
        monomial.variables.push_back(static_cast<int>(random() % 5));
      result.push_back(monomial);
    }
    return result;
  };
  for (int n = 0; n < 500; ++n) {
    const SolverRelation relation{sum(), sum(), random() % 2 == 0};
    EXPECT_EQ(frontier::parse_relation(print(relation), 5).value(), relation) << print(relation);
  }
  const frontier::SolverAnswer answer{Verdict::satisfiable, {1e-300, 0, 0.1, 1e300}};
  EXPECT_EQ(frontier::parse_answer(print(answer), 4).value().model, answer.model);
}

TEST(SolverProtocol, WhatCannotBeReadEndsTheProgram) {
  for (const std::string text : {"hello\n", "assume 1\n", "assume -1 0\n", "assume 1 1\nv0 <= 1\n",
                                 "assume 1 1\n1*v1 <= 1\n", "assume 1 2\n1*v0 <= 1\n", "check 10 1\n1 = 2\n",
                                 "assume 99999 0\n", "check 10 1\n99999999999999999999 <= 1\n"}) {
    std::istringstream in(text);
    std::ostringstream out;
    const auto solver = frontier::make_z3_solver();
    const auto served = frontier::serve_solver(in, out, *solver);
    ASSERT_FALSE(served.ok()) << text;
    EXPECT_EQ(served.error().code, "solver-protocol");
    EXPECT_EQ(out.str(), "ready\n");
  }
}

}  // namespace
}  // namespace schaas
