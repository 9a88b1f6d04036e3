// A server in this process, on a Unix socket, called through the generated stubs.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <future>
#include <list>
#include <map>
#include <thread>

#include "proto/kernel_abi.h"
#include "server/daemon/daemon.h"
#include "tests/service/service_client.h"
#include "tests/support/temporary_directory.h"

namespace schaas {
namespace {

using server::Daemon;
using support::Cancellation;
using support::Result;
using test::Refusal;
using test::Scheduled;

struct Counted {
  std::atomic<int> searches{0}, compilations{0}, baselines{0};
  std::atomic<bool> hold_search{false};        // searches last until cancelled
  std::atomic<bool> hold_compilations{false};  // full kernels wait
  std::atomic<bool> fail_linear{false};        // the linear schedule does not compile
  std::atomic<bool> crash{false};
  std::atomic<int> cancelled{0};
};

// Above the real compiler: counts, holds, fails.
class CountingProvider final : public server::KernelProvider {
 public:
  CountingProvider(std::unique_ptr<KernelProvider> next, std::shared_ptr<Counted> counted)
      : next_(std::move(next)), counted_(std::move(counted)) {}

  Result<server::FrontierAnswer> frontier(const server::FrontierQuery& query,
                                          const frontier::Progress& progress,
                                          const Cancellation& cancellation) override {
    ++counted_->searches;
    if (counted_->crash) throw support::InternalError("secret.cc:42: something private");
    while (counted_->hold_search) {
      if (auto state = cancellation.check("a long search"); !state.ok()) {
        ++counted_->cancelled;
        return state.error();
      }
      progress({"space", 1});
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return next_->frontier(query, progress, cancellation);
  }
  Result<server::KernelAnswer> kernel(const server::KernelQuery& query,
                                      const Cancellation& cancellation) override {
    ++(query.target.baseline ? counted_->baselines : counted_->compilations);
    while (counted_->hold_compilations && !query.target.baseline) {
      SCHAAS_RETURN_IF_ERROR(cancellation.check("a long compilation"));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (counted_->fail_linear && query.trace.directives.empty())
      return support::unsupported("no-linear", "not today");
    return next_->kernel(query, cancellation);
  }

 private:
  std::unique_ptr<KernelProvider> next_;
  std::shared_ptr<Counted> counted_;
};

v1::ScheduleRequest spmm() {
  v1::ScheduleRequest request;
  auto& problem = *request.mutable_problem();
  problem.set_expression("A(i,k) = B(i,j) * C(j,k)");
  (*problem.mutable_formats())["B"] = "csr";
  problem.add_constraints("8 <= k <= 256");
  request.set_isa("x86-64-v2");
  request.set_kernels(2);
  return request;
}

// A chain of products: a frontier with several schedules.
v1::ScheduleRequest chain() {
  v1::ScheduleRequest request;
  auto& problem = *request.mutable_problem();
  problem.set_expression("A(i,l) = B(i,j) * C(j,k) * D(k,l)");
  (*problem.mutable_formats())["B"] = "csr";
  problem.add_constraints("8 <= k <= 256");
  problem.add_constraints("8 <= l <= 256");
  request.set_isa("x86-64-v2");
  request.set_kernels(3);
  return request;
}

// The same problem in other words.
v1::ScheduleRequest chain_renamed() {
  v1::ScheduleRequest request = chain();
  auto& problem = *request.mutable_problem();
  problem.set_expression("Out(row,d) = Last(f,d) * Mask(row,col) * Mid(col,f)");
  problem.clear_formats();
  (*problem.mutable_formats())["Mask"] = "dense,compressed";
  problem.clear_constraints();
  problem.add_constraints("256 >= d");
  problem.add_constraints("8 <= f <= 256");
  problem.add_constraints("d > 7");
  return request;
}

class Service : public testing::Test {
 protected:
  void SetUp() override { start(); }

  void start() {
    client_.reset();
    daemon_.reset();
    server::DaemonOptions options;
    options.data_directory = data_;
    options.drain = drain_;
    options.version = "1.2.3";
    options.partial_search_delay = partial_search_delay_;
    options.wrap_compiling = [counted = counted_](std::unique_ptr<server::KernelProvider> next) {
      return std::make_unique<CountingProvider>(std::move(next), counted);
    };
    auto daemon = Daemon::start(options, server::silent_log());
    ASSERT_TRUE(daemon.ok()) << support::render(daemon.error());
    daemon_ = std::move(daemon).value();
    client_ = std::make_unique<test::ServiceClient>(daemon_->addresses().front());
  }

  std::string binary_file(const std::string& sha256) {
    return data_ + "/binaries/" + sha256.substr(0, 2) + "/" + sha256;
  }
  void damage(const std::string& sha256) { std::ofstream(binary_file(sha256), std::ios::app) << '!'; }

  Scheduled must(const v1::ScheduleRequest& request) {
    Scheduled answer = client_->schedule(request);
    EXPECT_TRUE(answer.ok()) << answer.refusal.text();
    EXPECT_TRUE(answer.frontier && answer.done);
    EXPECT_TRUE(answer.failures.empty());
    return answer;
  }

  test_support::TemporaryDirectory directory_;
  std::string data_ = directory_ / "data";
  std::chrono::milliseconds partial_search_delay_ = std::chrono::hours(1);  // no partial frontiers
  std::chrono::seconds drain_{1};
  std::shared_ptr<Counted> counted_ = std::make_shared<Counted>();
  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<test::ServiceClient> client_;
};

std::vector<std::string> digests(const Scheduled& answer) {
  std::vector<std::string> out;
  for (const auto& kernel : answer.kernels) out.push_back(kernel.id() + " " + kernel.digest().sha256());
  std::sort(out.begin(), out.end());
  return out;
}

std::size_t stored_kernels(const Scheduled& answer) {
  return answer.kernels.size() + answer.baselines.size();
}

// ---- answers ----

TEST_F(Service, AnswersAMissWithAFrontierAndItsKernelsThenAHit) {
  const Scheduled miss = must(spmm());
  EXPECT_FALSE(miss.done->hit());
  EXPECT_EQ(miss.done->compiled(), miss.kernels.size());
  ASSERT_FALSE(miss.kernels.empty());
  ASSERT_FALSE(miss.frontier->entries().empty());
  EXPECT_EQ(miss.frontier->arguments(0), "A");
  const int searches = counted_->searches, compilations = counted_->compilations;
  EXPECT_EQ(searches, 1);
  EXPECT_EQ(compilations, static_cast<int>(miss.kernels.size()));
  EXPECT_EQ(counted_->baselines, 1);

  const Scheduled hit = must(spmm());
  EXPECT_TRUE(hit.done->hit());
  EXPECT_EQ(hit.done->compiled(), 0u);
  EXPECT_EQ(digests(hit), digests(miss));
  EXPECT_FALSE(miss.frontier->hit());
  v1::Frontier as_made = *hit.frontier;
  EXPECT_TRUE(as_made.hit());
  as_made.set_hit(false);
  EXPECT_EQ(as_made.DebugString(), miss.frontier->DebugString());
  for (const auto& kernel : hit.kernels) EXPECT_TRUE(kernel.hit());
  EXPECT_TRUE(hit.baselines.empty());
  EXPECT_EQ(counted_->searches, searches);
  EXPECT_EQ(counted_->compilations, compilations);
  EXPECT_EQ(counted_->baselines, 1);
}

TEST_F(Service, SendsABaselineKernelFirstOnAMiss) {
  const Scheduled miss = must(chain());
  ASSERT_EQ(miss.baselines.size(), 1u);
  const v1::Kernel& baseline = miss.baselines.front();
  const auto full = std::find_if(miss.kernels.begin(), miss.kernels.end(),
                                 [&](const v1::Kernel& kernel) { return kernel.id() == baseline.id(); });
  ASSERT_NE(full, miss.kernels.end());
  EXPECT_EQ(baseline.trace(), full->trace());
  EXPECT_EQ(baseline.isa(), full->isa());
  EXPECT_NE(baseline.kernel_key(), full->kernel_key());
  EXPECT_NE(baseline.digest().sha256(), full->digest().sha256());
  EXPECT_EQ(client_->download(baseline.digest().sha256()).second.status, grpc::StatusCode::OK);
  // A trace requested alone is waited for.
  auto request = chain();
  request.add_traces("linear");
  request.set_traces_only(true);
  EXPECT_TRUE(must(request).baselines.empty());
}

TEST_F(Service, AnswersTheSameProblemInOtherWordsFromTheStoreInThoseWords) {
  const Scheduled first = must(chain());
  ASSERT_GE(first.frontier->entries().size(), 2);
  const int compilations = counted_->compilations;
  const Scheduled second = must(chain_renamed());
  EXPECT_TRUE(second.done->hit());
  EXPECT_EQ(second.frontier->key(), first.frontier->key());
  EXPECT_EQ(digests(second), digests(first));
  EXPECT_EQ(counted_->searches, 1);
  EXPECT_EQ(counted_->compilations, compilations);
  EXPECT_EQ(second.frontier->arguments(0), "Out");
  EXPECT_THAT(second.frontier->arguments(), testing::UnorderedElementsAre("Out", "Last", "Mid", "Mask"));
  for (const auto& entry : second.frontier->entries()) {
    EXPECT_THAT(entry.tree(), testing::AllOf(testing::HasSubstr("row"), testing::HasSubstr("col")));
    EXPECT_THAT(entry.time(), testing::HasSubstr("row"));
    for (const auto& term : entry.time_terms()) {
      for (const auto& variable : term.variables()) {
        EXPECT_THAT(variable.index(), testing::AnyOf("row", "col", "d", "f"));
        if (variable.kind() == v1::Variable::FIBER) {
          EXPECT_EQ(variable.tensor(), "Mask");
        }
      }
    }
  }
}

TEST_F(Service, AnswersFromTheStoreAfterARestart) {
  const Scheduled before = must(spmm());
  counted_ = std::make_shared<Counted>();
  start();
  const Scheduled after = must(spmm());
  EXPECT_TRUE(after.done->hit());
  EXPECT_EQ(digests(after), digests(before));
  EXPECT_EQ(counted_->searches + counted_->compilations, 0);
}

TEST_F(Service, SendsBinariesThatAreSharedObjectsOfTheirDigest) {
  const Scheduled answer = must(spmm());
  for (const auto& kernel : answer.kernels) {
    const auto [bytes, refusal] = client_->download(kernel.digest().sha256());
    ASSERT_EQ(refusal.status, grpc::StatusCode::OK) << refusal.text();
    EXPECT_EQ(bytes.size(), kernel.digest().bytes());
    EXPECT_EQ(support::digest_of(bytes).sha256, kernel.digest().sha256());
    EXPECT_EQ(bytes.substr(0, 4),
              "\x7f"
              "ELF");
  }
}

TEST_F(Service, CompilesAtMostTheKernelsAskedForAndAllTheRequestedTraces) {
  v1::ScheduleRequest request = chain();
  request.set_kernels(1);
  request.add_traces("linear");
  request.add_traces("s1");
  const Scheduled answer = must(request);
  std::vector<std::string> ids;
  for (const auto& kernel : answer.kernels) ids.push_back(kernel.id());
  EXPECT_THAT(ids, testing::IsSupersetOf({"linear", "s1"}));
  EXPECT_LE(ids.size(), 3u);
}

TEST_F(Service, CompilesATraceItSentWithoutSearching) {
  const Scheduled searched = must(chain_renamed());
  const std::string trace = searched.frontier->entries(1).trace();
  v1::ScheduleRequest request = chain_renamed();
  request.add_traces(trace);
  request.set_traces_only(true);
  const Scheduled answer = must(request);
  EXPECT_EQ(counted_->searches, 1);
  ASSERT_EQ(answer.kernels.size(), 1u);
  EXPECT_EQ(answer.kernels[0].id(), trace);
  EXPECT_EQ(answer.kernels[0].trace(), trace);
  EXPECT_EQ(answer.kernels[0].tree(), searched.frontier->entries(1).tree());
  EXPECT_EQ(answer.kernels[0].time(), searched.frontier->entries(1).time());
  EXPECT_TRUE(answer.frontier->entries().empty());
  EXPECT_EQ(answer.frontier->arguments(0), "Out");
}

TEST_F(Service, SearchesOnlyOnDemand) {
  v1::ScheduleRequest request = spmm();
  request.set_search_only(true);
  const Scheduled answer = must(request);
  EXPECT_TRUE(answer.kernels.empty());
  EXPECT_EQ(counted_->compilations, 0);
}

TEST_F(Service, CompilesAFirstKernelForClientsThatAskForTheirChoice) {
  v1::ScheduleRequest request = chain();
  request.set_first_kernel_only(true);
  const Scheduled first = client_->schedule(request);
  ASSERT_TRUE(first.ok()) << first.refusal.text();
  EXPECT_EQ(first.baselines.size(), 1u);
  EXPECT_TRUE(first.kernels.empty());
  EXPECT_EQ(counted_->compilations, 0);
  request.set_traces_only(true);
  request.add_traces(first.baselines.front().id());
  const Scheduled choice = client_->schedule(request);
  ASSERT_EQ(choice.kernels.size(), 1u) << choice.refusal.text();
  EXPECT_EQ(choice.kernels.front().id(), first.baselines.front().id());
  EXPECT_EQ(counted_->baselines, 1) << "it is stored";
  // Now its full kernel is stored, too.
  request.set_traces_only(false);
  request.clear_traces();
  const Scheduled again = client_->schedule(request);
  EXPECT_TRUE(again.baselines.empty());
  ASSERT_EQ(again.kernels.size(), 1u);
  EXPECT_TRUE(again.kernels.front().hit());
  EXPECT_EQ(counted_->compilations, 1);
}

TEST_F(Service, RecomputesOnDemand) {
  must(spmm());
  v1::ScheduleRequest request = spmm();
  request.set_no_cache(true);
  const Scheduled again = must(request);
  EXPECT_FALSE(again.done->hit());
  EXPECT_EQ(again.done->compiled(), again.kernels.size());
  EXPECT_EQ(counted_->searches, 2);
}

TEST_F(Service, WorksOnceForEqualRequestsAtTheSameTime) {
  std::vector<std::future<Scheduled>> askers;
  for (int n = 0; n < 6; ++n) {
    askers.push_back(
        std::async(std::launch::async, [&, n] { return must(n % 2 == 0 ? chain() : chain_renamed()); }));
  }
  std::size_t kernels = 0, misses = 0;
  for (auto& asker : askers) {
    const Scheduled answer = asker.get();
    kernels = answer.kernels.size();
    misses += answer.done->hit() ? 0 : 1;
  }
  EXPECT_EQ(counted_->searches, 1);
  EXPECT_EQ(counted_->compilations, static_cast<int>(kernels));
  EXPECT_GE(misses, 1u);
}

TEST_F(Service, SendsTheOtherKernelsWhenOneFails) {
  counted_->fail_linear = true;
  v1::ScheduleRequest request = chain();
  request.add_traces("linear");
  const Scheduled answer = client_->schedule(request);
  ASSERT_TRUE(answer.ok()) << answer.refusal.text();
  ASSERT_EQ(answer.failures.size(), 1u);
  EXPECT_EQ(answer.failures[0].id(), "linear");
  EXPECT_EQ(answer.failures[0].diagnostic().code(), "no-linear");
  EXPECT_EQ(answer.done->failed(), 1u);
  EXPECT_GE(answer.kernels.size(), 2u);
}

TEST_F(Service, FailsWhenNoKernelCompiles) {
  counted_->fail_linear = true;
  v1::ScheduleRequest request = spmm();
  request.add_traces("linear");
  request.set_traces_only(true);
  const Scheduled answer = client_->schedule(request);
  EXPECT_EQ(answer.refusal.text(), "UNIMPLEMENTED unsupported [no-linear]: not today");
  EXPECT_EQ(answer.failures.size(), 1u);
  EXPECT_FALSE(answer.done.has_value());
}

// ---- damage ----

TEST_F(Service, RecompilesABinaryFoundDamagedOnDownload) {
  const Scheduled before = must(spmm());
  const std::string sha256 = before.kernels.front().digest().sha256();
  damage(sha256);
  const auto [bytes, refusal] = client_->download(sha256);
  EXPECT_EQ(bytes, "");
  EXPECT_EQ(refusal.text(), "DATA_LOSS internal [damaged-binary]: the stored binary " + sha256 +
                                " no longer has this digest and was dropped");
  EXPECT_EQ(client_->download(sha256).second.status, grpc::StatusCode::NOT_FOUND);

  const Scheduled after = must(spmm());
  EXPECT_FALSE(after.done->hit());
  EXPECT_EQ(after.done->compiled(), 1u);
  EXPECT_EQ(counted_->searches, 1);
  for (const auto& kernel : after.kernels) {
    EXPECT_EQ(support::digest_of(client_->download(kernel.digest().sha256()).first).sha256,
              kernel.digest().sha256());
  }
}

TEST_F(Service, RecompilesADamagedOrMissingBinary) {
  const Scheduled before = must(spmm());
  damage(before.kernels.front().digest().sha256());
  EXPECT_EQ(must(spmm()).done->compiled(), 1u);
  for (const auto& kernel : before.kernels) std::filesystem::remove(binary_file(kernel.digest().sha256()));
  EXPECT_EQ(must(spmm()).done->compiled(), before.kernels.size());
  EXPECT_EQ(must(spmm()).done->compiled(), 0u);
}

TEST_F(Service, VerifiesItsCache) {
  const Scheduled answer = must(chain());
  const std::string damaged = answer.kernels[0].digest().sha256(), gone = answer.kernels[1].digest().sha256();
  damage(damaged);
  std::filesystem::remove(binary_file(gone));
  v1::VerifyCacheReply reply;
  EXPECT_EQ(client_->call(&v1::Scheduler::Stub::VerifyCache, v1::VerifyCacheRequest(), reply).status,
            grpc::StatusCode::OK);
  EXPECT_EQ(reply.checked(), stored_kernels(answer) - 1);
  EXPECT_THAT(reply.damaged(), testing::ElementsAre(damaged));
  EXPECT_EQ(reply.missing(), 1u);
  v1::VerifyCacheReply again;
  client_->call(&v1::Scheduler::Stub::VerifyCache, v1::VerifyCacheRequest(), again);
  EXPECT_EQ(again.checked(), stored_kernels(answer) - 2);
  EXPECT_EQ(again.damaged_size(), 0);
  EXPECT_EQ(again.missing(), 0u);
}

// ---- the other methods ----

v1::Measurement measurement(const std::string& trace, double seconds) {
  v1::Measurement out;
  out.set_trace(trace);
  out.set_sizes("i=10 B=10/14");
  out.set_threads(2);
  out.set_isa("x86-64-v3");
  out.set_seconds(seconds);
  return out;
}

TEST_F(Service, ReturnsTimingsOfHostsOfTheClass) {
  v1::ReportRequest report;
  *report.mutable_problem() = chain().problem();
  report.set_host("an abacus, 2 threads");
  *report.add_measurements() = measurement("linear", 0.5);
  *report.add_measurements() = measurement("reorder(path={}, order={i,j,k,l})", 0.25);
  v1::ReportReply reply;
  EXPECT_EQ(client_->call(&v1::Scheduler::Stub::Report, report, reply).status, grpc::StatusCode::OK);
  auto request = chain_renamed();
  EXPECT_EQ(must(request).frontier->measurements_size(), 0);
  request.set_host("another host");
  EXPECT_EQ(must(request).frontier->measurements_size(), 0);
  request.set_host(report.host());
  const Scheduled answer = must(request);
  ASSERT_EQ(answer.frontier->measurements_size(), 2);
  // Its factors are written in another order; the trace takes them in that of the chain.
  const v1::Measurement newest =
      measurement("permute(path={}, factors={1,2,0}); reorder(path={}, order={row,col,f,d})", 0.25);
  EXPECT_EQ(answer.frontier->measurements(0).DebugString(), newest.DebugString());
  EXPECT_EQ(answer.frontier->measurements(1).DebugString(), measurement("linear", 0.5).DebugString());
}

TEST_F(Service, RefusesInvalidMeasurements) {
  const auto text = [&](const std::function<void(v1::ReportRequest&)>& change) {
    v1::ReportRequest report;
    *report.mutable_problem() = chain().problem();
    report.set_host("an abacus");
    *report.add_measurements() = measurement("linear", 0.5);
    change(report);
    v1::ReportReply reply;
    return client_->call(&v1::Scheduler::Stub::Report, report, reply).text();
  };
  using Report = v1::ReportRequest;
  EXPECT_EQ(text([](Report& r) { r.clear_host(); }),
            "INVALID_ARGUMENT invalid [measurement]: the host of a measurement must be 1 to 1024 printable "
            "characters; found 0");
  EXPECT_EQ(text([](Report& r) { r.mutable_measurements(0)->set_sizes("i=1\n"); }),
            "INVALID_ARGUMENT invalid [measurement]: the sizes of a measurement must be 1 to 1024 printable "
            "characters; found 4, some of them not printable");
  EXPECT_EQ(text([](Report& r) { r.mutable_measurements(0)->set_seconds(0); }),
            "INVALID_ARGUMENT invalid [measurement]: a measurement of 0.000000 s; expected a time above 0");
  EXPECT_EQ(text([](Report& r) { r.mutable_measurements(0)->set_seconds(NAN); }),
            "INVALID_ARGUMENT invalid [measurement]: a measurement of nan s; expected a time above 0");
  EXPECT_EQ(text([](Report& r) { r.mutable_measurements(0)->set_threads(0xffffffff); }),
            "INVALID_ARGUMENT invalid [measurement]: measured with 2147483647 threads; expected 1 to 4096");
  EXPECT_EQ(text([](Report& r) { r.mutable_measurements(0)->set_isa("z80"); }),
            "INVALID_ARGUMENT invalid [isa]: unknown instruction set `z80`; expected x86-64-v2, x86-64-v3, "
            "x86-64-v4, generic, native or cuda");
  EXPECT_THAT(
      text([](Report& r) { r.mutable_measurements(0)->set_trace("loopfuse(path={}, loc=9, pol=left)"); }),
      testing::StartsWith("INVALID_ARGUMENT invalid ["));
  EXPECT_EQ(text([](Report& r) {
              for (int n = 0; n < 64; ++n) *r.add_measurements() = measurement("linear", 1);
            }),
            "INVALID_ARGUMENT invalid [measurement]: 65 measurements; at most 64 are taken at once");
  // None of the measurements was stored.
  auto request = chain();
  request.set_host("an abacus");
  EXPECT_EQ(must(request).frontier->measurements_size(), 0);
}

TEST_F(Service, LooksUpStoredAnswersOnly) {
  v1::LookupRequest request;
  *request.mutable_problem() = spmm().problem();
  v1::Frontier reply;
  EXPECT_EQ(client_->call(&v1::Scheduler::Stub::Lookup, request, reply).text(),
            "NOT_FOUND invalid [not-stored]: nothing is stored for this problem");
  EXPECT_EQ(counted_->searches, 0);
  Scheduled answer = must(spmm());
  answer.frontier->clear_signature();  // in Schedule alone
  EXPECT_EQ(client_->call(&v1::Scheduler::Stub::Lookup, request, reply).status, grpc::StatusCode::OK);
  EXPECT_EQ(reply.DebugString(), answer.frontier->DebugString());
}

TEST_F(Service, EmitsEveryLanguage) {
  const std::map<std::string, std::string> expected = {
      {"trace", "linear"}, {"tree", "row"}, {"loops", "kernel f64"}, {"c", "schaas_kernel"}};
  for (const auto& [language, words] : expected) {
    v1::EmitRequest request;
    *request.mutable_problem() = chain_renamed().problem();
    request.set_language(language);
    request.set_schedule("linear");
    v1::EmitReply reply;
    EXPECT_EQ(client_->call(&v1::Scheduler::Stub::Emit, request, reply).status, grpc::StatusCode::OK)
        << language;
    EXPECT_THAT(reply.text(), testing::HasSubstr(words)) << language;
  }
  EXPECT_EQ(counted_->searches, 0);
}

TEST_F(Service, EmitsAFrontierScheduleById) {
  const Scheduled answer = must(chain());
  v1::EmitRequest request;
  *request.mutable_problem() = chain().problem();
  request.set_language("trace");
  request.set_schedule("s1");
  v1::EmitReply reply;
  EXPECT_EQ(client_->call(&v1::Scheduler::Stub::Emit, request, reply).status, grpc::StatusCode::OK);
  EXPECT_THAT(reply.text(), testing::StartsWith(answer.frontier->entries(0).trace()));
  EXPECT_EQ(counted_->searches, 1);
}

TEST_F(Service, ReportsItsProperties) {
  const Scheduled answer = must(spmm());
  v1::ServerInfo info;
  EXPECT_EQ(client_->call(&v1::Scheduler::Stub::Info, v1::InfoRequest(), info).status, grpc::StatusCode::OK);
  EXPECT_EQ(info.version(), "1.2.3");
  EXPECT_EQ(info.abi_version(), SCHAAS_KERNEL_ABI_VERSION);
  EXPECT_EQ(info.frontiers(), 1u);
  EXPECT_EQ(info.kernels(), stored_kernels(answer));
  EXPECT_EQ(info.data_directory(), data_);
  EXPECT_EQ(info.expression_bytes(), 16384u);
  EXPECT_THAT(info.isas(), testing::Contains("x86-64-v3"));
}

TEST_F(Service, ListsItsCache) {
  const Scheduled answer = must(spmm());
  v1::ListCacheRequest request;
  v1::ListCacheReply reply;
  EXPECT_EQ(client_->call(&v1::Scheduler::Stub::ListCache, request, reply).status, grpc::StatusCode::OK);
  ASSERT_EQ(reply.entries_size(), 1);
  EXPECT_EQ(reply.entries(0).key(), answer.frontier->key());
  EXPECT_EQ(reply.entries(0).canonical(), answer.frontier->canonical());
  EXPECT_EQ(reply.entries(0).frontier(), static_cast<std::uint64_t>(answer.frontier->entries_size()));
  EXPECT_EQ(reply.entries(0).kernels(), stored_kernels(answer));
  EXPECT_EQ(reply.entries(0).kernel_size(), 0);
  request.set_key(answer.frontier->key());
  EXPECT_EQ(client_->call(&v1::Scheduler::Stub::ListCache, request, reply).status, grpc::StatusCode::OK);
  EXPECT_EQ(reply.entries(0).kernel_size(), static_cast<int>(stored_kernels(answer)));
  request.set_key(std::string(64, '0'));
  EXPECT_EQ(client_->call(&v1::Scheduler::Stub::ListCache, request, reply).text(),
            "NOT_FOUND invalid [not-stored]: nothing is stored under the key " + std::string(64, '0'));
  request.set_key("../x");
  EXPECT_EQ(client_->call(&v1::Scheduler::Stub::ListCache, request, reply).text(),
            "INVALID_ARGUMENT invalid [wrong-key]: `../x` is not a problem's key; expected 64 lower-case "
            "hexadecimal "
            "digits");
}

TEST_F(Service, ListsItsCacheByPages) {
  must(spmm());
  for (const char* constraint : {"16 <= k <= 64", "32 <= k <= 64"}) {
    v1::ScheduleRequest another = spmm();
    another.mutable_problem()->set_constraints(0, constraint);
    must(another);
  }
  v1::ListCacheRequest request;
  v1::ListCacheReply reply;
  const auto keys = [&] {
    EXPECT_EQ(client_->call(&v1::Scheduler::Stub::ListCache, request, reply).status, grpc::StatusCode::OK);
    std::vector<std::string> out;
    for (const auto& entry : reply.entries()) out.push_back(entry.key());
    return out;
  };
  const std::vector<std::string> all = keys();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(reply.next(), 0u);
  request.set_limit(2);
  EXPECT_EQ(keys(), (std::vector<std::string>{all[0], all[1]}));
  EXPECT_EQ(reply.next(), reply.entries(1).number());
  request.set_after(reply.next());
  EXPECT_EQ(keys(), (std::vector<std::string>{all[2]}));
  EXPECT_EQ(reply.next(), 0u);
  request.Clear();
  request.set_prefix(all[1].substr(0, 20));
  EXPECT_EQ(keys(), (std::vector<std::string>{all[1]}));
}

TEST_F(Service, HasAHealthService) {
  const auto raw = [&](const std::string& method, const std::string& request) {
    grpc::GenericStub stub(client_->channel());
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    grpc::Slice slice(request);
    grpc::ByteBuffer send(&slice, 1), received;
    auto call = stub.PrepareUnaryCall(&context, method, send, &queue);
    call->StartCall();
    grpc::Status status;
    call->Finish(&received, &status, this);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    EXPECT_TRUE(status.ok()) << method << ": " << status.error_message();
    grpc::Slice reply;
    if (status.ok()) {
      EXPECT_TRUE(received.DumpToSingleSlice(&reply).ok());
    }
    return std::string(reinterpret_cast<const char*>(reply.begin()), reply.size());
  };
  // HealthCheckResponse{status: SERVING}
  EXPECT_EQ(raw("/grpc.health.v1.Health/Check", ""), "\x08\x01");
}

// ---- partial frontiers ----

class PartialFrontiers : public Service {
 protected:
  PartialFrontiers() { partial_search_delay_ = std::chrono::milliseconds(0); }

  // Reads up to the first kernel while the search is held up.
  v1::Kernel first_kernel(grpc::ClientReader<v1::ScheduleEvent>& reader, const std::string& id = "p1.1") {
    v1::ScheduleEvent event;
    while (reader.Read(&event)) {
      if (event.has_frontier()) {
        EXPECT_TRUE(event.frontier().partial());
        EXPECT_FALSE(event.frontier().complete());
        EXPECT_EQ(event.frontier().entries(0).id(), id);
      }
      if (event.has_kernel()) return event.kernel();
    }
    ADD_FAILURE() << "the answer ended without a kernel";
    return {};
  }
};

TEST_F(PartialFrontiers, SendAKernelBeforeTheSearchEnds) {
  counted_->hold_search = true;
  grpc::ClientContext context;
  const auto reader = client_->stub().Schedule(&context, chain());
  const v1::Kernel early = first_kernel(*reader);
  EXPECT_EQ(early.id().substr(0, 3), "p1.");
  EXPECT_TRUE(early.draft());
  EXPECT_EQ(client_->download(early.digest().sha256()).second.status, grpc::StatusCode::OK);
  counted_->hold_search = false;
  v1::ScheduleEvent event;
  std::optional<v1::Frontier> last;
  std::vector<std::string> whole_kernels;
  bool done = false, early_in_full = false;
  while (reader->Read(&event)) {
    EXPECT_FALSE(event.kernel().draft()) << "one baseline is enough";
    early_in_full |= event.kernel().id() == early.id();
    if (event.has_frontier()) last = event.frontier();
    if (event.has_kernel() && event.kernel().id()[0] == 's') whole_kernels.push_back(event.kernel().id());
    done = event.has_done();
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_TRUE(done);
  EXPECT_TRUE(early_in_full);
  ASSERT_TRUE(last);
  EXPECT_FALSE(last->partial());
  EXPECT_TRUE(last->complete());
  EXPECT_EQ(whole_kernels.size(), 3u);
  // Parts of the space are not what is stored.
  EXPECT_EQ(must(chain()).frontier->entries_size(), last->entries_size());
}

// The first request's full kernels hold every permit of compilations, those of the second wait for one.
TEST_F(Service, SendsFirstKernelsWhileFullOnesHoldEveryPermitOrWait) {
  counted_->hold_compilations = true;
  v1::ScheduleRequest spmv = spmm();
  spmv.mutable_problem()->set_expression("y(i) = B(i,j) * x(j)");
  spmv.mutable_problem()->clear_constraints();
  std::list<grpc::ClientContext> contexts;
  std::list<std::unique_ptr<grpc::ClientReader<v1::ScheduleEvent>>> readers;
  std::chrono::seconds limit{60};  // earlier requests hold their permits for longer than the last one waits
  for (const v1::ScheduleRequest& request : {chain(), spmm(), spmv}) {
    auto& context = contexts.emplace_back();
    context.set_deadline(std::chrono::system_clock::now() + limit);
    limit -= std::chrono::seconds(20);
    auto& reader = readers.emplace_back(client_->stub().Schedule(&context, request));
    v1::ScheduleEvent event;
    while (reader->Read(&event) && !event.has_kernel()) continue;
    EXPECT_TRUE(event.kernel().draft()) << request.problem().expression();
    // Full kernels are ordered behind the first one. Each of the first two requests holds a permit by one.
    const auto held = static_cast<int>(std::min<std::size_t>(contexts.size(), 2));
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (counted_->compilations < held && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_GE(counted_->compilations, held);
  }
  counted_->hold_compilations = false;
  for (auto& context : contexts) context.TryCancel();
  for (auto& reader : readers) (void)reader->Finish();
}

// Issue 38: the third new problem of a script waited for the searches of the first two, for half a minute.
TEST_F(PartialFrontiers, AreSentWhileLongSearchesHoldEveryPermit) {
  partial_search_delay_ = std::chrono::milliseconds(40);  // the request's own search waits by then
  start();
  counted_->hold_search = true;
  v1::ScheduleRequest spmv = spmm();
  spmv.mutable_problem()->set_expression("y(i) = B(i,j) * x(j)");
  spmv.mutable_problem()->clear_constraints();
  std::list<grpc::ClientContext> contexts;
  std::list<std::unique_ptr<grpc::ClientReader<v1::ScheduleEvent>>> readers;
  for (const v1::ScheduleRequest& request : {chain(), spmm(), spmv}) {
    auto& context = contexts.emplace_back();
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    auto& reader = readers.emplace_back(client_->stub().Schedule(&context, request));
    EXPECT_EQ(first_kernel(*reader).id(), "p1.1") << request.problem().expression();
  }
  counted_->hold_search = false;
  for (auto& context : contexts) context.TryCancel();
  for (auto& reader : readers) (void)reader->Finish();
}

// Without copies there are loops over all elements alone, which would store each.
TEST_F(PartialFrontiers, HaveNoScheduleThatGivesTheResultMoreEntries) {
  counted_->hold_search = true;
  v1::ScheduleRequest request = spmm();
  request.mutable_problem()->set_expression("A(i,k) = B(i,j) * C(k,j)");
  request.mutable_problem()->clear_constraints();
  for (const char* tensor : {"A", "B", "C"}) (*request.mutable_problem()->mutable_formats())[tensor] = "csr";
  grpc::ClientContext context;
  const auto reader = client_->stub().Schedule(&context, request);
  EXPECT_EQ(first_kernel(*reader).trace(), "store(tensor=C, order={1,0})");
  counted_->hold_search = false;
  context.TryCancel();
  (void)reader->Finish();
}

// Issue 38: a first part without a schedule was the last, so that the whole search of 20 seconds came first.
TEST_F(PartialFrontiers, GrowUntilOneHasASchedule) {
  counted_->hold_search = true;
  v1::ScheduleRequest request = spmm();
  request.mutable_problem()->set_expression("A(i,k) = B(i(::-3),j(::2)) * C(j,k(-2:1:-3))");
  request.mutable_problem()->clear_constraints();
  (*request.mutable_problem()->mutable_formats())["C"] = "compressed,compressed";
  grpc::ClientContext context;
  const auto reader = client_->stub().Schedule(&context, request);
  EXPECT_EQ(first_kernel(*reader, "p2.1").id(), "p2.1");
  counted_->hold_search = false;
  context.TryCancel();
  (void)reader->Finish();
}

TEST_F(PartialFrontiers, AreNotSentForStoredAnswers) {
  must(chain());
  const Scheduled hit = must(chain());
  EXPECT_TRUE(hit.frontier->hit());
  for (const auto& kernel : hit.kernels) EXPECT_EQ(kernel.id()[0], 's');
}

TEST_F(PartialFrontiers, LetTheSearchOutliveTheClient) {
  counted_->hold_search = true;
  v1::ScheduleRequest request = chain();
  request.set_keep_working(true);
  grpc::ClientContext context;
  const auto reader = client_->stub().Schedule(&context, request);
  first_kernel(*reader);
  context.TryCancel();
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(counted_->cancelled, 0);
  counted_->hold_search = false;
  while (daemon_->idle() == std::chrono::steady_clock::duration::zero())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(must(chain()).done.has_value());
  EXPECT_EQ(counted_->searches, 1);  // kernels that the first client did not wait for are compiled now
}

TEST_F(PartialFrontiers, EndWithAClientThatLeavesBefore) {
  counted_->hold_search = true;
  v1::ScheduleRequest request = chain();
  request.set_keep_working(true);
  request.set_search_only(true);  // so no kernel comes
  grpc::ClientContext context;
  const auto reader = client_->stub().Schedule(&context, request);
  v1::ScheduleEvent event;
  ASSERT_TRUE(reader->Read(&event));
  context.TryCancel();
  while (counted_->cancelled == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST_F(PartialFrontiers, EndWhenTheServerStops) {
  counted_->hold_search = true;
  v1::ScheduleRequest request = chain();
  request.set_keep_working(true);
  grpc::ClientContext context;
  const auto reader = client_->stub().Schedule(&context, request);
  first_kernel(*reader);
  context.TryCancel();
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  daemon_->stop();
  EXPECT_EQ(counted_->cancelled, 1);
}

// ---- disconnecting, stopping ----

TEST_F(Service, StopsASearchWhenItsClientDisconnects) {
  counted_->hold_search = true;
  grpc::ClientContext context;
  const auto reader = client_->stub().Schedule(&context, spmm());
  v1::ScheduleEvent event;
  ASSERT_TRUE(reader->Read(&event));
  EXPECT_EQ(event.progress().stage(), "space");
  context.TryCancel();
  while (counted_->cancelled == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  counted_->hold_search = false;
  EXPECT_TRUE(must(spmm()).ok());
}

TEST_F(Service, StopsASearchAtTheClientsDeadline) {
  counted_->hold_search = true;
  const Scheduled answer = client_->schedule(spmm(), std::chrono::milliseconds(100));
  EXPECT_EQ(answer.refusal.status, grpc::StatusCode::DEADLINE_EXCEEDED);
  while (counted_->cancelled == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST_F(Service, StopsDrainingThenCancelling) {
  counted_->hold_search = true;
  auto asker = std::async(std::launch::async, [&] { return client_->schedule(spmm()); });
  while (counted_->searches == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  daemon_->stop();
  EXPECT_EQ(counted_->cancelled, 1);
  EXPECT_FALSE(asker.get().ok());
}

TEST_F(Service, LetsARunningRequestFinishWhenStopping) {
  drain_ = std::chrono::minutes(2);
  start();
  counted_->hold_search = true;
  auto asker = std::async(std::launch::async, [&] { return client_->schedule(spmm()); });
  while (counted_->searches == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  auto stopping = std::async(std::launch::async, [&] { daemon_->stop(); });
  counted_->hold_search = false;
  const Scheduled answer = asker.get();
  EXPECT_TRUE(answer.ok()) << answer.refusal.text();
  stopping.get();
}

// ---- data directory and socket ----

TEST_F(Service, RefusesASecondServerInItsDataDirectory) {
  server::DaemonOptions options;
  options.data_directory = data_;
  const auto second = Daemon::start(options, server::silent_log());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, "data-directory-in-use");
  EXPECT_TRUE(must(spmm()).ok());  // the first server is unaffected
}

TEST_F(Service, RefusesASocketAnotherServerAnswersAt) {
  server::DaemonOptions options;
  options.data_directory = directory_ / "other";
  options.listen = {daemon_->addresses().front()};
  const auto second = Daemon::start(options, server::silent_log());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(support::render(second.error()),
            "unreachable [socket-in-use]: another server answers at `" + daemon_->addresses().front() + "`");
  EXPECT_TRUE(must(spmm()).ok());
}

TEST_F(Service, ServesItsOwnerOnlyOnTheSocket) {
  struct stat status {};
  ASSERT_EQ(stat((data_ + "/schaasd.sock").c_str(), &status), 0);
  EXPECT_TRUE(S_ISSOCK(status.st_mode));
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(Service, ListensOnTcpAndUnixAtOnceWhenAskedTo) {
  server::DaemonOptions options;
  options.data_directory = directory_ / "other";
  options.listen = {"127.0.0.1:0", "unix:" + (directory_ / "extra.sock")};
  const auto daemon = Daemon::start(options, server::silent_log());
  ASSERT_TRUE(daemon.ok()) << support::render(daemon.error());
  ASSERT_EQ((*daemon)->addresses().size(), 2u);
  EXPECT_THAT((*daemon)->addresses()[0],
              testing::AllOf(testing::StartsWith("127.0.0.1:"), testing::Not(testing::EndsWith(":0"))));
  for (const auto& address : (*daemon)->addresses()) {
    test::ServiceClient client(address);
    v1::ServerInfo info;
    EXPECT_EQ(client.call(&v1::Scheduler::Stub::Info, v1::InfoRequest(), info).status, grpc::StatusCode::OK)
        << address;
  }
  server::DaemonOptions taken = options;
  taken.data_directory = directory_ / "third";
  taken.listen = {(*daemon)->addresses()[0]};
  const auto refused = Daemon::start(taken, server::silent_log());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(support::render(refused.error()), "invalid [listen]: cannot listen on `" + taken.listen[0] +
                                                  "`: the address is in use, or not one of this machine");
}

// ---- bugs ----

TEST_F(Service, ReportsBugsByIdOnly) {
  counted_->crash = true;
  const Refusal refusal = client_->schedule(spmm()).refusal;
  EXPECT_THAT(refusal.text(), testing::MatchesRegex(
                                  "INTERNAL internal \\[internal\\]: an error inside the server, not in your "
                                  "request; its id is [0-9a-f]+-[0-9]+"));
  counted_->crash = false;
  EXPECT_TRUE(must(spmm()).ok());  // and the server stays alive
}

}  // namespace
}  // namespace schaas
