#include "server/providers/instrumented_provider.h"

#include <chrono>
#include <utility>

// Two decorators at both ends of the stack. The outer one counts answers as clients see them, the inner one
// times the work that is done. Neither changes an answer.
namespace schaas::server {
namespace {

using support::Cancellation;
using support::Result;
using Counter = Metrics::Counter;

// Elapsed time since construction.
class Watch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

class CountingProvider final : public KernelProvider {
 public:
  CountingProvider(std::unique_ptr<KernelProvider> next, std::shared_ptr<Metrics> metrics)
      : next_(std::move(next)), metrics_(std::move(metrics)) {}

  Result<FrontierAnswer> frontier(const FrontierQuery& query, const frontier::Progress& progress,
                                  const Cancellation& cancellation) override {
    return counted(next_->frontier(query, progress, cancellation), query.source, Counter::frontiers);
  }
  Result<KernelAnswer> kernel(const KernelQuery& query, const Cancellation& cancellation) override {
    return counted(next_->kernel(query, cancellation), query.source, Counter::kernels);
  }

 private:
  // Counts an answer. Queries for stored answers are followed by the full one, so they are not counted.
  template <class Answer>
  Result<Answer> counted(Result<Answer> answer, Source source, Counter family) {
    const char* how = !answer.ok() ? "failed" : answer->hit ? "hit" : "made";
    if (source != Source::stored) metrics_->add(family, {{"answer", how}});
    return answer;
  }

  std::unique_ptr<KernelProvider> next_;
  std::shared_ptr<Metrics> metrics_;
};

class TimingProvider final : public KernelProvider {
 public:
  TimingProvider(std::unique_ptr<KernelProvider> next, std::shared_ptr<Metrics> metrics)
      : next_(std::move(next)), metrics_(std::move(metrics)) {}

  Result<FrontierAnswer> frontier(const FrontierQuery& query, const frontier::Progress& progress,
                                  const Cancellation& cancellation) override {
    const Watch watch;
    auto answer = next_->frontier(query, progress, cancellation);
    stage("search", watch.seconds());
    if (!answer.ok()) return answer;
    const frontier::Seconds& seconds = answer->frontier->seconds;
    // Parts of a search, as the search itself measured them.
    stage("search-space", seconds.space);
    stage("search-proofs", seconds.stage3);
    const frontier::Counts& counts = answer->frontier->counts;
    metrics_->add(Counter::solver_queries, {}, static_cast<double>(counts.solver_queries));
    metrics_->add(Counter::solver_unknown, {}, static_cast<double>(counts.solver_unknown));
    return answer;
  }

  Result<KernelAnswer> kernel(const KernelQuery& query, const Cancellation& cancellation) override {
    const Watch watch;
    auto answer = next_->kernel(query, cancellation);
    stage("compile", watch.seconds());
    metrics_->add(Counter::compile_seconds, {}, watch.seconds());
    return answer;
  }

 private:
  void stage(const char* name, double seconds) {
    metrics_->observe(Metrics::Times::stage, {{"stage", name}}, seconds);
  }

  std::unique_ptr<KernelProvider> next_;
  std::shared_ptr<Metrics> metrics_;
};

}  // namespace

std::unique_ptr<KernelProvider> make_counting_provider(std::unique_ptr<KernelProvider> next,
                                                       std::shared_ptr<Metrics> metrics) {
  return std::make_unique<CountingProvider>(std::move(next), std::move(metrics));
}

std::unique_ptr<KernelProvider> make_timing_provider(std::unique_ptr<KernelProvider> next,
                                                     std::shared_ptr<Metrics> metrics) {
  return std::make_unique<TimingProvider>(std::move(next), std::move(metrics));
}

KernelTrial timed(KernelTrial trial, std::shared_ptr<Metrics> metrics) {
  return [trial = std::move(trial), metrics = std::move(metrics)](
             const std::string& binary, const std::string& problem, const Cancellation& cancellation) {
    const Watch watch;
    auto verdict = trial(binary, problem, cancellation);
    metrics->observe(Metrics::Times::stage, {{"stage", "trial"}}, watch.seconds());
    return verdict;
  };
}

}  // namespace schaas::server
