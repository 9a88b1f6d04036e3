#include <gtest/gtest.h>

#include <limits>

#include "client/cli/colour.h"
#include "client/cli/figures.h"
#include "client/cli/named_values.h"
#include "client/cli/run_report.h"
#include "client/cli/schedule_report.h"
#include "client/cli/table.h"
#include "schaas/extents.h"

// Texts and JSON that the program `schaas` prints: numbers, tables, explanations of schedules, reports of
// runs. Facts are built by hand and the whole expected text is written out, so any change of the output
// shows. A wrong result must end with the exit status of an internal error. Escape sequences other than
// colours are replaced, and bytes that are no UTF-8 do not break JSON. Extents are here too: a conflict names
// both sources.
namespace schaas::cli {
namespace {

TEST(Figures, SecondsAndBytesHaveThreeDigits) {
  EXPECT_EQ(seconds(0), "0 s");
  EXPECT_EQ(seconds(1.234), "1.23 s");
  EXPECT_EQ(seconds(123.4), "123 s");
  EXPECT_EQ(seconds(0.0456), "45.6 ms");
  EXPECT_EQ(seconds(7.891e-6), "7.89 us");
  EXPECT_EQ(bytes(512), "512 B");
  EXPECT_EQ(bytes(1536), "1.50 KiB");
  EXPECT_EQ(bytes(3.2 * 1024 * 1024 * 1024), "3.20 GiB");
}

TEST(Figures, GroupsAndCounts) {
  EXPECT_EQ(grouped("1209527396"), "1,209,527,396");
  EXPECT_EQ(grouped("888"), "888");
  EXPECT_EQ(grouped(""), "");
  EXPECT_EQ(counted(1, "kernel", "kernels"), "1 kernel");
  EXPECT_EQ(counted(2000, "kernel", "kernels"), "2,000 kernels");
  EXPECT_EQ(shape({63666, 64}), "63,666 x 64");
  EXPECT_EQ(shape({}), "scalar");
}

TEST(Figures, TableAlignsColumns) {
  const Table table{{"id", "members"}, {{"s1", "9"}, {"s10", "1,234"}}, {1}, "  "};
  EXPECT_EQ(print(table), "  id   members\n  s1         9\n  s10    1,234\n");
}

TEST(Figures, CleansTextsOfOthers) {
  EXPECT_EQ(shown("\033[32mok\033[0m \033[1;31mbad\033[0m\n"), "\033[32mok\033[0m \033[1;31mbad\033[0m\n");
  EXPECT_EQ(shown("\033[8mhidden\033[2J\r\x9b \xc2\x9b\033[33m\033]0;t\a"),
            "?[8mhidden?[2J?\x9b ?\033[33m?]0;t?");
}

TEST(Median, OfOddAndEvenCounts) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

std::string not_given(const std::string& index) { return "give " + index; }

TEST(Extents, PassThroughIntermediates) {
  const auto program = client::parse_program("t(i) = B(i,j); A(k,l) = t(k) * t(l)");
  ASSERT_TRUE(program.ok());
  client::Extents extents;
  extents.at_least("j", 2);
  ASSERT_TRUE(extents.bind("i", 7, "B.mtx (mode 1 of `B(i,j)`)").ok());
  ASSERT_TRUE(extents.link(client::linked_indices(*program)).ok());
  const auto all = extents.all(*program, not_given);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(*all, (std::map<std::string, std::int64_t>{{"i", 7}, {"j", 2}, {"k", 7}, {"l", 7}}));
  client::Extents other;
  ASSERT_TRUE(other.bind("i", 7, "`-d i=7`").ok());
  ASSERT_TRUE(other.bind("k", 8, "`-d k=8`").ok());
  const auto conflict = other.link(client::linked_indices(*program));
  ASSERT_FALSE(conflict.ok());
  EXPECT_EQ(
      support::render(conflict.error()),
      "invalid [extent-conflict]: index `k` has extent 8 by `-d k=8` but 7 by `-d i=7`, through index `i`");
}

TEST(Extents, BoundBeatsLowerBoundAndConflictsNameBothSources) {
  const auto product = client::parse_program("A(i) = B(i,j)");
  ASSERT_TRUE(product.ok());
  client::Extents extents;
  extents.at_least("i", 4);
  extents.at_least("i", 3);
  extents.at_least("j", 5);
  ASSERT_TRUE(extents.bind("j", 9, "`-d j=9`").ok());
  const auto all = extents.all(*product, not_given);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(*all, (std::map<std::string, std::int64_t>{{"i", 4}, {"j", 9}}));
  const auto conflict = extents.bind("j", 8, "C.mtx (mode 1 of `C(j)`)");
  ASSERT_FALSE(conflict.ok());
  EXPECT_EQ(
      support::render(conflict.error()),
      "invalid [extent-conflict]: index `j` has extent 9 by `-d j=9` but 8 by C.mtx (mode 1 of `C(j)`)");
}

ScheduleFacts two_schedules() {
  ScheduleFacts facts;
  client::FrontierEntry first, second;
  first.id = "s1", first.time = "i*j", first.memory = "0", first.members = "1", first.loop_trees = 1;
  second.id = "s2", second.time = "i*k", second.memory = "k", second.members = "1", second.loop_trees = 1;
  facts.answer.frontier.entries = {first, second};
  facts.answer.frontier.removals = {
      {"r1", "", "", "", "depth", "12 of 15 schedules were left out", {}, {}, ""},
      {"r2", "i*j*k", "k", "T = i*k, M = k", "termwise", "each term is smaller", {}, {}, "s2"},
      {"r3", "i*i", "0", "T = i*j, M = 0", "log_proof", "by shares", {}, {}, "s1"}};
  return facts;
}

TEST(Explain, ShowsWhatOneScheduleHasRuledOut) {
  client::Explanation why;
  why.verdict = client::Verdict::survivor, why.id = "s2", why.time = "i*k", why.memory = "k", why.tree = "ik";
  why.competitors = {{"s1", "i = 3, j = 9, k = 2", 6, 2, 27, 0}};
  const auto answer = explain(two_schedules(), "s2", {why});
  ASSERT_EQ(answer.json["removed"].size(), 1u);
  EXPECT_EQ(answer.json["removed"][0]["time"], "i*j*k");
  EXPECT_EQ(answer.json["id"], "s2");
  EXPECT_EQ(answer.text,
            "schedule  s2   ik\n"
            "  time    i*k\n"
            "  memory  k\n"
            "on the frontier: it beats each other schedule somewhere\n"
            "  against  time  its time  memory  its memory  sizes\n"
            "  s1          6        27       2           0  i = 3, j = 9, k = 2\n"
            "members: 1 schedule of this cost, 1 loop tree\n"
            "removed: r2: time i*j*k, memory k\n  termwise: each term is smaller\n"
            "before: depth: 12 of 15 schedules were left out\n");
  EXPECT_EQ(answer.json["dropped"].dump(),
            R"([{"kind":"depth","argument":"12 of 15 schedules were left out"}])");
}

TEST(Explain, NamesTheWinnerOfARemovedSchedule) {
  client::Explanation why;
  why.verdict = client::Verdict::removed, why.id = "r2", why.time = "i*j*k", why.memory = "k", why.by = "s2";
  why.kind = "termwise", why.argument = "each term is smaller";
  const auto answer = explain(two_schedules(), "r2", {why});
  EXPECT_EQ(answer.text,
            "schedule  r2\n"
            "  time    i*j*k\n"
            "  memory  k\n"
            "not on the frontier: at every allowed size this one needs no more time and no more memory\n"
            "  s2      T = i*k, M = k\n"
            "  termwise: each term is smaller\n");
  EXPECT_EQ(answer.json["explanations"][0]["by"], "s2");
  EXPECT_FALSE(answer.json.contains("id"));
}

TEST(Report, CountsRemovedClassesAlsoBeyondTheServersLimit) {
  auto facts = two_schedules();
  facts.answer.frontier.removed = 700;
  EXPECT_EQ(report(facts).json["removals"], 699);
}

TEST(Report, WrongResultIsPrintedInFullAndIsABugOfOurs) {
  client::Operands operands;
  RunFacts facts;
  facts.operands = &operands;
  facts.program = *client::parse_program("s = a * b");
  facts.run_seconds = {0.5};
  facts.choice.kernel.id = "s1";
  facts.choice.kernel.trace = "linear";
  facts.verification = Verification{4, std::numeric_limits<double>::infinity(), 1e-10, false, 0.1};
  const auto answer = report(facts);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->json["verify"]["passed"], false);
  EXPECT_EQ(answer->json["verify"]["max_relative_error"], "infinite");
  EXPECT_NE(answer->text.find("WRONG: 4 values compared"), std::string::npos);
  ASSERT_TRUE(answer->failure.has_value());
  EXPECT_EQ(support::exit_code(answer->failure->family), 70);
  EXPECT_EQ(support::render(*answer->failure),
            "internal [wrong-result]: schedule `s1` (linear) gives a wrong result: largest relative error "
            "inf, allowed 1e-10");
}

TEST(Json, BytesThatAreNotTextAreReplacedNotThrown) {
  EXPECT_EQ(dump(Json{{"message", "a\xff"}}), "{\"message\":\"a\xef\xbf\xbd\"}");
}

}  // namespace
}  // namespace schaas::cli
