// Batch work goes after interactive work, and still comes to its turn.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "kernels_cache/job_store.h"
#include "server/jobs/job_runner.h"
#include "server/providers/admission_queue.h"
#include "tests/support/temporary_directory.h"

namespace schaas::server {
namespace {

using std::chrono::milliseconds;

const support::Cancellation never;

bool wait_for(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(milliseconds(1));
  return condition();
}

/// The order in which a queue of one permit admits batch work and the interactive work that came after it.
std::vector<std::string> order_after(milliseconds waited, milliseconds starvation_bound) {
  AdmissionQueue queue(1, 8, "searches", starvation_bound);
  std::vector<std::string> order;  // one at a time: there is one permit
  std::vector<std::thread> threads;
  const auto enter = [&](Priority priority, const std::string& name) {
    const std::size_t before = queue.waiting();
    threads.emplace_back([&, priority, name] {
      const auto permit = queue.acquire(priority, "me", never);
      order.push_back(name);
    });
    EXPECT_TRUE(wait_for([&] { return queue.waiting() == before + 1; }));
  };
  {
    const auto held = queue.acquire(Priority::interactive, "me", never);
    enter(Priority::batch, "batch");
    enter(Priority::interactive, "interactive");
    std::this_thread::sleep_for(waited);
  }
  for (auto& thread : threads) thread.join();
  return order;
}

TEST(AdmissionQueue, AdmitsStarvedBatchWorkBeforeInteractiveWork) {
  EXPECT_EQ(order_after(milliseconds(0), std::chrono::minutes(1)),
            (std::vector<std::string>{"interactive", "batch"}));
  EXPECT_EQ(order_after(milliseconds(300), milliseconds(100)),
            (std::vector<std::string>{"batch", "interactive"}))
      << "it keeps the order of its arrival";
}

TEST(JobRunner, YieldsToInteractiveRequestsUpToTheStarvationBound) {
  const test_support::TemporaryDirectory directory;
  std::shared_ptr<kernels_cache::JobStore> store =
      kernels_cache::open_job_store(directory / "jobs.db", kernels_cache::system_clock()).value();
  ASSERT_TRUE(store->submit({"key", "me", "", 0, 0, {"{}"}}).ok());
  std::atomic<bool> interactive{true};
  const auto worked_within = [&](milliseconds starvation_bound, milliseconds time) {
    std::atomic<bool> worked{false};
    JobRunner::Options options;
    options.work = [&](const std::string&, support::Cancellation&) {
      worked = true;
      return support::Result<void>();
    };
    options.has_interactive_requests = [&] { return interactive.load(); };
    options.starvation_bound = starvation_bound;
    JobRunner runner(store, options, silent_log());
    const auto end = std::chrono::steady_clock::now() + time;
    while (!worked && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(milliseconds(1));
    return worked.load();
  };
  EXPECT_FALSE(worked_within(std::chrono::minutes(1), milliseconds(300)));
  EXPECT_TRUE(worked_within(milliseconds(100), std::chrono::seconds(20)));
}

TEST(JobRunner, WorksOnSeveralItemsAtOnce) {
  const test_support::TemporaryDirectory directory;
  std::shared_ptr<kernels_cache::JobStore> store =
      kernels_cache::open_job_store(directory / "jobs.db", kernels_cache::system_clock()).value();
  ASSERT_TRUE(store->submit({"key", "me", "", 0, 0, {"a", "b", "c", "d", "e"}}).ok());
  std::atomic<int> running{0}, worked{0};
  JobRunner::Options options;
  options.items = 3;
  options.has_interactive_requests = [] { return false; };
  options.work = [&](const std::string& request, support::Cancellation& cancellation) {
    ++running;
    EXPECT_TRUE(request > "c" || wait_for([&] { return running == 3; })) << request;
    if (request == "e") {
      while (cancellation.check("waiting").ok()) std::this_thread::sleep_for(milliseconds(1));
      return support::Result<void>(support::exhausted("cancelled", "stopped"));
    }
    ++worked;
    return support::Result<void>();
  };
  JobRunner runner(store, options, silent_log());
  EXPECT_TRUE(wait_for([&] { return store->job("j1")->done == 4 && running == 5; }));
  EXPECT_TRUE(runner.has_work());
  ASSERT_TRUE(store->cancel("j1").ok());
  EXPECT_TRUE(wait_for([&] { return !runner.has_work(); })) << "every thread waits for an item";
  EXPECT_EQ(worked, 4);
  EXPECT_EQ(store->job("j1")->cancelled, 1u);
  // Items that come later wake a thread.
  ASSERT_TRUE(store->submit({"another key", "me", "", 0, 0, {"d"}}).ok());
  EXPECT_TRUE(wait_for([&] { return store->job("j2")->done == 1; }));
}

}  // namespace
}  // namespace schaas::server
