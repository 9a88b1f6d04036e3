// Kernels at hand, and better ones on their way: a source that answers when the test says so.
#include "client/cpp/api/kernel_pool.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

#include "schaas/fill.h"
#include "schaas/host.h"
#include "schaas/kernel_set.h"

namespace schaas::client {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

std::string fixture(const std::string& variant) {
  std::ifstream file(std::string(SCHAAS_FIXTURE_DIR) + "/libclient_kernel_" + variant + ".so",
                     std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  EXPECT_FALSE(bytes.str().empty()) << variant;
  return bytes.str();
}

/// Answers a search event by event, as far as the test lets it; kernels are the fixtures of hand-written
/// ones.
class SlowSource final : public KernelSource {
 public:
  SlowSource() : address_("test") {}

  /// The search goes on with these events; then it waits again, or ends.
  void tell(std::vector<ScheduleEvent> events) {
    const std::lock_guard lock(mutex_);
    for (auto& event : events) events_.push_back(std::move(event));
    changed_.notify_all();
  }
  void end_search() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  void answer_request(const std::string& name, KernelInfo kernel) {
    const std::lock_guard lock(mutex_);
    named_.emplace(name, std::move(kernel));
    changed_.notify_all();
  }
  void fail_search(support::Diagnostic why) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(why);
    changed_.notify_all();
  }
  std::vector<std::string> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  int searches() const {
    const std::lock_guard lock(mutex_);
    return searches_;
  }
  bool was_stopped() const {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }

  const std::string& address() const override { return address_; }
  support::Result<ScheduleAnswer> schedule(
      const ScheduleRequest& request, const std::function<bool(const ScheduleEvent&)>& listener) override {
    std::unique_lock lock(mutex_);
    ScheduleAnswer answer;
    const std::stop_callback wake(request.stop, [&] { changed_.notify_all(); });
    if (request.traces_only) {
      const std::string name = request.traces.front();
      requests_.push_back(name);
      changed_.wait(lock, [&] { return named_.count(name) > 0 || request.stop.stop_requested(); });
      if (request.stop.stop_requested()) return stopped();
      answer.kernels = {named_.at(name)};
      answer.frontier.arguments = {"A", "B", "C"};
      return answer;
    }
    ++searches_;
    for (std::size_t next = 0;;) {
      changed_.wait(
          lock, [&] { return next < events_.size() || ended_ || failure_ || request.stop.stop_requested(); });
      if (request.stop.stop_requested()) return stopped();
      if (failure_) return *failure_;
      if (next == events_.size()) return answer;
      const ScheduleEvent event = events_[next++];
      lock.unlock();
      if (listener) listener(event);
      lock.lock();
    }
  }
  support::Result<Frontier> lookup(const ProblemText&, std::stop_token) override {
    return support::invalid("not-stored", "nothing is stored");
  }
  support::Result<std::string> download(const KernelInfo& kernel, std::stop_token) override {
    return fixture(kernel.kernel_key);
  }
  support::Result<void> report(const ProblemText&, const std::vector<Measurement>&) override { return {}; }

 private:
  support::Diagnostic stopped() {
    stopped_ = true;
    return support::exhausted("cancelled", "stopped");
  }

  const std::string address_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<ScheduleEvent> events_;
  std::map<std::string, KernelInfo> named_;
  std::vector<std::string> requests_;
  std::optional<support::Diagnostic> failure_;
  int searches_ = 0;
  bool ended_ = false, stopped_ = false;
};

std::vector<Term> constant(double value) { return {Term{value, {}}}; }

/// A kernel of `trips` weighted trips and so many elements of temporaries; its binary is a fixture.
KernelInfo kernel(const std::string& id, double trips, const std::string& variant, double elements = 0) {
  KernelInfo info;
  info.id = id;
  info.trace = "trace of " + id;
  info.kernel_key = variant;
  info.isa = "generic";
  info.digest = support::digest_of(fixture(variant));
  info.time_terms = constant(trips);
  if (elements > 0) info.memory_terms = constant(elements);
  return info;
}

KernelInfo baseline(KernelInfo full, const std::string& variant) {
  full.baseline = true;
  full.kernel_key = variant;
  full.digest = support::digest_of(fixture(variant));
  return full;
}

Frontier frontier_of(const std::vector<KernelInfo>& kernels) {
  Frontier frontier;
  frontier.key = "key";
  frontier.arguments = {"A", "B", "C"};
  for (const KernelInfo& one : kernels) {
    FrontierEntry entry;
    entry.id = one.id;
    entry.trace = one.trace;
    entry.time_terms = one.time_terms;
    entry.memory_terms = one.memory_terms;
    frontier.entries.push_back(entry);
  }
  return frontier;
}

const format::TensorFormat csr{{format::LevelFormat::dense, format::LevelFormat::compressed}, {0, 1}};

class KernelsAtHand : public testing::Test {
 protected:
  // Two kernels that compute the same, and one of other values, so that it shows which one ran.
  KernelInfo fast_ = kernel("s1", 1, "good"), slow_ = kernel("s2", 100, "filled");
  std::shared_ptr<SlowSource> source_ = std::make_shared<SlowSource>();
  CooTensor entries_ = [] {
    CooTensor tensor;
    tensor.extents = {3, 2};
    tensor.coordinates = {{0, 1, 2}, {0, 1, 0}};
    tensor.values = {1, 2, 3};
    return tensor;
  }();
  PackedTensor b_ = *pack(entries_, csr, {"B", ValueType::f64, 32});
  PackedTensor c_ = *pack(*fill("C", {2, 4}, 5, ValueType::f64), format::dense(2), {"C", ValueType::f64, 32});
  std::map<std::string, PackedTensor*> operands_{{"B", &b_}, {"C", &c_}};

  KernelSet open(KernelSetOptions options = {}) {
    ProblemText problem;
    problem.expression = "A(i,k) = B(i,j) * C(j,k)";
    problem.formats = {{"B", "csr"}};
    problem.position_bits = "32";
    return *KernelSet::open(Session(source_), problem, options);
  }
  static BindOptions waiting(std::chrono::milliseconds limit) {
    BindOptions options;
    options.wait.limit = limit;
    return options;
  }
  /// Runs until the computation has that kernel; it must come soon.
  static bool takes(Computation& computation, const std::string& digest) {
    for (const auto start = Clock::now(); Clock::now() - start < 5s; std::this_thread::sleep_for(1ms)) {
      if (!computation.run().ok()) return false;
      if (computation.kernel().digest.sha256 == digest) return true;
    }
    return false;
  }
};

TEST_F(KernelsAtHand, RunWhileBetterOnesAreOnTheirWay) {
  KernelSet set = open();
  source_->tell({frontier_of({fast_, slow_}), slow_});
  for (int call = 0; call < 20; ++call) {
    const auto start = Clock::now();
    auto bound = set.bind(operands_);
    ASSERT_TRUE(bound.ok()) << bound.error().message;
    EXPECT_EQ(bound->kernel().id, "s2");
    ASSERT_TRUE(bound->run().ok());
    if (call > 0) {
      EXPECT_LT(Clock::now() - start, 50ms) << "it waits for the server";
    }
  }
}

TEST_F(KernelsAtHand, AreReplacedBetweenRuns) {
  KernelSet set = open();
  source_->tell({frontier_of({fast_, slow_}), slow_});
  auto bound = set.bind(operands_);
  ASSERT_TRUE(bound.ok()) << bound.error().message;
  ASSERT_TRUE(bound->run().ok());
  EXPECT_EQ(bound->kernel().id, "s2");
  const double* const values = bound->result().values().as<double>();
  source_->tell({fast_});
  EXPECT_TRUE(takes(*bound, fast_.digest.sha256));
  EXPECT_EQ(bound->result().values().as<double>(), values) << "the result moved";
  EXPECT_EQ(set.bind(operands_)->kernel().id, "s1");
  // What ran is right with both: the good fixture adds B(i,j) * C(j,k).
  const double* const c = c_.values().as<double>();
  for (int k = 0; k < 4; ++k) {
    EXPECT_DOUBLE_EQ(values[k], 1 * c[k]);
    EXPECT_DOUBLE_EQ(values[4 + k], 2 * c[4 + k]);
    EXPECT_DOUBLE_EQ(values[8 + k], 3 * c[k]);
  }
}

TEST_F(KernelsAtHand, GiveWayToTheFullKernelOfTheirSchedule) {
  KernelSet set = open();
  source_->tell({frontier_of({fast_}), baseline(fast_, "filled")});
  auto bound = set.bind(operands_);
  ASSERT_TRUE(bound.ok()) << bound.error().message;
  EXPECT_TRUE(bound->kernel().baseline);
  source_->tell({fast_});
  EXPECT_TRUE(takes(*bound, fast_.digest.sha256));
  EXPECT_FALSE(bound->kernel().baseline);
}

TEST_F(KernelsAtHand, StayWhereTheScheduleIsNamedOrTheWorkDeterministic) {
  KernelSet set = open();
  source_->answer_request("s2", slow_);
  BindOptions named;
  named.schedule = "s2";
  auto bound = set.bind(operands_, named);
  ASSERT_TRUE(bound.ok()) << bound.error().message;
  source_->tell({frontier_of({fast_, slow_}), slow_, fast_});
  ASSERT_TRUE(set.bind(operands_, waiting(5s)).ok());
  for (int run = 0; run < 20; ++run) ASSERT_TRUE(bound->run().ok());
  EXPECT_EQ(bound->kernel().id, "s2");
}

TEST_F(KernelsAtHand, AreNotEnoughForDeterministicWork) {
  KernelSet set = open();
  source_->tell({frontier_of({fast_, slow_}), slow_});
  BindOptions options = waiting(100ms);
  options.deterministic = true;
  const auto early = set.bind(operands_, options);
  ASSERT_FALSE(early.ok());
  EXPECT_EQ(early.error().code, "wait-limit");
  source_->tell({fast_});
  options.wait.limit = 5s;
  const auto late = set.bind(operands_, options);
  ASSERT_TRUE(late.ok()) << late.error().message;
  EXPECT_EQ(late->kernel().id, "s1");
}

TEST_F(KernelsAtHand, AreAskedForByNameWhenTheSearchDoesNotBringThem) {
  KernelSet set = open();
  source_->tell({frontier_of({fast_, slow_}), slow_});
  source_->end_search();
  auto bound = set.bind(operands_);
  ASSERT_TRUE(bound.ok()) << bound.error().message;
  EXPECT_EQ(bound->kernel().id, "s2");
  source_->answer_request("s1", fast_);
  EXPECT_TRUE(takes(*bound, fast_.digest.sha256));
  EXPECT_EQ(source_->requests(), std::vector<std::string>{"s1"});
}

TEST_F(KernelsAtHand, OfTooMuchMemoryAreWaitedPast) {
  KernelSet set = open();
  const KernelInfo large = kernel("s1", 1, "filled", 1e15), small = kernel("s2", 100, "good");
  source_->tell({frontier_of({large, small}), large});
  const auto none = set.bind(operands_, waiting(100ms));
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, "wait-limit");
  std::jthread later([&] {
    std::this_thread::sleep_for(100ms);
    source_->tell({small});
  });
  const auto bound = set.bind(operands_);
  ASSERT_TRUE(bound.ok()) << bound.error().message;
  EXPECT_EQ(bound->kernel().id, "s2");
}

TEST_F(KernelsAtHand, ThatAreFarSlowerThanTheBestAreWaitedPast) {
  KernelSet set = open();
  const KernelInfo slow = kernel("s2", 1e13, "filled");
  source_->tell({frontier_of({fast_, slow}), slow});
  std::jthread later([&] {
    std::this_thread::sleep_for(100ms);
    source_->answer_request("s1", fast_);
  });
  const auto bound = set.bind(operands_);
  ASSERT_TRUE(bound.ok()) << bound.error().message;
  EXPECT_EQ(bound->kernel().id, "s1");
}

TEST_F(KernelsAtHand, ThatAreFarSlowerRunWhereTheWaitIsOver) {
  KernelSet set = open();
  const KernelInfo slow = kernel("s2", 1e13, "filled");
  source_->tell({frontier_of({fast_, slow}), slow});
  const auto bound = set.bind(operands_, waiting(100ms));
  ASSERT_TRUE(bound.ok()) << bound.error().message;
  EXPECT_EQ(bound->kernel().id, "s2");
}

TEST_F(KernelsAtHand, AreNotWaitedPastForLongerThanTheyLose) {
  KernelSet set = open();
  const double trip = this_machine(ValueType::f64).rates.nanoseconds * 1e-9;
  const KernelInfo slow = kernel("s2", 1.3 / trip, "filled");
  source_->tell({frontier_of({fast_, slow}), slow});
  BindOptions options;
  options.threads = 1;
  const auto start = Clock::now();
  const auto bound = set.bind(operands_, options);
  ASSERT_TRUE(bound.ok()) << bound.error().message;
  EXPECT_EQ(bound->kernel().id, "s2");
  EXPECT_GE(Clock::now() - start, 1s);
}

TEST_F(KernelsAtHand, OfTooMuchMemoryRunWhereNothingElseWill) {
  KernelSet set = open();
  const KernelInfo large = kernel("s1", 1, "good", 1e15);
  source_->tell({frontier_of({large}), large});
  source_->end_search();
  EXPECT_TRUE(set.bind(operands_).ok());
}

TEST_F(KernelsAtHand, ServeManyThreads) {
  KernelSet set = open();
  source_->tell({frontier_of({fast_, slow_}), baseline(fast_, "filled")});
  std::vector<std::jthread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (int call = 0; call < 50; ++call) {
        auto bound = set.bind(operands_);
        ASSERT_TRUE(bound.ok()) << bound.error().message;
        ASSERT_TRUE(bound->run().ok());
      }
    });
  }
  source_->tell({slow_, fast_});
  source_->end_search();
  callers.clear();
  EXPECT_EQ(source_->searches(), 1);
}

TEST_F(KernelsAtHand, EndTheirSearchWithTheKernelSet) {
  std::optional<KernelSet> set = open();
  ASSERT_FALSE(set->bind(operands_, waiting(0ms)).ok());
  while (source_->searches() == 0) std::this_thread::sleep_for(1ms);
  const auto start = Clock::now();
  set.reset();
  EXPECT_LT(Clock::now() - start, 500ms);
  EXPECT_TRUE(source_->was_stopped());
}

class WaitLimit : public KernelsAtHand {};

TEST_F(WaitLimit, BoundsAWaitForTheFirstKernel) {
  KernelSet set = open();
  for (const auto limit : {0ms, 50ms, 300ms}) {
    const auto start = Clock::now();
    const auto bound = set.bind(operands_, waiting(limit));
    const auto took = Clock::now() - start;
    ASSERT_FALSE(bound.ok());
    EXPECT_EQ(bound.error().code, "wait-limit");
    EXPECT_EQ(bound.error().family, support::Family::exhausted);
    EXPECT_NE(bound.error().message.find("`A(i,k) = B(i,j) * C(j,k)`"), std::string::npos);
    EXPECT_GE(took, limit);
    EXPECT_LT(took, limit + 100ms);
  }
}

TEST_F(WaitLimit, BoundsAWaitForABetterKernel) {
  KernelSet set = open();
  source_->tell({frontier_of({fast_, slow_}), slow_});
  ASSERT_TRUE(set.bind(operands_).ok());
  const auto start = Clock::now();
  const auto bound = set.bind(operands_, waiting(200ms));
  const auto took = Clock::now() - start;
  ASSERT_TRUE(bound.ok()) << bound.error().message;
  EXPECT_EQ(bound->kernel().id, "s2");
  EXPECT_GE(took, 200ms);
  EXPECT_LT(took, 300ms);
}

TEST_F(WaitLimit, EndsWithTheBestKernel) {
  KernelSet set = open();
  std::jthread later([&] {
    source_->tell({frontier_of({fast_, slow_}), slow_});
    std::this_thread::sleep_for(50ms);
    source_->tell({fast_});
  });
  const auto start = Clock::now();
  const auto bound = set.bind(operands_, waiting(10s));
  ASSERT_TRUE(bound.ok()) << bound.error().message;
  EXPECT_EQ(bound->kernel().id, "s1");
  EXPECT_LT(Clock::now() - start, 5s);
}

TEST_F(WaitLimit, IsNoneForTheFirstKernelWhereABetterOneIsWaitedForAWhile) {
  KernelSetOptions options;
  options.leave_after = 100ms;
  KernelSet late = open(options);
  std::jthread later([&] {
    std::this_thread::sleep_for(200ms);
    source_->tell({frontier_of({fast_, slow_}), slow_});
  });
  ASSERT_TRUE(late.bind(operands_).ok());
  later.join();
  KernelSet early = open(options);
  for (const auto least : {100ms, 0ms}) {  // the time counts from the beginning of the search
    const auto start = Clock::now();
    const auto bound = early.bind(operands_);
    ASSERT_TRUE(bound.ok());
    EXPECT_EQ(bound->kernel().id, "s2");
    EXPECT_GE(Clock::now() - start, least);
    EXPECT_LT(Clock::now() - start, least + 100ms);
  }
}

TEST_F(WaitLimit, BoundsAWaitForANamedSchedule) {
  KernelSet set = open();
  BindOptions named = waiting(100ms);
  named.schedule = "linear";
  const auto bound = set.bind(operands_, named);
  ASSERT_FALSE(bound.ok());
  EXPECT_EQ(bound.error().code, "wait-limit");
  EXPECT_NE(bound.error().message.find("schedule `linear`"), std::string::npos);
}

TEST_F(WaitLimit, DoesNotHideWhyTheSearchFailed) {
  KernelSet set = open();
  source_->fail_search(support::unsupported("no-schedule", "there is none"));
  const auto bound = set.bind(operands_);
  ASSERT_FALSE(bound.ok());
  EXPECT_EQ(bound.error().code, "no-schedule");
}

TEST_F(WaitLimit, IsNoLimitOfTheCallbackThatCancels) {
  KernelSet set = open();
  BindOptions options;
  int told = 0;
  const auto start = Clock::now();
  options.wait.progress = [&](const WaitProgress& progress) {
    ++told;
    EXPECT_EQ(progress.stage, "searching");
    return progress.seconds < 0.2;
  };
  const auto bound = set.bind(operands_, options);
  ASSERT_FALSE(bound.ok());
  EXPECT_EQ(bound.error().code, "cancelled");
  EXPECT_LT(Clock::now() - start, 300ms);
  EXPECT_GE(told, 4) << "every 50 ms";
  // What was cancelled is no harm to later calls.
  source_->tell({frontier_of({fast_}), fast_});
  EXPECT_TRUE(set.bind(operands_).ok());
  EXPECT_EQ(source_->searches(), 1) << "the search went on";
}

TEST_F(WaitLimit, IsCancelledFromAnotherThread) {
  KernelSet set = open();
  BindOptions options;
  std::stop_source stop;
  options.wait.stop = stop.get_token();
  std::jthread other([&] {
    std::this_thread::sleep_for(50ms);
    stop.request_stop();
  });
  const auto start = Clock::now();
  EXPECT_EQ(set.bind(operands_, options).error().code, "cancelled");
  EXPECT_LT(Clock::now() - start, 150ms);
}

TEST_F(WaitLimit, TellsHowManyKernelsHaveCome) {
  KernelSet set = open();
  source_->tell({frontier_of({fast_, slow_}), slow_});
  BindOptions options = waiting(200ms);
  WaitProgress last;
  options.wait.progress = [&](const WaitProgress& progress) { return last = progress, true; };
  ASSERT_TRUE(set.bind(operands_, options).ok());
  EXPECT_EQ(last.stage, "compiling");
  EXPECT_EQ(last.kernels, 1);
  EXPECT_EQ(last.kernels_of, 2);
}

}  // namespace
}  // namespace schaas::client
