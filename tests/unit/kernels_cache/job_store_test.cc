#include "kernels_cache/job_store.h"
#include "kernels_cache/job_schema.h"
#include "kernels_cache/process_name.h"
#include "kernels_cache/sqlite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support/temporary_directory.h"
#include "tests/support/test_database.h"

// The queue of jobs, in both engines, under a fixed clock: submission, claims, quotas, budgets, cancellation,
// retries. A restart is a store that is opened again on the same file; changed rows are written by SQL beside
// the store. One key of a client gives one job, clients take turns, and an item that ended the server three
// times fails. Ended items are reported once, in order, also over retries. A store whose file is gone refuses
// jobs instead of losing them.
namespace schaas::kernels_cache {
namespace {

using test_support::TemporaryDirectory;

class Jobs : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (on_postgres()) {
      if (test_support::test_database().empty()) GTEST_SKIP() << test_support::no_test_database;
      test_support::clear_test_database();
    }
    open();
  }
  static bool on_postgres() { return GetParam() == std::string("postgres"); }
  void open(const JobLimits& limits = {}, Clock::Time now = Clock::Time(std::chrono::milliseconds(7))) {
    last_.claim.reset();  // as when the process ended
    store_.reset();
    if (on_postgres()) {
      auto database = open_postgres(test_support::test_database(), {postgres_job_schema()});
      ASSERT_TRUE(database.ok()) << support::render(database.error());
      store_ = make_job_store(std::move(database).value(), fixed_clock(now), limits);
      return;
    }
    auto opened = open_job_store(directory_ / "jobs.db", fixed_clock(now), limits);
    ASSERT_TRUE(opened.ok()) << support::render(opened.error());
    store_ = std::move(opened).value();
  }

  /// Compares the totals, which triggers keep, with the rows of the jobs.
  void TearDown() override {
    if (store_ == nullptr) return;
    std::map<ItemState, std::uint64_t> sums{{ItemState::waiting, 0},
                                            {ItemState::running, 0},
                                            {ItemState::done, 0},
                                            {ItemState::failed, 0},
                                            {ItemState::cancelled, 0}};
    for (const JobRow& row : store_->jobs(1000).value()) {
      sums[ItemState::waiting] += row.waiting, sums[ItemState::running] += row.running;
      sums[ItemState::done] += row.done, sums[ItemState::failed] += row.failed;
      sums[ItemState::cancelled] += row.cancelled;
    }
    EXPECT_EQ(*store_->counts(), sums);
  }

  std::string submit(const std::string& key, std::vector<std::string> requests,
                     const std::string& client = "me", int priority = 0, double budget = 0) {
    const auto id = store_->submit({key, client, "label of " + key, priority, budget, std::move(requests)});
    EXPECT_TRUE(id.ok()) << support::render(id.error());
    return id.ok() ? *id : "";
  }
  /// Claims the next request; "" when none waits.
  std::string claim() {
    auto item = store_->claim();
    EXPECT_TRUE(item.ok()) << support::render(item.error());
    if (!*item) return "";
    last_ = **std::move(item);
    return last_.request;
  }
  void finish(ItemState state = ItemState::done, const std::string& error = "", double seconds = 1) {
    EXPECT_TRUE(store_->finish(last_, state, error, seconds).ok());
  }
  /// Lists ended items as "number state error", in order.
  std::vector<std::string> ended(const std::string& id, std::uint64_t after = 0) {
    std::vector<std::string> out;
    for (const auto& row : store_->ended(id, after, 100).value())
      out.push_back(std::to_string(row.number) + " " + name(row.state) + " " + row.error);
    return out;
  }
  std::vector<std::string> jobs() {
    std::vector<std::string> ids;
    for (const JobRow& row : store_->jobs(1000).value()) ids.push_back(row.id);
    return ids;
  }
  std::string counts(const std::string& id) {
    const JobRow row = store_->job(id).value();
    return std::to_string(row.waiting) + " " + std::to_string(row.running) + " " + std::to_string(row.done) +
           " " + std::to_string(row.failed) + " " + std::to_string(row.cancelled);
  }

  /// Runs a statement beside the store, which is opened again.
  void change_rows(const std::string& sql) {
    last_.claim.reset();
    store_.reset();
    {
      const auto database = on_postgres() ? open_postgres(test_support::test_database(), {}).value()
                                          : open_sqlite(directory_ / "jobs.db", job_schema()).value();
      const Session session = database->session().value();
      Statement change(*session, sql);
      ASSERT_TRUE(change.run("change rows").ok());
    }
    open();
  }

  TemporaryDirectory directory_;
  std::unique_ptr<JobStore> store_;
  ClaimedItem last_;
};

TEST_P(Jobs, RunInOrderAndReportEndedItems) {
  const std::string id = submit("a", {"x", "y", "z"});
  EXPECT_EQ(id, "j1");
  EXPECT_EQ(counts(id), "3 0 0 0 0");
  EXPECT_EQ(claim(), "x");
  EXPECT_EQ(last_.attempt, 1);
  EXPECT_EQ(counts(id), "2 1 0 0 0");
  finish();
  EXPECT_EQ(claim(), "y");
  finish(ItemState::failed, "why");
  EXPECT_EQ(ended(id), (std::vector<std::string>{"0 done ", "1 failed why"}));
  EXPECT_EQ(ended(id, 1), (std::vector<std::string>{"1 failed why"}));
  EXPECT_EQ(claim(), "z");
  EXPECT_EQ(claim(), "");
  EXPECT_FALSE(store_->job(id)->finished());
  finish();
  const JobRow row = store_->job(id).value();
  EXPECT_TRUE(row.finished());
  EXPECT_EQ(row.seconds, 3);
  EXPECT_EQ(row.label, "label of a");
  EXPECT_EQ(row.client, "me");
  EXPECT_EQ(row.created, "1970-01-01T00:00:00.007Z");
}

TEST_P(Jobs, AreIdempotent) {
  const std::string id = submit("a", {"x"});
  EXPECT_EQ(submit("a", {"x"}), id);
  EXPECT_EQ(submit("b", {"x"}), "j2");
  for (const NewJob& other :
       {NewJob{"a", "me", "label of a", 0, 0, {"y"}}, NewJob{"a", "me", "label of a", 0, 0, {"x", "x"}},
        NewJob{"a", "me", "label of b", 0, 0, {"x"}}, NewJob{"a", "me", "label of a", 1, 0, {"x"}}}) {
    const auto refused = store_->submit(other);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(support::render(refused.error()),
              "invalid [idempotency-key]: the key `a` was used for another job, j1\n"
              "  note: a job that is sent again must be the same; give a new one a new key");
  }
  EXPECT_EQ(store_->jobs(10)->size(), 2u);
  EXPECT_EQ(store_->jobs(10)->front().id, "j2");
  EXPECT_EQ(store_->jobs(1)->size(), 1u);
}

TEST_P(Jobs, FailWhereTheirRowsWereChanged) {
  const std::string changed = submit("changed", {"first", "second"}), whole = submit("whole", {"third"});
  change_rows("UPDATE item SET request = 'other' WHERE request = 'second'");
  ASSERT_TRUE(store_->check_requests().ok());
  const std::string why = " failed its rows in the database were changed; submit the job again";
  EXPECT_EQ(ended(changed), (std::vector<std::string>{"0" + why, "1" + why}));
  EXPECT_EQ(counts(whole), "1 0 0 0 0");
  EXPECT_EQ(claim(), "third");
}

TEST_P(Jobs, TellSmallBudgetsApart) {
  const std::string id = submit("a", {"x"}, "me", 0, 1e-7);
  EXPECT_EQ(submit("a", {"x"}, "me", 0, 1e-7), id);
  EXPECT_EQ(store_->submit({"a", "me", "label of a", 0, 2e-7, {"x"}}).error().code, "idempotency-key");
  EXPECT_EQ(submit("b", {"x"}, "me", 0, 0.1), "j2");
  EXPECT_EQ(submit("b", {"x"}, "me", 0, 0.1), "j2");
}

TEST_P(Jobs, HaveKeysPerClient) {
  const std::string mine = submit("a", {"x"}), yours = submit("a", {"y"}, "you");
  EXPECT_NE(mine, yours);
  EXPECT_EQ(submit("a", {"x"}), mine);
  EXPECT_EQ(submit("a", {"y"}, "you"), yours);
}

TEST_P(Jobs, AreBoundedPerClient) {
  const auto text = [](const auto& result) { return result.ok() ? "" : support::render(result.error()); };
  const NewJob two{"a", "me", "", 0, 0, {"x", "y"}, 2};
  EXPECT_EQ(store_->submit(two).value(), "j1");
  EXPECT_EQ(text(store_->submit({"b", "me", "", 0, 0, {"z"}, 2})),
            "exhausted [quota-queued]: `me` may have 2 requests of jobs waiting; 2 wait, this job has 1\n"
            "  note: submit it when some are done, or cancel a job");
  EXPECT_EQ(store_->submit(two).value(), "j1") << "it was accepted";
  EXPECT_EQ(store_->submit({"c", "you", "", 0, 0, {"z"}, 2}).value(), "j2");
  ASSERT_TRUE(store_->cancel("j1").ok());
  EXPECT_EQ(store_->submit({"d", "me", "", 0, 0, {"z"}, 2}).value(), "j3");
  EXPECT_EQ(text(store_->retry("j1", 2)),
            "exhausted [quota-queued]: `me` may have 2 requests of jobs waiting; 1 wait, this job has 2\n"
            "  note: submit it when some are done, or cancel a job");
  EXPECT_EQ(counts("j1"), "0 0 0 0 2");
  EXPECT_EQ(text(store_->retry("j1", 3)), "");
  EXPECT_EQ(text(store_->retry("j1", 1)), "") << "nothing more waits by that";
}

TEST_P(Jobs, AreBoundedOverAllClients) {
  JobLimits limits;
  limits.waiting = 3;
  open(limits);
  submit("a", {"x", "y"});
  const auto refused = store_->submit({"b", "you", "", 0, 0, {"x", "y"}, 10});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(support::render(refused.error()),
            "exhausted [jobs-full]: 3 requests of jobs may wait on this server; 2 wait, this job has 2\n"
            "  note: submit it when some are done");
  EXPECT_EQ(submit("a", {"x", "y"}), "j1") << "it was accepted";
  ASSERT_TRUE(store_->cancel("j1").ok());
  submit("b", {"x", "y"}, "you");
  EXPECT_EQ(store_->retry("j1", 0).error().code, "jobs-full");
}

TEST_P(Jobs, AreEvictedForNewOnesOnceEnded) {
  JobLimits limits;
  limits.bytes = 1 << 20;
  open(limits);
  const std::string half(400'000, 'x');
  submit("a", {half});
  submit("b", {half});
  const auto refused = store_->submit({"c", "me", "", 0, 0, {half}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(support::render(refused.error()),
            "exhausted [jobs-full]: the jobs that this server has accepted fill the 1048576 bytes there are "
            "for them\n  note: submit it when some are done");
  EXPECT_EQ(jobs(), (std::vector<std::string>{"j2", "j1"}));
  ASSERT_TRUE(store_->cancel("j2").ok());
  const std::string next = submit("c", {half});
  EXPECT_EQ(jobs(), (std::vector<std::string>{next, "j1"})) << "what waits stays";
  EXPECT_EQ(store_->submit({"d", "me", "", 0, 0, {half}}).error().code, "jobs-full");
  for (const char* key : {"e", "f", "g"}) {
    EXPECT_EQ(claim(), half);
    finish();
    submit(key, {half});
    EXPECT_EQ(jobs().size(), 2u);
  }
}

TEST_P(Jobs, ArePurgedLongAfterTheirEnd) {
  const auto day = [](int n) { return Clock::Time(std::chrono::days(n)); };
  JobLimits limits;
  limits.retention = std::chrono::days(90);
  open(limits, day(0));
  submit("waits", {"x", "y"}, "me", 1);
  EXPECT_EQ(claim(), "x");
  finish();
  submit("ends", {"z"}, "you", 2);
  submit("cancelled", {"z"}, "they");
  open(limits, day(1));
  EXPECT_EQ(claim(), "z");
  finish();
  ASSERT_TRUE(store_->cancel("j3").ok());
  open(limits, day(91));
  EXPECT_EQ(store_->purge().value(), 0u);
  open({.retention = std::chrono::hours(0)}, day(1000));
  EXPECT_EQ(store_->purge().value(), 0u);
  open(limits, day(92));
  EXPECT_EQ(store_->purge().value(), 2u);
  EXPECT_EQ(jobs(), std::vector<std::string>{"j1"});
  EXPECT_EQ(counts("j1"), "1 0 1 0 0");
  EXPECT_EQ(store_->counts()->at(ItemState::done), 1u);
  EXPECT_EQ(submit("ends", {"new"}, "you"), "j4") << "ids are not used twice";
}

TEST_P(Jobs, AreServedByPriorityThenRoundRobin) {
  submit("a", {"a1", "a2", "a3"}, "ann");
  submit("b", {"b1", "b2"}, "bob");
  submit("c", {"c1"}, "ann", 5);
  std::vector<std::string> order;
  for (std::string next = claim(); !next.empty(); next = claim()) order.push_back(next);
  EXPECT_EQ(order, (std::vector<std::string>{"c1", "b1", "a1", "b2", "a2", "a3"}));
}

TEST_P(Jobs, SurviveRestarts) {
  const std::string id = submit("a", {"x", "y"});
  for (int died = 1; died <= JobStore::max_attempts; ++died) {
    EXPECT_EQ(claim(), "x");
    EXPECT_EQ(last_.attempt, died);
    open();
    EXPECT_EQ(counts(id), "1 1 0 0 0");
    ASSERT_TRUE(store_->recover().ok());
  }
  EXPECT_EQ(ended(id),
            (std::vector<std::string>{"0 failed the server ended while it worked on this, 3 times"}));
  EXPECT_EQ(claim(), "y");
  // A stopping server requeues its item: that is no attempt.
  ASSERT_TRUE(store_->requeue(last_).ok());
  EXPECT_EQ(claim(), "y");
  EXPECT_EQ(last_.attempt, 1);
}

// SQLite goes on writing into deleted files, and every flush succeeds.
TEST_P(Jobs, AreNotAcceptedOnAFailingDisk) {
  if (on_postgres()) GTEST_SKIP() << "the disk is PostgreSQL's";
  const std::string id = submit("a", {"x"});
  std::ofstream(directory_ / "jobs.db-flushed") << "of a process that was killed";
  submit("b", {"y"});
  EXPECT_FALSE(std::filesystem::exists(directory_ / "jobs.db-flushed"));
  std::filesystem::remove_all(directory_.path());
  const auto code = [](const auto& result) { return result.ok() ? "no error" : result.error().code; };
  EXPECT_EQ(code(store_->submit({"c", "me", "", 0, 0, {"x"}})), "file-replaced");
  EXPECT_EQ(code(store_->submit({"c", "me", "", 0, 0, {"x"}})), "file-replaced");  // the same again
  EXPECT_EQ(code(store_->cancel(id)), "file-replaced");
  EXPECT_EQ(code(store_->retry(id, 0)), "file-replaced");
}

TEST_P(Jobs, CanBeCancelledAndRetried) {
  const std::string id = submit("a", {"x", "y", "z"});
  EXPECT_EQ(claim(), "x");
  finish();
  EXPECT_EQ(claim(), "y");
  ASSERT_TRUE(store_->cancel(id).ok());
  EXPECT_EQ(counts(id), "0 0 1 0 2");
  finish();  // an item that ran meanwhile stays cancelled
  EXPECT_EQ(counts(id), "0 0 1 0 2");
  EXPECT_EQ(ended(id), (std::vector<std::string>{"0 done ", "1 cancelled ", "2 cancelled "}));
  EXPECT_EQ(claim(), "");
  ASSERT_TRUE(store_->retry(id, 0).ok());
  EXPECT_EQ(counts(id), "2 0 1 0 0");
  EXPECT_EQ(ended(id), (std::vector<std::string>{"0 done "}));
  EXPECT_EQ(claim(), "y");
  EXPECT_EQ(last_.attempt, 1);
}

// A watcher of the cancelled items goes on from there.
TEST_P(Jobs, EndAfterAllReportedItemsWhenRetried) {
  const std::string id = submit("a", {"x", "y"});
  std::uint64_t told = 0;
  const auto hear = [&] {
    std::vector<std::uint64_t> numbers;
    for (const auto& row : store_->ended(id, told, 100).value()) {
      numbers.push_back(row.number);
      told = row.ended;
    }
    return numbers;
  };
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(store_->cancel(id).ok());
    EXPECT_EQ(hear(), (std::vector<std::uint64_t>{0, 1}));
    ASSERT_TRUE(store_->retry(id, 0).ok());
    EXPECT_EQ(claim(), "x");
    finish(ItemState::failed, "why");
    EXPECT_EQ(hear(), std::vector<std::uint64_t>{0});
    ASSERT_TRUE(store_->retry(id, 0).ok());
  }
  submit("b", {"z"}, "me", 5);
  EXPECT_EQ(claim(), "z");
  finish();
  EXPECT_EQ(hear(), std::vector<std::uint64_t>{});
  EXPECT_EQ(claim(), "x");
  open();
  for (int died = 1; died < JobStore::max_attempts; ++died) {
    ASSERT_TRUE(store_->recover().ok());
    EXPECT_EQ(claim(), "x");
    last_.claim.reset();
  }
  ASSERT_TRUE(store_->recover().ok());
  EXPECT_EQ(hear(), std::vector<std::uint64_t>{0});
}

TEST_P(Jobs, EndWhenTheirBudgetIsSpent) {
  const std::string id = submit("a", {"x", "y", "z"}, "me", 0, 1.5);
  EXPECT_EQ(claim(), "x");
  finish();
  EXPECT_EQ(counts(id), "2 0 1 0 0");
  EXPECT_EQ(claim(), "y");
  finish();
  EXPECT_EQ(counts(id), "0 0 2 1 0");
  EXPECT_EQ(ended(id).back(), "2 failed the budget of 1.5 s is spent");
  // A retried job has its whole budget again.
  ASSERT_TRUE(store_->retry(id, 0).ok());
  EXPECT_EQ(claim(), "z");
  finish();
  EXPECT_EQ(counts(id), "0 0 3 0 0");
}

TEST_P(Jobs, WakeThoseWhoWaitForAChange) {
  using std::chrono::milliseconds;
  const std::string id = submit("a", {"x", "y"});
  const JobChanges& changes = store_->changes();
  auto seen = changes.of(id);
  const auto changed = [&] {
    const bool yes = changes.wait(id, seen, milliseconds(0));
    seen = changes.of(id);
    return yes;
  };
  EXPECT_FALSE(changes.wait(id, seen, milliseconds(10))) << "reading is no change";
  EXPECT_EQ(claim(), "x");
  EXPECT_TRUE(changed());
  EXPECT_EQ(counts(id), "1 1 0 0 0");
  EXPECT_FALSE(changed());
  std::thread later([&] { finish(); });
  EXPECT_TRUE(changes.wait(id, seen, std::chrono::seconds(20)));
  later.join();
  EXPECT_TRUE(changed());
  EXPECT_EQ(claim(), "y");
  EXPECT_TRUE(changed());
  ASSERT_TRUE(store_->requeue(last_).ok());
  EXPECT_TRUE(changed());
  ASSERT_TRUE(store_->cancel(id).ok());
  EXPECT_TRUE(changed());
  ASSERT_TRUE(store_->retry(id, 0).ok());
  EXPECT_TRUE(changed());
}

TEST_P(Jobs, CountTheirItemsAlikeWhenOpenedAgain) {
  const std::string id = submit("a", {"x", "y", "z"}, "me", 0, 100);
  claim(), finish(ItemState::done, "", 2.5);
  claim(), finish(ItemState::failed, "no", 1.25);
  const JobRow before = store_->job(id).value();
  open();
  const JobRow after = store_->job(id).value();
  EXPECT_EQ(counts(id), "1 0 1 1 0");
  EXPECT_EQ(after.seconds, 3.75);
  EXPECT_EQ(before.seconds, after.seconds);
  EXPECT_EQ(claim(), "z");
  EXPECT_EQ(last_.seconds_left, 96.25);
}

// A process that goes on after its item was taken away, and another that works on it now.
TEST_P(Jobs, EndOnceForEachAttempt) {
  const std::string id = submit("a", {"x"});
  EXPECT_EQ(claim(), "x");
  const Attempt first = last_;
  EXPECT_TRUE(store_->is_wanted(first).value());
  ASSERT_TRUE(store_->recover().ok());
  EXPECT_EQ(counts(id), "0 1 0 0 0") << "somebody holds it";
  last_.claim.reset();
  ASSERT_TRUE(store_->recover().ok());
  EXPECT_EQ(counts(id), "1 0 0 0 0");
  EXPECT_FALSE(store_->is_wanted(first).value());
  EXPECT_EQ(claim(), "x");
  EXPECT_FALSE(store_->is_wanted(first).value());
  EXPECT_FALSE(store_->finish(first, ItemState::failed, "late", 1).value());
  EXPECT_EQ(counts(id), "0 1 0 0 0");
  EXPECT_TRUE(store_->finish(last_, ItemState::done, "", 1).value());
  EXPECT_FALSE(store_->finish(last_, ItemState::failed, "again", 1).value());
  EXPECT_EQ(counts(id), "0 0 1 0 0");
}

TEST_P(Jobs, FailAfterThreeEndsOfTheirProcesses) {
  const std::string id = submit("a", {"x"});
  for (int attempt = 1; attempt <= JobStore::max_attempts; ++attempt) {
    EXPECT_EQ(claim(), "x");
    last_.claim.reset();
    ASSERT_TRUE(store_->recover().ok());
  }
  EXPECT_EQ(counts(id), "0 0 0 1 0");
}

TEST_P(Jobs, CountNoAttemptThatTheDatabaseEnded) {
  const std::string id = submit("a", {"x"});
  for (int restart = 0; restart < 2 * JobStore::max_attempts; ++restart) {
    EXPECT_EQ(claim(), "x");
    EXPECT_EQ(last_.attempt, 1);
    change_rows("UPDATE item SET lifetime = 'an earlier one'");
    ASSERT_TRUE(store_->recover().ok());
  }
  EXPECT_EQ(counts(id), "1 0 0 0 0");
}

TEST_P(Jobs, TellWhoTookTheirItems) {
  submit("a", {"x", "y", "z"});
  EXPECT_EQ(claim(), "x");
  finish();
  EXPECT_EQ(claim(), "y");
  finish(ItemState::failed, "no");
  EXPECT_EQ(claim(), "z");
  const auto found = store_->processes(Clock::Time(), Clock::Time()).value();
  ASSERT_EQ(found.size(), 1u);
  const FleetProcess& process = found.front();
  EXPECT_EQ(process.name, process_name());
  EXPECT_EQ(process.role, on_postgres() ? "server" : "");
  EXPECT_EQ(process.since.empty(), !on_postgres());
  EXPECT_EQ(std::tuple(process.running, process.done, process.failed, process.recent),
            std::tuple(1u, 1u, 1u, 2u));
}

TEST_P(Jobs, AreClaimedOnceByManyThreads) {
  std::vector<std::string> requests;
  for (int n = 0; n < 60; ++n) requests.push_back(std::to_string(n));
  const std::string a = submit("a", requests), b = submit("b", requests, "you");
  std::mutex mutex;
  std::map<std::string, int> claimed;
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&] {
      for (int idle = 0; idle < 3;) {
        auto item = store_->claim();
        ASSERT_TRUE(item.ok()) << support::render(item.error());
        if (!*item) {
          ++idle;
          continue;
        }
        {
          const std::lock_guard lock(mutex);
          ++claimed[(*item)->job + " " + (*item)->request];
        }
        const auto ended = store_->finish(**item, ItemState::done, "", 1);
        EXPECT_TRUE(ended.ok() && *ended);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(claimed.size(), 120u);
  for (const auto& [item, times] : claimed) EXPECT_EQ(times, 1) << item;
  EXPECT_EQ(counts(a), "0 0 60 0 0");
  EXPECT_EQ(store_->ended(b, 0, 100)->size(), 60u);
}

TEST_P(Jobs, AreClaimedByThoseWhoTakeTheirInstructionSets) {
  NewJob job{"a", "me", "", 0, 0, {"wide", "any", "narrow", "later"}};
  job.isas = {"x86-64-v4", "", "x86-64-v2"};
  ASSERT_TRUE(store_->submit(job).ok());
  const auto take = [&](const Takes& takes) {
    const auto item = store_->claim(takes).value();
    return item ? item->request : "";
  };
  EXPECT_EQ(take({"x86-64-v2", "generic"}), "any");
  EXPECT_EQ(take({"generic"}), "later");
  EXPECT_EQ(take({"generic"}), "");
  EXPECT_EQ(take({"generic", "x86-64-v2"}), "narrow");
  EXPECT_EQ(take({"generic", "x86-64-v2"}), "");
  EXPECT_EQ(take({}), "wide");  // those who take everything
}

// Many jobs for others do not hide one that waits behind them.
TEST_P(Jobs, AreFoundBehindManyForOtherProcessors) {
  for (int n = 0; n < 130; ++n) {
    NewJob job{"k" + std::to_string(n), "me", "", 0, 0, {"wide"}};
    job.isas = {"x86-64-v4"};
    ASSERT_TRUE(store_->submit(job).ok());
  }
  submit("last", {"narrow"}, "me", -5);
  const auto item = store_->claim({"x86-64-v3"}).value();
  ASSERT_TRUE(item.has_value());
  EXPECT_EQ(item->request, "narrow");
  EXPECT_FALSE(store_->claim({"x86-64-v3"})->has_value());
}

TEST_P(Jobs, AreHeardOfByThoseWhoWait) {
  const auto seen = store_->arrivals();
  EXPECT_FALSE(store_->wait(seen, std::chrono::milliseconds(1)));
  submit("a", {"x"});
  EXPECT_TRUE(store_->wait(seen, std::chrono::milliseconds(0)));
  if (!on_postgres()) return;
  const auto other = make_job_store(
      open_postgres(test_support::test_database(), {postgres_job_schema()}).value(), system_clock(), {});
  const auto there = other->arrivals();
  const auto change = other->changes().of("j1");
  submit("b", {"y"});
  EXPECT_TRUE(other->wait(there, std::chrono::seconds(10)));
  EXPECT_EQ(claim(), "x");
  EXPECT_TRUE(other->changes().wait("j1", change, std::chrono::seconds(10)));
  // Another process sees that this one holds the item.
  ASSERT_TRUE(other->recover().ok());
  EXPECT_EQ(other->job("j1")->running, 1u);
  last_.claim.reset();
  ASSERT_TRUE(other->recover().ok());
  EXPECT_EQ(other->job("j1")->waiting, 1u);
}

TEST_P(Jobs, AreRefusedWhenUnknown) {
  submit("a", {"x"});
  for (const char* id :
       {"j2", "j0", "j-1", "j01", "1", "", "j", "j1x", "j99999999999999999999", "j1; DROP TABLE job"}) {
    const std::string expected = std::string("invalid [unknown-job]: there is no job `") + id + "`";
    EXPECT_EQ(support::render(store_->job(id).error()), expected);
    EXPECT_EQ(support::render(store_->cancel(id).error()), expected);
    EXPECT_EQ(support::render(store_->retry(id, 0).error()), expected);
    EXPECT_EQ(support::render(store_->ended(id, 0, 1).error()), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(On, Jobs, testing::Values("sqlite", "postgres"),
                         [](const auto& engine) { return std::string(engine.param); });

}  // namespace
}  // namespace schaas::kernels_cache
