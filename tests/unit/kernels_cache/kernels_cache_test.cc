#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

#include "kernels_cache/binary_store_files.h"
#include "kernels_cache/binary_store_memory.h"
#include "kernels_cache/schedule_schema.h"
#include "kernels_cache/schedule_store_database.h"
#include "kernels_cache/schedule_store_memory.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_database.h"

// Stores of schedules and of binaries. Tests of the interface run on the memory store and on the store with
// files, which must answer alike. Damage is planted directly: SQL changes one column, files are cut or
// appended to. Damaged rows and binaries count as missing. A limit on file sizes stands in for a full disk; a
// later schema is refused untouched. Eviction follows a clock that the test sets.
namespace schaas::kernels_cache {
namespace {

namespace fs = std::filesystem;

using test_support::TemporaryDirectory;

Clock::Time noon() {
  using namespace std::chrono;
  return sys_days{year{2026} / March / 1} + hours(12) + milliseconds(7);
}

TEST(Clock, PrintsUtcAsIso8601WithMilliseconds) { EXPECT_EQ(print(noon()), "2026-03-01T12:00:00.007Z"); }

std::string raw(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  std::string out;
  const auto collect = [](void* text, int columns, char** values, char**) {
    for (int i = 0; i < columns; ++i) *static_cast<std::string*>(text) += std::string(values[i]) + ";";
    return 0;
  };
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), collect, &out, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
  return out;
}

// ---- schedule stores: the database and its twin give the same answers ----

struct StoreKind {
  const char* name;
  std::function<std::unique_ptr<ScheduleStore>(const TemporaryDirectory&)> open;
};

class ScheduleStores : public testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override {
    if (store_ == nullptr) GTEST_SKIP() << test_support::no_test_database;
  }
  TemporaryDirectory directory_;
  std::unique_ptr<ScheduleStore> store_ = GetParam().open(directory_);
};

std::shared_ptr<Database> open_test_database() {
  return open_postgres(test_support::test_database(), {postgres_schedule_schema()}).value();
}
std::unique_ptr<ScheduleStore> open_postgres_store(std::shared_ptr<const Clock> clock) {
  if (test_support::test_database().empty()) return nullptr;
  test_support::clear_test_database();
  return make_schedule_store(open_test_database(), std::move(clock));
}

FrontierRow frontier_row(const std::string& problem, const std::string& options, const std::string& payload) {
  FrontierRow row;
  row.key = {problem, options, 3};
  row.canonical = "text of " + problem;
  row.asked = problem + " as asked";
  row.payload = payload;
  row.complete = false;
  row.schedules = 5;
  row.seconds = 0.25;
  return row;
}

KernelRow kernel_row(const std::string& key, const std::string& problem, char digit) {
  KernelRow row;
  row.kernel_key = key;
  row.problem_key = problem;
  row.canonical = "text of " + problem;
  row.trace = "linear";
  row.isa = "x86-64-v3";
  row.digest = {std::string(64, digit), 4096};
  row.seconds = 0.125;
  row.signature = std::string(128, digit);
  return row;
}

TEST_P(ScheduleStores, ReturnAFrontierUnchanged) {
  const std::string payload = std::string("line\n\0byte", 9) + "\u00e9";
  ASSERT_TRUE(store_->put_frontier(frontier_row("p", "o", payload)).ok());
  const auto found = store_->frontier({"p", "o", 3});
  ASSERT_TRUE(found.ok() && found->has_value());
  const FrontierRow& row = **found;
  EXPECT_EQ(row.payload, payload);
  EXPECT_EQ(row.canonical, "text of p");
  EXPECT_EQ(row.asked, "p as asked");
  EXPECT_FALSE(row.complete);
  EXPECT_EQ(row.schedules, 5u);
  EXPECT_EQ(row.seconds, 0.25);
  EXPECT_EQ(row.created, "2026-03-01T12:00:00.007Z");
}

TEST_P(ScheduleStores, NeverAnswerAnotherKey) {
  ASSERT_TRUE(store_->put_frontier(frontier_row("p", "o", "x")).ok());
  for (const FrontierKey& other :
       {FrontierKey{"q", "o", 3}, FrontierKey{"p", "O", 3}, FrontierKey{"p", "o", 4}}) {
    const auto found = store_->frontier(other);
    ASSERT_TRUE(found.ok());
    EXPECT_FALSE(found->has_value());
  }
  const auto kernel = store_->kernel("p");
  ASSERT_TRUE(kernel.ok());
  EXPECT_FALSE(kernel->has_value());
}

TEST_P(ScheduleStores, RecordChanges) {
  const auto changed_by = [&](auto work) {
    const auto stamp = store_->changes().now();
    EXPECT_TRUE(work().ok());
    return std::pair(store_->changes().since(stamp, "p"), store_->changes().since(stamp, "q"));
  };
  const std::pair of_p(true, false), of_all(true, true), of_none(false, false);
  MeasurementRow measurement;
  measurement.problem_key = "p";
  measurement.canonical = "text of p";
  EXPECT_EQ(changed_by([&] { return store_->put_frontier(frontier_row("p", "o", "x")); }), of_p);
  EXPECT_EQ(changed_by([&] { return store_->put_kernel(kernel_row("k", "p", 'a')); }), of_p);
  EXPECT_EQ(changed_by([&] { return store_->put_measurements({measurement}); }), of_p);
  EXPECT_EQ(changed_by([&] { return store_->frontier({"p", "o", 3}); }), of_none);
  EXPECT_EQ(changed_by([&] { return store_->kernel("k"); }), of_none);
  EXPECT_EQ(changed_by([&] { return store_->drop_kernels_with({std::string(64, 'b')}); }), of_none);
  EXPECT_EQ(changed_by([&] { return store_->drop_kernels_with({std::string(64, 'a')}); }), of_all);
  EXPECT_EQ(changed_by([&] { return store_->drop_frontiers_before(3); }), of_none);
  EXPECT_EQ(changed_by([&] { return store_->drop_frontiers_above(0, Clock::Time::max()); }), of_p);
  EXPECT_EQ(changed_by([&] { return store_->put_frontier(frontier_row("p", "o", "x")); }), of_p);
  EXPECT_EQ(changed_by([&] { return store_->drop_frontiers_before(4); }), of_all);
}

TEST_P(ScheduleStores, DropFrontiersButForThoseInUseAndPinned) {
  for (const char* problem : {"p", "q", "r"})
    ASSERT_TRUE(store_->put_frontier(frontier_row(problem, "o", std::string(100, 'x'))).ok());
  ASSERT_TRUE(store_->put_kernel(kernel_row("k", "q", 'a')).ok());
  EXPECT_EQ(store_->statistics()->frontier_bytes, 300u);
  const Clock::Time later = Clock::Time::max();
  const auto now = std::chrono::sys_days(std::chrono::March / 1 / 2026) + std::chrono::hours(12);
  EXPECT_EQ(store_->drop_frontiers_above(0, now)->frontiers, 0u) << "all are in use";
  EXPECT_EQ(store_->drop_frontiers_above(300, later)->frontiers, 0u) << "no more than allowed";
  ASSERT_TRUE(*store_->set_pin("r", Pinned::yes));
  const auto dropped = store_->drop_frontiers_above(0, later);
  ASSERT_TRUE(dropped.ok());
  EXPECT_EQ(dropped->frontiers, 2u);
  EXPECT_EQ(dropped->bytes, 200u);
  EXPECT_EQ(dropped->left_bytes, 100u);
  EXPECT_TRUE(store_->frontier({"r", "o", 3})->has_value());
  EXPECT_FALSE(store_->frontier({"q", "o", 3})->has_value());
  std::vector<std::string> left;
  for (const auto& problem : *store_->list()) left.push_back(problem.problem_key);
  EXPECT_EQ(left, (std::vector<std::string>{"q", "r"})) << "q has a kernel, of p nothing was left";
  EXPECT_EQ(*store_->statistics(), (Statistics{2, 1, 1, 100}));
}

TEST_P(ScheduleStores, ReplaceTheRowOfTheSameKey) {
  ASSERT_TRUE(store_->put_frontier(frontier_row("p", "o", "old")).ok());
  ASSERT_TRUE(store_->put_frontier(frontier_row("p", "o", "new")).ok());
  EXPECT_EQ((*store_->frontier({"p", "o", 3}))->payload, "new");
  ASSERT_TRUE(store_->put_kernel(kernel_row("k", "p", 'a')).ok());
  ASSERT_TRUE(store_->put_kernel(kernel_row("k", "p", 'b')).ok());
  EXPECT_EQ((*store_->kernel("k"))->signature, std::string(128, 'b'));
  EXPECT_EQ((*store_->kernel("k"))->digest.sha256, std::string(64, 'b'));
  EXPECT_EQ(*store_->statistics(), (Statistics{1, 1, 1, 3}));
}

// The twin counts its rows whenever it is asked.
TEST_P(ScheduleStores, HaveTheTotalsOfTheirRows) {
  const auto twin = make_memory_schedule_store(fixed_clock(noon()));
  std::mt19937_64 random(20261126);
  for (int step = 0; step < 300; ++step) {
    const std::string problem(1, static_cast<char>('p' + random() % 4));
    const std::string payload(random() % 50, 'x');
    const char digit = static_cast<char>('a' + random() % 3);
    const auto chosen = random() % 12;
    for (ScheduleStore* store : {store_.get(), twin.get()}) {
      if (chosen < 4) {
        ASSERT_TRUE(store->put_frontier(frontier_row(problem, "o", payload)).ok());
      } else if (chosen < 8) {
        ASSERT_TRUE(store->put_kernel(kernel_row(problem + digit, problem, digit)).ok());
      } else if (chosen < 10) {
        ASSERT_TRUE(store->drop_kernels_with({std::string(64, digit)}).ok());
      } else if (chosen == 10) {
        ASSERT_TRUE(store->drop_frontiers_above(0, Clock::Time::max()).ok());
      } else {
        ASSERT_TRUE(store->drop_frontiers_before(digit == 'a' ? 3 : 4).ok());
      }
    }
    ASSERT_EQ(*store_->statistics(), *twin->statistics()) << step;
  }
}

TEST_P(ScheduleStores, FindCompleteRelaxedFrontiersNewestFirst) {
  for (const char* name : {"p", "q", "r", "s", "t"}) {
    FrontierRow row = frontier_row(name, "o", std::string("payload of ") + name);
    row.complete = *name != 'r';
    row.unconstrained_key = *name == 's' ? "another" : "key";
    ASSERT_TRUE(store_->put_kernel(kernel_row(std::string("k") + name, name, 'a')).ok());  // may come first
    ASSERT_TRUE(store_->put_frontier(row).ok());
  }
  const auto rows = store_->frontiers_of("key", "o", 3, 10);
  ASSERT_TRUE(rows.ok());
  ASSERT_EQ(rows->size(), 3u);
  EXPECT_EQ(rows->at(0).key.problem_key, "t");
  EXPECT_EQ(rows->at(1).key.problem_key, "q");
  EXPECT_EQ(rows->at(2).key.problem_key, "p");
  EXPECT_EQ(rows->at(0).payload, "payload of t");
  EXPECT_EQ(rows->at(0).canonical, "text of t");
  EXPECT_EQ(store_->frontiers_of("key", "o", 3, 2)->size(), 2u);
  EXPECT_TRUE(store_->frontiers_of("key", "O", 3, 10)->empty());
  EXPECT_TRUE(store_->frontiers_of("key", "o", 4, 10)->empty());
  EXPECT_TRUE(store_->frontiers_of("nobody", "o", 3, 10)->empty());
  EXPECT_EQ((*store_->frontier({"t", "o", 3}))->unconstrained_key, "key");
}

TEST_P(ScheduleStores, ReturnAKernelUnchanged) {
  ASSERT_TRUE(store_->put_kernel(kernel_row("k", "p", 'a')).ok());
  const auto found = store_->kernel("k");
  ASSERT_TRUE(found.ok() && found->has_value());
  const KernelRow& row = **found;
  EXPECT_EQ(row.kernel_key, "k");
  EXPECT_EQ(row.problem_key, "p");
  EXPECT_EQ(row.canonical, "text of p");
  EXPECT_EQ(row.trace, "linear");
  EXPECT_EQ(row.isa, "x86-64-v3");
  EXPECT_EQ(row.digest, (support::Digest{std::string(64, 'a'), 4096}));
  EXPECT_EQ(row.seconds, 0.125);
  EXPECT_EQ(row.created, "2026-03-01T12:00:00.007Z");
}

TEST_P(ScheduleStores, DropEveryKernelOfADigest) {
  for (const auto& row :
       {kernel_row("k1", "p", 'a'), kernel_row("k2", "p", 'b'), kernel_row("k3", "q", 'a')}) {
    ASSERT_TRUE(store_->put_kernel(row).ok());
  }
  EXPECT_EQ(*store_->drop_kernels_with({std::string(64, 'a')}), 2u);
  EXPECT_EQ(*store_->drop_kernels_with({std::string(64, 'a')}), 0u);
  const auto left = store_->kernels_of("p");
  ASSERT_EQ(left->size(), 1u);
  EXPECT_EQ(left->front().kernel_key, "k2");
}

MeasurementRow measurement_row(const std::string& problem, const std::string& trace, double seconds) {
  return {problem, "text of " + problem, "host", "i=3", 2, "x86-64-v3", trace, 7, seconds, ""};
}

TEST_P(ScheduleStores, ReturnMeasurementsOfOneProblemHostAndCodeNewestFirst) {
  ASSERT_TRUE(
      store_->put_measurements({measurement_row("p", "linear", 0.5), measurement_row("p", "other", 0.25)})
          .ok());
  for (auto* change : {+[](MeasurementRow& row) { row.problem_key = "q"; },
                       +[](MeasurementRow& row) { row.host = "another"; },
                       +[](MeasurementRow& row) { row.code_version = 8; }}) {
    MeasurementRow elsewhere = measurement_row("p", "linear", 9);
    change(elsewhere);
    ASSERT_TRUE(store_->put_measurements({elsewhere}).ok());
  }
  MeasurementRow linear = measurement_row("p", "linear", 0.5), other = measurement_row("p", "other", 0.25);
  linear.created = other.created = "2026-03-01T12:00:00.007Z";
  EXPECT_EQ(*store_->measurements_of("p", "host", 7, 10), (std::vector<MeasurementRow>{other, linear}));
  EXPECT_EQ(*store_->measurements_of("p", "host", 7, 1), (std::vector<MeasurementRow>{other}));
  // A later autotuning run replaces all timings of an earlier one in the same circumstances.
  MeasurementRow third = measurement_row("p", "third", 0.75);
  linear.seconds = 0.7;
  ASSERT_TRUE(store_->put_measurements({linear, third}).ok());
  third.created = linear.created;
  EXPECT_EQ(*store_->measurements_of("p", "host", 7, 10), (std::vector<MeasurementRow>{third, linear}));
  // Other sizes, threads or instruction sets do not replace it.
  for (auto* change :
       {+[](MeasurementRow& row) { row.sizes = "i=4"; }, +[](MeasurementRow& row) { row.threads = 1; },
        +[](MeasurementRow& row) { row.isa = "generic"; }}) {
    MeasurementRow more = measurement_row("p", "linear", 1);
    change(more);
    ASSERT_TRUE(store_->put_measurements({more}).ok());
  }
  EXPECT_EQ(store_->measurements_of("p", "host", 7, 10)->size(), 5u);
}

TEST_P(ScheduleStores, KeepExclusiveMeasurementsBeforeOthers) {
  MeasurementRow alone = measurement_row("p", "linear", 0.5), beside = measurement_row("p", "other", 0.1);
  alone.exclusive = true;
  ASSERT_TRUE(store_->put_measurements({beside}).ok());
  ASSERT_TRUE(store_->put_measurements({alone}).ok());
  ASSERT_TRUE(store_->put_measurements({beside}).ok());
  beside.threads = 1;  // other circumstances
  ASSERT_TRUE(store_->put_measurements({beside}).ok());
  alone.created = beside.created = "2026-03-01T12:00:00.007Z";
  EXPECT_EQ(*store_->measurements_of("p", "host", 7, 10), (std::vector<MeasurementRow>{beside, alone}));
  alone.seconds = 0.4;
  ASSERT_TRUE(store_->put_measurements({alone}).ok());
  EXPECT_EQ(*store_->measurements_of("p", "host", 7, 10), (std::vector<MeasurementRow>{alone, beside}));
}

TEST_P(ScheduleStores, BoundTheMeasurementsOfAProblem) {
  ASSERT_TRUE(store_->put_measurements({measurement_row("q", "kept", 1)}).ok());
  std::vector<MeasurementRow> rows;
  for (std::size_t n = 0; n < ScheduleStore::max_measurements + 2; ++n)
    rows.push_back(measurement_row("p", "trace " + std::to_string(n), 1));
  ASSERT_TRUE(store_->put_measurements(rows).ok());
  const auto kept = store_->measurements_of("p", "host", 7, 10'000);
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(kept->size(), ScheduleStore::max_measurements);
  EXPECT_EQ(kept->back().trace, "trace 2");
  EXPECT_EQ(store_->measurements_of("q", "host", 7, 10)->size(), 1u);
}

TEST_P(ScheduleStores, ListProblemsOldestFirstWithTheirCounts) {
  ASSERT_TRUE(store_->put_kernel(kernel_row("k1", "z", 'a')).ok());
  ASSERT_TRUE(store_->put_frontier(frontier_row("a", "o", "x")).ok());
  ASSERT_TRUE(store_->put_kernel(kernel_row("k2", "z", 'b')).ok());
  const auto all = store_->list();
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0].problem_key, "z");
  EXPECT_EQ((*all)[0].schedules, 0u);
  EXPECT_EQ((*all)[0].kernels, 2u);
  EXPECT_EQ((*all)[1].problem_key, "a");
  EXPECT_EQ((*all)[0].asked, "");
  EXPECT_EQ((*all)[1].canonical, "text of a");
  EXPECT_EQ((*all)[1].asked, "a as asked");
  EXPECT_EQ(store_->newest_frontier("a").value()->asked, "a as asked");
  EXPECT_EQ((*all)[1].schedules, 5u);
  EXPECT_EQ((*all)[1].kernels, 0u);
  EXPECT_EQ((*all)[1].created, "2026-03-01T12:00:00.007Z");
  EXPECT_EQ(store_->kernels_of("z")->size(), 2u);
  EXPECT_TRUE(store_->kernels_of("a")->empty());
}

TEST_P(ScheduleStores, RememberTheToolchainOfEachTarget) {
  EXPECT_TRUE(store_->toolchains()->empty());
  ASSERT_TRUE(store_->put_toolchain("x86-64-v3", "gcc 12").ok());
  ASSERT_TRUE(store_->put_toolchain("cuda", "nvcc 12.4").ok());
  ASSERT_TRUE(store_->put_toolchain("x86-64-v3", "gcc 14").ok());
  EXPECT_EQ(*store_->toolchains(),
            (std::map<std::string, std::string>{{"cuda", "nvcc 12.4"}, {"x86-64-v3", "gcc 14"}}));
}

TEST_P(ScheduleStores, AgreeOnTheFirstToolchain) {
  const auto before = store_->changes().now();
  EXPECT_EQ(*store_->agree_on_toolchain("v3, code 1", "gcc 12"), "gcc 12");
  EXPECT_TRUE(store_->changes().since(before, ""));
  EXPECT_EQ(*store_->agree_on_toolchain("v3, code 1", "gcc 14"), "gcc 12");
  EXPECT_EQ(*store_->agree_on_toolchain("v3, code 2", "gcc 14"), "gcc 14");
  ASSERT_TRUE(store_->put_toolchain("v3, code 1", "gcc 14").ok());
  EXPECT_EQ(*store_->agree_on_toolchain("v3, code 1", "gcc 12"), "gcc 14");
}

TEST_P(ScheduleStores, ListPartsOfTheProblems) {
  for (const char* problem : {"ab1", "b", "ab2", "a", "ab3"})
    ASSERT_TRUE(store_->put_frontier(frontier_row(problem, "o", "x")).ok());
  const auto listed = [&](const ProblemRange& range) {
    std::string out;
    for (const auto& problem : store_->list(range).value()) out += problem.problem_key + " ";
    return out;
  };
  EXPECT_EQ(listed({}), "ab1 b ab2 a ab3 ");
  EXPECT_EQ(listed({.limit = 2}), "ab1 b ");
  const auto all = store_->list().value();
  EXPECT_EQ(listed({.after = all[1].number, .limit = 2}), "ab2 a ");
  EXPECT_EQ(listed({.after = all[4].number}), "");
  EXPECT_EQ(listed({.prefix = "ab"}), "ab1 ab2 ab3 ");
  EXPECT_EQ(listed({.prefix = "ab", .after = all[0].number, .limit = 1}), "ab2 ");
  EXPECT_EQ(listed({.prefix = "ab2"}), "ab2 ");
  EXPECT_EQ(listed({.prefix = "ac"}), "");
  EXPECT_EQ(listed({.limit = 3, .order = ProblemRange::Order::newest_first}), "ab3 a ab2 ");
}

TEST_P(ScheduleStores, DropManyRowsAtOnce) {
  constexpr int many = 2500;  // more than are deleted in one transaction
  std::vector<std::string> digests;
  for (int n = 0; n < many; ++n) {
    FrontierRow row = frontier_row("p" + std::to_string(n), "o", "0123456789");
    row.key.search_version = n % 2 == 0 ? 3 : 4;
    ASSERT_TRUE(store_->put_frontier(row).ok());
    std::string sha256 = support::digest_of(std::to_string(n)).sha256;
    KernelRow kernel = kernel_row("k" + std::to_string(n), "p" + std::to_string(n), 'a');
    kernel.digest.sha256 = sha256;
    if (n % 5 != 0) continue;
    ASSERT_TRUE(store_->put_kernel(kernel).ok());
    digests.push_back(sha256);
  }
  EXPECT_EQ(store_->binaries()->size(), digests.size());
  ASSERT_TRUE(*store_->set_pin("p2", Pinned::yes));
  EXPECT_EQ(*store_->drop_frontiers_before(4), many / 2u);
  // Those of a kernel and the pinned one stay, without frontier.
  EXPECT_EQ(*store_->statistics(), (Statistics{many / 2 + many / 10 + 1, many / 2, many / 5, many / 2 * 10}));
  EXPECT_EQ(*store_->drop_frontiers_before(4), 0u);
  const auto later = noon() + std::chrono::hours(1);
  const auto some = store_->drop_frontiers_above(1000, later).value();
  EXPECT_EQ(some.frontiers, many / 2u - 100);
  EXPECT_EQ(some.bytes, many / 2 * 10 - 1000u);
  EXPECT_EQ(some.left_bytes, 1000u);
  EXPECT_EQ(*store_->drop_kernels_with(digests), digests.size());
  EXPECT_TRUE(store_->binaries()->empty());
  EXPECT_EQ(store_->statistics()->frontiers, 100u);
}

TEST_P(ScheduleStores, ServeSeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int n = 0; n < 25; ++n) {
        const std::string key = std::to_string(100 * t + n);
        EXPECT_TRUE(store_->put_kernel(kernel_row(key, std::to_string(n), 'a')).ok());
        EXPECT_TRUE((*store_->kernel(key)).has_value());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(*store_->statistics(), (Statistics{25, 0, 100}));
}

TEST_P(ScheduleStores, TellWhatNobodyHolds) {
  Claims& claims = store_->claims();
  auto held = claims.try_take("a").value();
  ASSERT_NE(held, nullptr);
  EXPECT_EQ(claims.try_take("a").value(), nullptr);
  EXPECT_EQ(claims.not_held({"b", "a", "c"}).value(), (std::vector<std::string>{"b", "c"}));
  held.reset();
  EXPECT_EQ(claims.not_held({"a"}).value(), std::vector<std::string>{"a"});
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, ScheduleStores,
    testing::Values(
        StoreKind{"memory",
                  [](const TemporaryDirectory&) { return make_memory_schedule_store(fixed_clock(noon())); }},
        StoreKind{"sqlite",
                  [](const TemporaryDirectory& directory) {
                    return open_sqlite_schedule_store(directory / "s.db", fixed_clock(noon())).value();
                  }},
        StoreKind{"postgres",
                  [](const TemporaryDirectory&) { return open_postgres_store(fixed_clock(noon())); }}),
    [](const auto& kind) { return std::string(kind.param.name); });

// ---- the database file ----

class DatabaseFile : public testing::Test {
 protected:
  support::Result<std::unique_ptr<ScheduleStore>> open() {
    return open_sqlite_schedule_store(path_, fixed_clock(noon()));
  }
  TemporaryDirectory directory_;
  std::string path_ = directory_ / "schedules.db";
};

TEST_F(DatabaseFile, KeepsItsRowsWhenOpenedAgain) {
  ASSERT_TRUE((*open())->put_frontier(frontier_row("p", "o", "kept")).ok());
  EXPECT_EQ((*(*open())->frontier({"p", "o", 3}))->payload, "kept");
}

TEST_F(DatabaseFile, IsInWriteAheadModeWithStrictTablesAndANumberedSchema) {
  ASSERT_TRUE(open().ok());
  EXPECT_EQ(raw(path_, "PRAGMA journal_mode"), "wal;");
  EXPECT_EQ(raw(path_, "PRAGMA user_version"), "10;");
  EXPECT_EQ(raw(path_, "SELECT name FROM pragma_table_list WHERE schema = 'main' AND strict ORDER BY name"),
            "frontier;frontier_use;kernel;measurement;problem;toolchain;");
}

/// A letter that changes on the disk leaves pages that are sound to SQLite.
TEST_F(DatabaseFile, TakesChangedRowsForMissingOnes) {
  const auto store = open().value();
  const auto put = [&] {
    ASSERT_TRUE(store->put_frontier(frontier_row("p", "o", "payload")).ok());
    ASSERT_TRUE(store->put_kernel(kernel_row("k", "p", 'a')).ok());
    ASSERT_TRUE(store->put_measurements({measurement_row("p", "linear", 0.5)}).ok());
  };
  const auto found = [&] {
    return (store->frontier({"p", "o", 3})->has_value() ? 1 : 0) +
           (store->newest_frontier("p")->has_value() ? 1 : 0) + (store->kernel("k")->has_value() ? 1 : 0) +
           (store->measurements_of("p", "host", 7, 10)->empty() ? 0 : 1);
  };
  const std::pair<const char*, int> changes[] = {
      {"UPDATE problem SET canonical = 'text of q'", 0},
      {"UPDATE frontier SET complete = 1", 2},
      {"UPDATE frontier SET schedules = 6", 2},
      {"UPDATE frontier SET seconds = 0.25000000000000006", 2},
      {"UPDATE frontier SET payload = 'paymoad'", 2},
      {"UPDATE kernel SET trace = 'lineas'", 3},
      {"UPDATE kernel SET isa = 'x86-64-v2'", 3},
      {"UPDATE kernel SET sha256 = replace(sha256, 'a', 'b')", 3},
      {"UPDATE kernel SET bytes = 4097", 3},
      {"UPDATE kernel SET signature = 'b' || substr(signature, 2)", 3},
      {"UPDATE measurement SET sizes = 'i=4'", 3},
      {"UPDATE measurement SET threads = 3", 3},
      {"UPDATE measurement SET isa = 'x86-64-v2'", 3},
      {"UPDATE measurement SET trace = 'lineas'", 3},
      {"UPDATE measurement SET seconds = 0.05", 3}};
  for (const auto& [change, left] : changes) {
    put();
    ASSERT_EQ(found(), 4) << change;
    raw(path_, change);
    EXPECT_EQ(found(), left) << change;
  }
  put();
  EXPECT_EQ(found(), 4) << "what is made again replaces them";
  EXPECT_EQ(store->newest_frontier("p").value()->canonical, frontier_row("p", "o", "payload").canonical);
}

TEST_F(DatabaseFile, RefusesALaterSchemaUntouched) {
  ASSERT_TRUE(open().ok());
  raw(path_, "PRAGMA user_version = 11");
  const auto opened = open();
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(support::render(opened.error()),
            "invalid [newer-schema]: `" + path_ +
                "` has schema version 11, this schaas knows versions up to 10\n"
                "  note: use the newer schaas, or another data directory");
  EXPECT_EQ(raw(path_, "PRAGMA user_version"), "11;");
}

TEST_F(DatabaseFile, RefusesOtherFiles) {
  std::ofstream(path_) << std::string(5000, 'x');
  const auto opened = open();
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(support::render(opened.error()),
            "invalid [damaged-database]: `" + path_ +
                "` is not a sound schedule database: file is not a database\n"
                "  note: move the file away; what it held is computed again when asked for");
}

TEST_F(DatabaseFile, RefusesAMissingDirectory) {
  path_ = directory_ / "none/schedules.db";
  EXPECT_EQ(support::render(open().error()),
            "invalid [data-directory]: cannot open `" + path_ + "`: unable to open database file");
}

TEST_F(DatabaseFile, ReportsAFullDiskAndKeepsItsRows) {
  const auto store = std::move(open()).value();
  ASSERT_TRUE(store->put_frontier(frontier_row("p", "o", "kept")).ok());
  // A file size limit stands in for the full disk; SQLite sees a failed write.
  struct rlimit_guard {
    rlimit_guard() { std::signal(SIGXFSZ, SIG_IGN), getrlimit(RLIMIT_FSIZE, &before); }
    ~rlimit_guard() { setrlimit(RLIMIT_FSIZE, &before); }
    rlimit before{};
  };
  {
    const rlimit_guard guard;
    rlimit small = guard.before;
    small.rlim_cur = 256 * 1024;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto put = store->put_frontier(frontier_row("q", "o", std::string(1'000'000, 'x')));
    ASSERT_FALSE(put.ok());
    EXPECT_EQ(put.error().code, "disk-full");
    EXPECT_THAT(put.error().message, testing::StartsWith("cannot store a frontier: "));
  }
  EXPECT_EQ((*store->frontier({"p", "o", 3}))->payload, "kept");
  EXPECT_FALSE((*store->frontier({"q", "o", 3})).has_value());
  EXPECT_TRUE(store->put_frontier(frontier_row("q", "o", "now")).ok());
}

// ---- binary stores ----

struct BinaryKind {
  const char* name;
  std::function<std::unique_ptr<BinaryStore>(const TemporaryDirectory&)> open;
  std::function<void(BinaryStore&, const TemporaryDirectory&, const std::string& sha256)> damage;
};

std::string file_of(const TemporaryDirectory& directory, const std::string& sha256) {
  return directory / ("b/" + sha256.substr(0, 2) + "/" + sha256);
}

class BinaryStores : public testing::TestWithParam<BinaryKind> {
 protected:
  void damage(const std::string& sha256) { GetParam().damage(*store_, directory_, sha256); }
  TemporaryDirectory directory_;
  std::unique_ptr<BinaryStore> store_ = GetParam().open(directory_);
};

TEST_P(BinaryStores, ReturnTheBytes) {
  std::mt19937_64 random(20260301);
  for (const std::size_t size : {0, 1, 4096, 300'001}) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    const auto digest = store_->put(bytes);
    ASSERT_TRUE(digest.ok());
    EXPECT_EQ(*digest, support::digest_of(bytes));
    EXPECT_TRUE(store_->contains(digest->sha256));
    EXPECT_EQ(*store_->get(digest->sha256), bytes);
  }
  EXPECT_EQ(store_->list()->size(), 4u);
}

TEST_P(BinaryStores, KeepEqualBytesOnce) {
  ASSERT_TRUE(store_->put("same").ok());
  ASSERT_TRUE(store_->put("same").ok());
  EXPECT_THAT(*store_->list(), testing::ElementsAre(support::digest_of("same")));
}

TEST_P(BinaryStores, HaveTheBytesOfTheirBinaries) {
  std::mt19937_64 random(20261126);
  for (int step = 0; step < 200; ++step) {
    const std::string bytes(random() % 20, 'x');
    const std::string sha256 = support::digest_of(bytes).sha256;
    const auto chosen = random() % 8;
    if (chosen < 4) {
      ASSERT_TRUE(store_->put(bytes).ok());
    } else if (chosen < 6) {
      ASSERT_TRUE(store_->drop(sha256).ok());
    } else if (chosen == 6 && store_->contains(sha256)) {
      damage(sha256);
      EXPECT_FALSE(store_->get(sha256).ok());
    } else {
      ASSERT_TRUE(store_->verify().ok());
    }
    std::uint64_t sum = 0;
    for (const auto& digest : store_->list().value()) sum += digest.bytes;
    ASSERT_EQ(*store_->bytes(), sum) << step;
  }
  const auto again = GetParam().open(directory_);
  EXPECT_EQ(*again->bytes(), GetParam().name == std::string("files") ? *store_->bytes() : 0);
}

TEST_P(BinaryStores, RefuseInvalidDigests) {
  for (const std::string text : {"", "../../etc/passwd", "ABC"}) {
    const auto got = store_->get(text);
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(support::render(got.error()),
              "invalid [wrong-digest]: `" + text +
                  "` is not a binary's digest; expected the 64 lower-case hexadecimal digits of a SHA-256");
    EXPECT_FALSE(store_->contains(text));
  }
}

TEST_P(BinaryStores, ReportUnknownBinaries) {
  const std::string sha256(64, '0');
  EXPECT_EQ(support::render(store_->get(sha256).error()),
            "invalid [unknown-binary]: no binary " + sha256 +
                " is stored\n  note: request the schedule again: a missing kernel is recompiled");
}

TEST_P(BinaryStores, DetectDamageDropItAndAcceptTheBytesAgain) {
  const std::string sha256 = store_->put("kernel")->sha256;
  damage(sha256);
  EXPECT_EQ(support::render(store_->get(sha256).error()),
            "internal [damaged-binary]: the stored binary " + sha256 +
                " no longer has this digest and was dropped\n  note: request the schedule again: the kernel "
                "is recompiled");
  EXPECT_FALSE(store_->contains(sha256));
  EXPECT_EQ(store_->get(sha256).error().code, "unknown-binary");
  ASSERT_TRUE(store_->put("kernel").ok());
  EXPECT_EQ(*store_->get(sha256), "kernel");
}

TEST_P(BinaryStores, ReplaceADamagedBinaryOnPut) {
  const std::string sha256 = store_->put("kernel")->sha256;
  damage(sha256);
  ASSERT_TRUE(store_->put("kernel").ok());
  EXPECT_EQ(*store_->get(sha256), "kernel");
}

TEST_P(BinaryStores, VerifyReportsAndDropsTheDamagedOnes) {
  const std::string good = store_->put("good")->sha256, bad = store_->put("bad")->sha256;
  damage(bad);
  const auto report = store_->verify();
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->checked, 2u);
  EXPECT_THAT(report->damaged, testing::ElementsAre(bad));
  EXPECT_TRUE(store_->contains(good));
  EXPECT_FALSE(store_->contains(bad));
  EXPECT_EQ(store_->verify()->checked, 1u);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, BinaryStores,
    testing::Values(
        BinaryKind{"memory", [](const TemporaryDirectory&) { return std::make_unique<MemoryBinaryStore>(); },
                   [](BinaryStore& store, const TemporaryDirectory&, const std::string& sha256) {
                     dynamic_cast<MemoryBinaryStore&>(store).damage(sha256);
                   }},
        BinaryKind{"files",
                   [](const TemporaryDirectory& directory) {
                     return open_file_binary_store(directory / "b").value();
                   },
                   [](BinaryStore&, const TemporaryDirectory& directory, const std::string& sha256) {
                     std::ofstream(file_of(directory, sha256), std::ios::app) << '!';
                   }}),
    [](const auto& kind) { return std::string(kind.param.name); });

// ---- binary files ----

TEST(BinaryFiles, DetectTruncation) {
  const TemporaryDirectory directory;
  const auto store = open_file_binary_store(directory / "b").value();
  const std::string sha256 = store->put("some longer kernel")->sha256;
  fs::resize_file(file_of(directory, sha256), 3);
  EXPECT_EQ(store->get(sha256).error().code, "damaged-binary");
  EXPECT_TRUE(fs::exists(directory / ("b/damaged/" + sha256)));
}

TEST(BinaryFiles, AreReadableByTheirOwnerAlone) {
  const TemporaryDirectory directory;
  const auto store = open_file_binary_store(directory / "b").value();
  struct stat status {};
  ASSERT_EQ(stat(file_of(directory, store->put("k")->sha256).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(stat((directory / "b").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST(BinaryFiles, SweepTemporaryFilesOnOpening) {
  const TemporaryDirectory directory;
  const std::string sha256 = open_file_binary_store(directory / "b").value()->put("k")->sha256;
  const std::string leftover = directory / ("b/" + sha256.substr(0, 2) + "/.incoming-1-0");
  std::ofstream(leftover) << "half";
  const auto store = open_file_binary_store(directory / "b").value();
  EXPECT_FALSE(fs::exists(leftover));
  EXPECT_EQ(*store->get(sha256), "k");
  EXPECT_EQ(store->list()->size(), 1u);
}

TEST(BinaryFiles, LeaveNothingAfterAFailedWrite) {
  const TemporaryDirectory directory;
  const auto store = open_file_binary_store(directory / "b").value();
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 1000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto put = store->put(std::string(5000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(put.ok());
  EXPECT_EQ(put.error().code, "disk-full");
  EXPECT_THAT(put.error().message, testing::EndsWith("the disk is full"));
  EXPECT_TRUE(store->list()->empty());
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory / "b"))
    files += entry.is_regular_file();
  EXPECT_EQ(files, 0u);
}

TEST(BinaryFiles, RefuseADirectoryThatCannotBeCreated) {
  const TemporaryDirectory directory;
  EXPECT_EQ(
      support::render(open_file_binary_store(directory / "none/b").error()),
      "invalid [data-directory]: cannot create `" + (directory / "none/b") + "`: No such file or directory");
}

/// Stops when the flag is set.
class Hand final : public Clock {
 public:
  Time now() const override { return time; }
  Time time = Time(std::chrono::hours(1));
};

TEST(ScheduleStore, DropsLeastRecentlyUsedFrontiers) {
  const test_support::TemporaryDirectory directory;
  const auto clock = std::make_shared<Hand>();
  const auto open = [&](const std::string& kind) -> std::shared_ptr<ScheduleStore> {
    if (kind == "memory") return make_memory_schedule_store(clock);
    if (kind == "postgres") return open_postgres_store(clock);
    return open_sqlite_schedule_store(directory / "schedules.db", clock).value();
  };
  for (const char* kind : {"memory", "sqlite", "postgres"}) {
    const auto store = open(kind);
    if (store == nullptr) continue;
    for (const char* problem : {"a", "b", "c", "d"}) {
      ASSERT_TRUE(store->put_frontier(frontier_row(problem, "o", std::string(100, 'x'))).ok());
      clock->time += std::chrono::minutes(5);
    }
    ASSERT_TRUE(store->frontier({"a", "o", 3})->has_value());  // a use
    ASSERT_TRUE(store->newest_frontier("b")->has_value());     // a look
    clock->time += std::chrono::minutes(5);
    const auto stored = [&] {
      std::string out;
      for (const auto& problem : *store->list()) out += problem.problem_key;
      return out;
    };
    ASSERT_EQ(store->drop_frontiers_above(250, clock->time)->frontiers, 2u);
    EXPECT_EQ(stored(), "ad");
    ASSERT_EQ(store->drop_frontiers_above(0, clock->time - std::chrono::minutes(10))->frontiers, 0u);
    ASSERT_EQ(store->drop_frontiers_above(0, clock->time - std::chrono::minutes(5))->frontiers, 1u);
    EXPECT_EQ(stored(), "a");
  }
}

}  // namespace
}  // namespace schaas::kernels_cache
