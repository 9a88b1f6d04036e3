// One client's work leaves permits, slots in the queue and calls to others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "server/daemon/daemon.h"
#include "server/providers/admission_queue.h"
#include "server/providers/admitting_provider.h"
#include "tests/service/service_client.h"
#include "tests/support/temporary_directory.h"

namespace schaas::server {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

const support::Cancellation never;

bool wait_for(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(milliseconds(1));
  return condition();
}

/// Clients that wait in a queue on threads of their own, and hold what they get until it is released.
class Askers {
 public:
  explicit Askers(AdmissionQueue& queue) : queue_(queue) {}
  ~Askers() {
    release_ = true;
    waiting_.cancel();
    for (auto& thread : threads_) thread.join();
  }
  /// Begins to wait, and returns when the queue has it or it was admitted or refused.
  void ask(const std::string& client, Priority priority = Priority::interactive) {
    const std::size_t before = seen() + queue_.waiting();
    threads_.emplace_back([this, client, priority] {
      const auto permit = queue_.acquire(priority, client, waiting_);
      note(permit.ok() ? client : client + " refused");
      while (permit.ok() && !release_) std::this_thread::sleep_for(milliseconds(1));
    });
    EXPECT_TRUE(wait_for([&] { return seen() + queue_.waiting() > before; }));
  }
  std::vector<std::string> admitted() {
    const std::lock_guard lock(mutex_);
    return admitted_;
  }

 private:
  std::size_t seen() { return admitted().size(); }
  void note(const std::string& client) {
    const std::lock_guard lock(mutex_);
    admitted_.push_back(client);
  }

  AdmissionQueue& queue_;
  std::atomic<bool> release_{false};
  support::Cancellation waiting_;
  std::mutex mutex_;
  std::vector<std::string> admitted_;
  std::vector<std::thread> threads_;
};

TEST(FairQueue, GivesAnotherClientAPermitWhileOneHoldsThemAll) {
  AdmissionQueue queue(2, 32, "searches");
  Askers askers(queue);
  for (int n = 0; n < 4; ++n) askers.ask("many");
  EXPECT_THAT(askers.admitted(), ElementsAre("many", "many"));
  askers.ask("batch", Priority::batch);
  askers.ask("one");
  EXPECT_TRUE(wait_for([&] { return askers.admitted().size() == 3; }));
  askers.ask("third");
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_THAT(askers.admitted(), ElementsAre("many", "many", "one")) << "one permit beyond the number";
  EXPECT_EQ(queue.running(), 3u);
}

TEST(FairQueue, LetsFirstKernelsPassOtherWorkOfTheirClient) {
  AdmissionQueue queue(2, 32, "compilations");
  Askers askers(queue);
  for (int n = 0; n < 4; ++n) askers.ask("one");
  EXPECT_THAT(askers.admitted(), ElementsAre("one", "one"));
  for (int n = 0; n < 3; ++n) askers.ask("one", Priority::first);
  EXPECT_TRUE(wait_for([&] { return askers.admitted().size() == 4; }));
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(queue.running(), 4u) << "as many permits again";
  EXPECT_EQ(queue.waiting_of(Priority::first, "one"), 1u);
  EXPECT_EQ(queue.waiting_of(Priority::interactive, "one"), 2u);
  EXPECT_EQ(queue.waiting_of(Priority::first, "another"), 0u);
}

TEST(FairQueue, LetsFirstKernelsPassNoClientThatHoldsLess) {
  AdmissionQueue queue(2, 32, "compilations");
  std::vector<AdmissionQueue::Permit> held;
  for (int n = 0; n < 4; ++n) held.push_back(queue.acquire(Priority::first, "many", never).value());
  Askers askers(queue);
  for (int n = 0; n < 3; ++n) askers.ask("many", Priority::first);
  askers.ask("one");
  held.pop_back();
  EXPECT_TRUE(wait_for([&] { return !askers.admitted().empty(); }));
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_THAT(askers.admitted(), ElementsAre("one"));
}

TEST(FairQueue, CountsNoPrecomputationAmongRequestsWithoutAFirstKernel) {
  const AdmissionQueues queues(Admission{1, 1, 32, 32});
  Askers searches(*queues.searches);
  searches.ask("one");
  searches.ask("batch", Priority::batch);
  searches.ask("one");
  EXPECT_TRUE(wait_for([&] { return queues.searches->waiting() == 2; }));
  EXPECT_EQ(queues.waiting_first_kernels("one"), 1u);
  EXPECT_EQ(queues.waiting_first_kernels("batch"), 0u);
}

TEST(FairQueue, AdmitsTheClientThatHoldsTheFewestFirst) {
  AdmissionQueue queue(2, 32, "searches");
  std::vector<std::string> order;
  {
    auto first =
        std::make_unique<AdmissionQueue::Permit>(queue.acquire(Priority::interactive, "a", never).value());
    const auto second = queue.acquire(Priority::interactive, "b", never);
    Askers askers(queue);
    for (const char* client : {"b", "b", "c"}) askers.ask(client);
    first.reset();
    EXPECT_TRUE(wait_for([&] { return askers.admitted().size() == 1; }));
    order = askers.admitted();
  }
  EXPECT_THAT(order, ElementsAre("c"));
}

TEST(FairQueue, RefusesTheClientThatHasTheMostWaiting) {
  AdmissionQueue queue(1, 3, "searches");
  const auto held = queue.acquire(Priority::interactive, "x", never);
  const auto beyond = queue.acquire(Priority::interactive, "y", never);
  Askers askers(queue);
  for (int n = 0; n < 3; ++n) askers.ask("many");
  askers.ask("many");
  EXPECT_THAT(askers.admitted(), ElementsAre("many refused"));
  askers.ask("one");
  EXPECT_TRUE(wait_for([&] { return askers.admitted().size() == 2; }));
  EXPECT_THAT(askers.admitted(), ElementsAre("many refused", "many refused"));
  EXPECT_EQ(queue.waiting(), 3u);
}

/// Holds searches of products, and counts them.
class Holding final : public KernelProvider {
 public:
  struct Record {
    std::atomic<bool> hold{true};
    std::atomic<int> held{0};
  };
  Holding(std::unique_ptr<KernelProvider> next, Record& record) : next_(std::move(next)), record_(record) {}
  support::Result<FrontierAnswer> frontier(const FrontierQuery& query, const frontier::Progress& progress,
                                           const support::Cancellation& cancellation) override {
    if (query.canonical.problem.tensors().size() > 3) {
      ++record_.held;
      while (record_.hold && cancellation.check("").ok()) std::this_thread::sleep_for(milliseconds(1));
    }
    return next_->frontier(query, progress, cancellation);
  }
  support::Result<KernelAnswer> kernel(const KernelQuery& query,
                                       const support::Cancellation& cancellation) override {
    return next_->kernel(query, cancellation);
  }

 private:
  std::unique_ptr<KernelProvider> next_;
  Record& record_;
};

class FairShares : public testing::Test {
 protected:
  void start(DaemonOptions options) {
    options.data_directory = data_;
    options.drain = std::chrono::seconds(1);
    options.listen = {"unix:" + data_ + ".sock", "127.0.0.1:0"};
    options.wrap_compiling = [this](std::unique_ptr<KernelProvider> next) {
      return std::make_unique<Holding>(std::move(next), record_);
    };
    daemon_ = Daemon::start(options, silent_log()).value();
  }
  /// Begins heavy searches through the socket.
  void attack(int searches) {
    attacker_ = std::make_unique<test::ServiceClient>(daemon_->addresses()[0]);
    for (int n = 0; n < searches; ++n) {
      threads_.emplace_back([this, n] {
        v1::ScheduleRequest request;
        request.mutable_problem()->set_expression("A(i,l) = " + std::to_string(n + 2) +
                                                  " * B(i,j) * C(j,k) * D(k,l)");
        request.set_search_only(true);
        const auto answer = attacker_->schedule(request);
        if (!answer.ok()) ++refused_;
        if (answer.refusal.text().find("of this client are running") != std::string::npos) ++beyond_share_;
      });
    }
  }
  void TearDown() override {
    record_.hold = false;
    for (auto& thread : threads_) thread.join();
  }

  const test_support::TemporaryDirectory directory_;
  const std::string data_ = directory_ / "data";
  Holding::Record record_;
  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<test::ServiceClient> attacker_;
  std::atomic<int> refused_{0}, beyond_share_{0};
  std::vector<std::thread> threads_;
};

TEST_F(FairShares, AnswerASmallProductBesideSixteenSearchesOfAnotherClient) {
  start({});
  attack(16);
  ASSERT_TRUE(wait_for([&] { return record_.held == 2; }));
  test::ServiceClient other(daemon_->addresses()[1]);
  const auto start = std::chrono::steady_clock::now();
  const auto answer = other.schedule(test::request_for());
  EXPECT_TRUE(answer.ok()) << answer.refusal.text();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60)) << "it waits for no search";
  EXPECT_EQ(record_.held, 2) << "the searches are still held";
}

TEST_F(FairShares, LeaveCallsToOtherClients) {
  DaemonOptions options;
  options.threads = 16;
  start(options);
  attack(14);
  ASSERT_TRUE(wait_for([&] { return beyond_share_ == 2; })) << "12 of 16 calls are for one client";
  EXPECT_EQ(refused_, 2);
  test::ServiceClient other(daemon_->addresses()[1]);
  v1::ServerInfo info;
  EXPECT_EQ(other.call(&v1::Scheduler::Stub::Info, v1::InfoRequest(), info).status, grpc::StatusCode::OK);
}

TEST_F(FairShares, HearOthersBesideBurstsOfRefusedCalls) {
  DaemonOptions options;
  options.threads = 8;
  start(options);
  attack(6);
  ASSERT_TRUE(wait_for([&] { return record_.held == 2; })) << "6 of 8 calls are for one client";
  std::atomic<bool> over{false};
  std::vector<std::thread> burst;
  for (int n = 0; n < 16; ++n)
    burst.emplace_back([&] {
      v1::ServerInfo info;
      while (!over) attacker_->call(&v1::Scheduler::Stub::Info, v1::InfoRequest(), info);
    });
  test::ServiceClient other(daemon_->addresses()[1]);
  int refused = 0;
  for (int n = 0; n < 300; ++n) {
    v1::ServerInfo info;
    const auto told = other.call(&v1::Scheduler::Stub::Info, v1::InfoRequest(), info);
    refused += told.status == grpc::StatusCode::OK ? 0 : 1;
  }
  over = true;
  for (std::thread& thread : burst) thread.join();
  EXPECT_EQ(refused, 0);
}

}  // namespace
}  // namespace schaas::server
