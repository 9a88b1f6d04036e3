#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include "compiler/pipeline/pipeline.h"
#include "compiler/schedule/trace.h"
#include "kernels_cache/binary_store_memory.h"
#include "kernels_cache/schedule_store_memory.h"
#include "server/providers/admitting_provider.h"
#include "server/providers/caching_provider.h"
#include "server/providers/coalescing_provider.h"
#include "server/storage/stored_frontier.h"

// Decorators over the provider interface, one at a time: caching, coalescing, admission. A fake innermost
// provider counts searches and compilations and holds them until released, so each test decides which calls
// overlap. Expectations are counts and diagnostics: equal requests do work once, and queues bound what runs
// at a time. Stored rows that are damaged, unsigned or of another key must be made again. Failures are never
// stored; a frontier cut by a budget serves only requests with no larger one.
namespace schaas::server {
namespace {

using support::Cancellation;
using support::Result;

// The innermost provider of a test: counts, and answers when released.
class FakeProvider final : public KernelProvider {
 public:
  struct Record {
    std::atomic<int> searches{0}, compilations{0}, running{0}, max_running{0};
    std::atomic<bool> hold{false};  // keeps work going until released or cancelled
    std::atomic<bool> fail{false}, crash{false};
    std::atomic<bool> cut{false};  // by a budget
  };
  explicit FakeProvider(std::shared_ptr<Record> record) : record_(std::move(record)) {}

  Result<FrontierAnswer> frontier(const FrontierQuery& query, const frontier::Progress&,
                                  const Cancellation& cancellation) override {
    ++record_->searches;
    SCHAAS_RETURN_IF_ERROR(work(cancellation));
    frontier::Survivor survivor;
    survivor.id = "s1";
    survivor.members = "123456789012345678901234567890";
    survivor.traces = {schedule::Trace{}};
    frontier::Frontier found;
    found.survivors = {survivor};
    found.complete = !record_->cut;
    return FrontierAnswer{std::make_shared<const frontier::Frontier>(found), false,
                          within_deadline(query.options, query.requester.deadline).search_seconds};
  }

  Result<KernelAnswer> kernel(const KernelQuery& query, const Cancellation& cancellation) override {
    ++record_->compilations;
    SCHAAS_RETURN_IF_ERROR(work(cancellation));
    KernelAnswer answer;
    answer.bytes = std::make_shared<const std::string>("binary of " + query.kernel_key);
    answer.digest = support::digest_of(*answer.bytes);
    answer.seconds = 0.5;
    return answer;
  }

 private:
  Result<void> work(const Cancellation& cancellation) {
    const int now = ++record_->running;
    for (int most = record_->max_running;
         most < now && !record_->max_running.compare_exchange_weak(most, now);) {
    }
    Result<void> state;
    while (record_->hold && state.ok()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      state = cancellation.check("fake work");
    }
    --record_->running;
    if (record_->crash) throw support::InternalError("broken");
    if (state.ok() && record_->fail) return support::unsupported("no", "cannot");
    return state;
  }
  std::shared_ptr<Record> record_;
};

class ProviderStack : public testing::Test {
 protected:
  static problem::Canonical a_problem() {
    problem::ProblemText text;
    text.expression = "y(i) = B(i,j) * x(j)";
    return problem::canonicalize(problem::build(text).value());
  }
  static KernelQuery kernel(const std::string& key, Source source = Source::stored_or_made) {
    KernelQuery query;
    query.canonical = a_problem();
    query.canonical.key = "problem";
    query.canonical.text = "text";
    query.kernel_key = key;
    query.source = source;
    return query;
  }
  static FrontierQuery frontier(Source source = Source::stored_or_made) {
    FrontierQuery query;
    query.canonical = a_problem();
    query.canonical.key = "problem";
    query.canonical.text = "text";
    query.source = source;
    return query;
  }
  std::unique_ptr<KernelProvider> bottom() { return std::make_unique<FakeProvider>(record_); }
  static std::shared_ptr<KernelSigner> signer(char seed = 's') {
    return std::make_shared<KernelSigner>(support::SigningKey::from_seed(std::string(32, seed)));
  }
  std::unique_ptr<KernelProvider> caching(char seed = 's') {
    return make_caching_provider(bottom(), stores_, signer(seed), silent_log());
  }

  void wait_until_running(int count) {
    while (record_->running < count) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  std::shared_ptr<FakeProvider::Record> record_ = std::make_shared<FakeProvider::Record>();
  std::shared_ptr<kernels_cache::MemoryBinaryStore> binaries_ =
      std::make_shared<kernels_cache::MemoryBinaryStore>();
  Stores stores_{kernels_cache::make_memory_schedule_store(kernels_cache::system_clock()), binaries_};
  Cancellation never_;
};

TEST_F(ProviderStack, CachingSearchesOnce) {
  const auto provider = caching();
  const auto first = provider->frontier(frontier(), {}, never_),
             second = provider->frontier(frontier(), {}, never_);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_FALSE(first->hit);
  EXPECT_TRUE(second->hit);
  EXPECT_EQ(second->frontier->survivors.at(0).members, "123456789012345678901234567890");
  EXPECT_EQ(record_->searches, 1);
}

TEST_F(ProviderStack, CachingSeparatesSearchOptions) {
  const auto provider = caching();
  FrontierQuery deeper = frontier();
  deeper.options.memory_depth = 3;
  ASSERT_TRUE(provider->frontier(frontier(), {}, never_).ok());
  EXPECT_FALSE(provider->frontier(deeper, {}, never_)->hit);
  EXPECT_EQ(record_->searches, 2);
}

TEST_F(ProviderStack, CachingServesCompleteAnswersForAnyBudgetAndCutOnesForTheirOwn) {
  const auto provider = caching();
  const auto within = [](double seconds) {
    FrontierQuery query = frontier();
    query.options.search_seconds = seconds;
    return query;
  };
  record_->cut = true;
  EXPECT_FALSE(provider->frontier(within(1), {}, never_)->hit);
  EXPECT_TRUE(provider->frontier(within(1), {}, never_)->hit);
  EXPECT_FALSE(provider->frontier(within(2), {}, never_)->hit);
  record_->cut = false;
  EXPECT_FALSE(provider->frontier(within(3), {}, never_)->hit) << "more effort than the cut ones";
  for (const double seconds : {0.0, 1.0, 4.0}) {
    const auto answer = provider->frontier(within(seconds), {}, never_);
    EXPECT_TRUE(answer->hit && answer->frontier->complete) << seconds;
  }
  EXPECT_EQ(record_->searches, 3);
}

TEST_F(ProviderStack, CachingRecomputesOnDemand) {
  const auto provider = caching();
  ASSERT_TRUE(provider->kernel(kernel("k"), never_).ok());
  EXPECT_FALSE(provider->kernel(kernel("k", Source::made), never_)->hit);
  EXPECT_TRUE(provider->kernel(kernel("k"), never_)->hit);
  EXPECT_EQ(record_->compilations, 2);
}

TEST_F(ProviderStack, CachingComputesNothingForLookups) {
  const auto provider = caching();
  EXPECT_EQ(provider->frontier(frontier(Source::stored), {}, never_).error().code, "not-stored");
  EXPECT_EQ(record_->searches, 0);
  ASSERT_TRUE(provider->frontier(frontier(), {}, never_).ok());
  EXPECT_TRUE(provider->frontier(frontier(Source::stored), {}, never_)->hit);
}

TEST_F(ProviderStack, CachingRecompilesDamagedOrMissingBinaries) {
  const auto provider = caching();
  const std::string sha256 = provider->kernel(kernel("k"), never_)->digest.sha256;
  binaries_->damage(sha256);
  const auto again = provider->kernel(kernel("k"), never_);
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(again->hit);
  EXPECT_EQ(*binaries_->get(sha256), "binary of k");
  EXPECT_TRUE(provider->kernel(kernel("k"), never_)->hit);
  EXPECT_EQ(record_->compilations, 2);
}

TEST_F(ProviderStack, CachingRecompilesUnsignedKernels) {
  const auto provider = caching();
  const auto mine = provider->kernel(kernel("k"), never_),
             another = provider->kernel(kernel("other"), never_);
  EXPECT_EQ(provider->kernel(kernel("k"), never_)->signature, mine->signature);
  ASSERT_EQ(record_->compilations, 2);
  const kernels_cache::KernelRow good = **stores_.schedules->kernel("k");
  const kernels_cache::KernelRow whole = **stores_.schedules->kernel("other");

  // Another's binary, with and without its signature; none; one of the right length; the right one of another
  // key, and of another problem.
  kernels_cache::KernelRow moved = good, with_signature = good, unsigned_row = good, forged = good,
                           foreign = good, other_problem = good;
  moved.digest = with_signature.digest = whole.digest;
  with_signature.signature = whole.signature;
  unsigned_row.signature.clear();
  forged.signature = std::string(128, '0');
  foreign.signature = signer('f')->sign({kernel("k").canonical.key, "k", "x86-64-v3", good.digest});
  other_problem.signature = signer()->sign({"another problem", "k", "x86-64-v3", good.digest});
  int compilations = 2;
  for (const auto& row : {moved, with_signature, unsigned_row, forged, foreign, other_problem}) {
    ASSERT_TRUE(stores_.schedules->put_kernel(row).ok());
    const auto again = provider->kernel(kernel("k"), never_);
    ASSERT_TRUE(again.ok());
    EXPECT_FALSE(again->hit);
    EXPECT_EQ(*again->bytes, "binary of k");
    EXPECT_EQ(record_->compilations, ++compilations);
    EXPECT_TRUE(provider->kernel(kernel("k"), never_)->hit);
  }
  EXPECT_FALSE(caching('f')->kernel(kernel("k"), never_)->hit) << "a new key believes no old row";
}

TEST_F(ProviderStack, CachingIgnoresAStoredFrontierItCannotRead) {
  const kernels_cache::FrontierKey key{"problem", fingerprint({}), 1};
  ASSERT_TRUE(stores_.schedules->put_frontier({key, "text", "{\"version\":1}", true, 0, 0, "", "", ""}).ok());
  EXPECT_FALSE(caching()->frontier(frontier(), {}, never_)->hit);
  EXPECT_TRUE(caching()->frontier(frontier(), {}, never_)->hit);
}

TEST_F(ProviderStack, CachingReplacesARowOfAnOlderForm) {
  EXPECT_FALSE(caching()->frontier(frontier(), {}, never_)->hit);
  frontier::Options any_budget;
  any_budget.search_seconds = 0;
  const kernels_cache::FrontierKey key{"problem", fingerprint(any_budget), pipeline::search_version};
  std::string older = print_frontier(*caching()->frontier(frontier(), {}, never_)->frontier);
  const std::string version = "\"version\":4";
  ASSERT_TRUE(older.starts_with("{" + version));
  older.replace(1, version.size(), "\"version\":2");
  ASSERT_TRUE(stores_.schedules->put_frontier({key, "text", older, true, 1, 0, "", "", ""}).ok());
  EXPECT_FALSE(caching()->frontier(frontier(), {}, never_)->hit);
  EXPECT_TRUE(caching()->frontier(frontier(), {}, never_)->hit) << "it was stored anew";
}

TEST_F(ProviderStack, CachingDescribesCodeOfAnotherVersionAnew) {
  EXPECT_FALSE(caching()->frontier(frontier(), {}, never_)->hit);
  frontier::Options any_budget;
  any_budget.search_seconds = 0;
  const kernels_cache::FrontierKey key{"problem", fingerprint(any_budget), pipeline::search_version};
  const auto stored = [&] {
    return parse_frontier(stores_.schedules->frontier(key)->value().payload).value();
  };
  frontier::Frontier older = stored();
  older.code_version = pipeline::code_version - 1;
  older.survivors.front().variants = {{older.survivors.front().traces.front(), {}}};
  ASSERT_TRUE(
      stores_.schedules->put_frontier({key, "text", print_frontier(older), true, 1, 0, "", "", ""}).ok());
  const auto answer = caching()->frontier(frontier(), {}, never_);
  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(answer->hit);
  for (const frontier::Frontier& read : {*answer->frontier, stored()}) {
    EXPECT_EQ(read.code_version, pipeline::code_version);
    EXPECT_FALSE(read.survivors.front().variants.front().code.empty());
  }
}

TEST_F(ProviderStack, CachingIgnoresAStoredFrontierThatIsReadableAndOfAnotherProblem) {
  EXPECT_FALSE(caching()->frontier(frontier(), {}, never_)->hit);
  frontier::Frontier changed = *caching()->frontier(frontier(), {}, never_)->frontier;
  changed.survivors.front().traces = {schedule::parse("reorder(path={0,1}, order={z,y})").value()};
  frontier::Options any_budget;
  any_budget.search_seconds = 0;
  const kernels_cache::FrontierKey key{"problem", fingerprint(any_budget), pipeline::search_version};
  ASSERT_TRUE(
      stores_.schedules->put_frontier({key, "text", print_frontier(changed), true, 1, 0, "", "", ""}).ok());
  EXPECT_FALSE(caching()->frontier(frontier(), {}, never_)->hit);
  EXPECT_TRUE(caching()->frontier(frontier(), {}, never_)->hit) << "it was stored anew";
}

TEST_F(ProviderStack, CachingStoresWhatADeadlineCutForRequestsWithNoMoreTime) {
  const auto provider = caching();
  const auto hit_within = [&](std::chrono::seconds left) {
    FrontierQuery query = frontier();
    query.requester.deadline = Requester::Clock::now() + left;
    return provider->frontier(query, {}, never_)->hit;
  };
  record_->cut = true;
  EXPECT_FALSE(hit_within(std::chrono::seconds(50)));
  EXPECT_TRUE(hit_within(std::chrono::seconds(50)));
  EXPECT_FALSE(hit_within(std::chrono::seconds(200))) << "it has more time";
  EXPECT_FALSE(hit_within(std::chrono::seconds(2000))) << "it has all the time that it asks for";
  EXPECT_TRUE(hit_within(std::chrono::seconds(10))) << "it has less";
}

TEST(SearchWithinDeadline, EndsBeforeTheDeadlineWithAPartOfTheSpace) {
  const auto deadline = Requester::Clock::now() + std::chrono::seconds(4);
  frontier::Options options = within_deadline({}, deadline);
  EXPECT_EQ(options.search_seconds, 1);
  EXPECT_EQ(options.solver_total_milliseconds, 500);
  EXPECT_EQ(within_deadline({}, Requester().deadline).search_seconds, frontier::Options().search_seconds);
  options.search_seconds = 0;
  EXPECT_EQ(within_deadline(options, deadline).search_seconds, 0) << "without a limit it has none";
}

TEST_F(ProviderStack, CachingStoresNoFailure) {
  const auto provider = caching();
  record_->fail = true;
  EXPECT_EQ(provider->kernel(kernel("k"), never_).error().code, "no");
  record_->fail = false;
  EXPECT_FALSE(provider->kernel(kernel("k"), never_)->hit);
}

TEST_F(ProviderStack, CoalescingDoesEqualWorkOnce) {
  const auto provider = make_coalescing_provider(caching());  // a late caller is answered from the store
  record_->hold = true;
  std::vector<std::future<Result<KernelAnswer>>> askers;
  for (int n = 0; n < 6; ++n) {
    askers.push_back(std::async(std::launch::async, [&] { return provider->kernel(kernel("k"), never_); }));
  }
  wait_until_running(1);
  auto other = std::async(std::launch::async, [&] { return provider->kernel(kernel("other"), never_); });
  wait_until_running(2);
  // Joining is not observable. Late callers would add a compilation, so allow some time.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  record_->hold = false;
  int hits = 0;
  for (auto& asker : askers) {
    const auto answer = asker.get();
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(*answer->bytes, "binary of k");
    hits += answer->hit ? 1 : 0;
  }
  EXPECT_EQ(hits, 5);
  EXPECT_EQ(*other.get()->bytes, "binary of other");
  EXPECT_EQ(record_->compilations, 2);
}

TEST_F(ProviderStack, CoalescingHandsOverWhenTheFirstCallerLeaves) {
  const auto provider = make_coalescing_provider(bottom());
  record_->hold = true;
  Cancellation leaving;
  auto first = std::async(std::launch::async, [&] { return provider->kernel(kernel("k"), leaving); });
  wait_until_running(1);
  auto second = std::async(std::launch::async, [&] { return provider->kernel(kernel("k"), never_); });
  leaving.cancel();
  EXPECT_EQ(first.get().error().code, "cancelled");
  while (record_->compilations < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  record_->hold = false;
  EXPECT_EQ(*second.get()->bytes, "binary of k");
}

TEST_F(ProviderStack, CoalescingLetsAWaitingCallerLeave) {
  const auto provider = make_coalescing_provider(bottom());
  record_->hold = true;
  auto first = std::async(std::launch::async, [&] { return provider->frontier(frontier(), {}, never_); });
  wait_until_running(1);
  const Cancellation soon(Cancellation::Clock::now() + std::chrono::milliseconds(30));
  EXPECT_EQ(provider->frontier(frontier(), {}, soon).error().code, "deadline");
  record_->hold = false;
  EXPECT_TRUE(first.get().ok());
}

TEST_F(ProviderStack, CoalescingSurvivesABugBelow) {
  const auto provider = make_coalescing_provider(bottom());
  record_->crash = true;
  EXPECT_THROW((void)provider->kernel(kernel("k"), never_), support::InternalError);
  record_->crash = false;
  EXPECT_TRUE(provider->kernel(kernel("k"), never_).ok());
}

TEST_F(ProviderStack, AdmissionBoundsConcurrency) {
  const auto provider = make_admitting_provider(bottom(), AdmissionQueues({.searches = 1, .compilations = 2}),
                                                std::make_shared<Metrics>());
  record_->hold = true;
  std::vector<std::future<Result<KernelAnswer>>> askers;
  for (int n = 0; n < 5; ++n) {
    const std::string key(1, static_cast<char>('a' + n));
    askers.push_back(
        std::async(std::launch::async, [&, key] { return provider->kernel(kernel(key), never_); }));
  }
  wait_until_running(2);
  const Cancellation soon(Cancellation::Clock::now() + std::chrono::milliseconds(30));
  EXPECT_EQ(provider->kernel(kernel("late"), soon).error().code, "deadline");
  record_->hold = false;
  for (auto& asker : askers) EXPECT_TRUE(asker.get().ok());
  EXPECT_EQ(record_->max_running, 2);
  EXPECT_EQ(record_->compilations, 5);
}

TEST_F(ProviderStack, AdmissionRefusesAtOnceWhenTheQueueIsFull) {
  const auto metrics = std::make_shared<Metrics>();
  const AdmissionQueues queues({.searches = 1, .compilations = 1, .waiting_searches = 2});
  const auto provider = make_admitting_provider(bottom(), queues, metrics);
  record_->hold = true;
  std::vector<std::future<Result<FrontierAnswer>>> askers;
  for (int n = 0; n < 3; ++n) {
    askers.push_back(
        std::async(std::launch::async, [&] { return provider->frontier(frontier(), {}, never_); }));
  }
  while (queues.searches->waiting() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(queues.overloaded());
  EXPECT_EQ(support::render(provider->frontier(frontier(), {}, never_).error()),
            "exhausted [overloaded]: the server is overloaded: 2 searches are waiting\n"
            "  note: stored answers are still served; retry in a moment");
  EXPECT_THAT(metrics->text(), testing::HasSubstr("schaas_overload_refusals_total{for=\"search\"} 1\n"));
  auto kernel_asker = std::async(std::launch::async, [&] { return provider->kernel(kernel("k"), never_); });
  record_->hold = false;
  for (auto& asker : askers) EXPECT_TRUE(asker.get().ok());
  EXPECT_TRUE(kernel_asker.get().ok());
  EXPECT_FALSE(queues.overloaded());
}

// A job runs on one thread and its pool, so only interactive requests can be too many.
TEST_F(ProviderStack, AdmissionNeverRefusesBatchWork) {
  const AdmissionQueues queues({.searches = 1, .compilations = 1, .waiting_compilations = 1});
  const auto provider = make_admitting_provider(bottom(), queues, std::make_shared<Metrics>());
  record_->hold = true;
  const auto ask = [&](const std::string& key) {
    return std::async(std::launch::async, [&, key] {
      KernelQuery query = kernel(key);
      query.priority = Priority::batch;
      return provider->kernel(query, never_);
    });
  };
  std::vector<std::future<Result<KernelAnswer>>> askers;
  for (const std::string key : {"first", "second", "third"}) askers.push_back(ask(key));
  while (queues.compilations->waiting() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(provider->kernel(kernel("refused"), never_).error().code, "overloaded");
  record_->hold = false;
  for (auto& asker : askers) EXPECT_TRUE(asker.get().ok());
}

TEST(AdmissionQueue, AdmitsInteractiveWorkFirst) {
  AdmissionQueue queue(1, 8, "things");
  const support::Cancellation never;
  std::vector<int> order;
  std::vector<std::thread> askers;
  {
    const auto held = queue.acquire(Priority::interactive, "me", never);
    const std::array<Priority, 4> arrivals = {Priority::batch, Priority::interactive, Priority::batch,
                                              Priority::interactive};
    for (std::size_t a = 0; a < arrivals.size(); ++a) {
      askers.emplace_back([&, a] {
        const auto permit = queue.acquire(arrivals[a], "me", never);
        order.push_back(static_cast<int>(a));  // one at a time: there is one permit
      });
      while (queue.waiting() < a + 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(queue.running(), 1u);
  }
  for (auto& asker : askers) asker.join();
  EXPECT_EQ(order, (std::vector<int>{1, 3, 0, 2}));
}

}  // namespace
}  // namespace schaas::server
