#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/concrete_notation/checks/verifier.h"
#include "compiler/concrete_notation/parser.h"
#include "compiler/concrete_notation/printer.h"
#include "compiler/concrete_notation/thread_mapping.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/schedule/trace.h"
#include "tests/support/random_problem.h"
#include "tests/support/random_units.h"
#include "tests/support/seed.h"

// Random problems under random traces. SCHAAS_SEED=n chooses another seed; it is in every failure.
namespace schaas::schedule {
namespace {

std::uint64_t seed() { return test_support::seed_or(20260101); }

TEST(ScheduleProperty, AppliedTreesVerifyPrintAndParseBackEqual) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  std::mt19937_64 random(seed());
  std::size_t branched = 0;
  for (int n = 0; n < 1500; ++n) {
    const auto problem = test_support::random_problem({}, random);
    const Trace trace = test_support::random_trace(problem, 6, random);
    const auto tree = apply(trace, problem);
    ASSERT_TRUE(tree.ok()) << support::render(tree.error());
    const std::string text = concrete_notation::print(*tree);
    SCOPED_TRACE(problem::print(problem) + print(trace) + "\n" + text);
    const auto verified = concrete_notation::verify(*tree, problem_of(trace, problem).value());
    ASSERT_TRUE(verified.ok()) << support::render(verified.error());
    const auto parsed = concrete_notation::parse(text);
    ASSERT_TRUE(parsed.ok()) << support::render(parsed.error());
    ASSERT_TRUE(concrete_notation::equal(*parsed, *tree));
    ASSERT_EQ(parse(print(trace)).value(), trace);
    if (text.find("where") != std::string::npos) ++branched;
  }
  EXPECT_GT(branched, 500u) << "the generator makes trees without branches only";
}

TEST(ScheduleProperty, TreesForGpusVerifyPrintAndParseBackEqual) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  std::mt19937_64 random(seed());
  std::size_t shared = 0, grouped = 0;
  for (int n = 0; n < 1500; ++n) {
    const auto problem = test_support::random_problem({}, random);
    const Trace trace =
        test_support::with_random_units(test_support::random_trace(problem, 3, random), problem, random);
    const auto tree = apply(trace, problem);
    ASSERT_TRUE(tree.ok()) << support::render(tree.error());
    const std::string text = concrete_notation::print(*tree);
    SCOPED_TRACE(problem::print(problem) + print(trace) + "\n" + text);
    ASSERT_TRUE(concrete_notation::verify(*tree, problem_of(trace, problem).value()).ok());
    const auto parsed = concrete_notation::parse(text);
    ASSERT_TRUE(parsed.ok()) << support::render(parsed.error());
    ASSERT_TRUE(concrete_notation::equal(*parsed, *tree));
    ASSERT_EQ(parse(print(trace)).value(), trace);
    ASSERT_EQ(concrete_notation::has_thread_mapping(*tree), text.find(" threads ") != std::string::npos);
    if (text.find(" threads 1/") != std::string::npos) ++shared;
    if (text.find(" group ") != std::string::npos) ++grouped;
  }
  EXPECT_GT(shared, 50u) << "hardly an iteration is shared by several threads";
  EXPECT_GT(grouped, 100u) << "hardly a group brings anything together";
}

TEST(ScheduleProperty, IllegalDirectivesAreRefusedWithAReasonAtTheirPlace) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  std::mt19937_64 random(seed());
  std::size_t refused = 0;
  for (int n = 0; n < 1500; ++n) {
    const auto problem = test_support::random_problem({}, random);
    Trace trace = test_support::random_trace(problem, 3, random);
    ASSERT_TRUE(apply(trace, problem).ok()) << print(trace);
    const Path path{static_cast<int>(random() % 2), static_cast<int>(random() % 3)};
    trace.directives.push_back(test_support::random_directive(
        {"i", "j", "k"}, 3, Path(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(random() % 3)),
        random));
    const auto tree = apply(trace, problem);
    if (tree.ok()) {
      ASSERT_TRUE(concrete_notation::verify(*tree, problem_of(trace, problem).value()).ok());
      continue;
    }
    ++refused;
    SCOPED_TRACE(problem::print(problem) + support::render(tree.error()));
    ASSERT_EQ(tree.error().code, "illegal-directive");
    ASSERT_EQ(tree.error().family, support::Family::invalid);
    ASSERT_EQ(tree.error().source, print(trace));
    ASSERT_TRUE(tree.error().range.has_value());
    const auto range = *tree.error().range;
    ASSERT_EQ(tree.error().source.substr(range.begin, range.end - range.begin),
              print(trace.directives.back()));
  }
  EXPECT_GT(refused, 200u) << "the generator makes no wrong directives";
}

TEST(ScheduleProperty, AMutatedTreeIsRefusedOrIsStillTheSameProduct) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  std::mt19937_64 random(seed());
  std::size_t refused = 0;
  for (int n = 0; n < 1500; ++n) {
    const auto problem = test_support::random_problem({}, random);
    const Trace trace = test_support::random_trace(problem, 6, random);
    const auto tree = apply(trace, problem);
    ASSERT_TRUE(tree.ok()) << support::render(tree.error());
    const auto with_copies = problem_of(trace, problem).value();
    std::string text = concrete_notation::print(*tree);
    text[random() % text.size()] = "ijkABCt1(),+ "[random() % 13];
    const auto parsed = concrete_notation::parse(text);
    if (!parsed.ok()) continue;
    const auto verified = concrete_notation::verify(*parsed, with_copies);
    if (!verified.ok()) {
      ++refused;
      continue;
    }
    // Whatever the verifier lets pass reads every operand of the problem once.
    auto accesses = concrete_notation::reads(*parsed);
    std::erase_if(accesses,
                  [&](const auto& access) { return with_copies.formats.count(access.tensor) == 0; });
    ASSERT_EQ(accesses.size(), problem.operands().size()) << text;
  }
  EXPECT_GT(refused, 100u);
}

TEST(ScheduleProperty, ParsingAMutatedTraceNeverFailsWithoutADiagnostic) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  std::mt19937_64 random(seed());
  std::size_t refused = 0;
  for (int n = 0; n < 3000; ++n) {
    const auto problem = test_support::random_problem({}, random);
    std::string text = print(test_support::random_trace(problem, 4, random));
    for (auto times = 1 + random() % 3; times > 0; --times) {
      text[random() % text.size()] = static_cast<char>(random() % 256);
    }
    const auto parsed = parse(text);
    if (parsed.ok()) {
      ASSERT_EQ(parse(print(*parsed)).value(), *parsed) << text;
      continue;
    }
    ++refused;
    ASSERT_FALSE(parsed.error().message.empty());
    ASSERT_EQ(parsed.error().family, support::Family::invalid);
  }
  EXPECT_GT(refused, 1000u);
}

}  // namespace
}  // namespace schaas::schedule
