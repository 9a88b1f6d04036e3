#include "server/providers/admitting_provider.h"

#include <chrono>
#include <utility>

// Below the cache, so that stored answers never wait, and above validation: a permit covers compilation and
// trial. Time in the queue is measured whether the permit came or not.
namespace schaas::server {
namespace {

class AdmittingProvider final : public KernelProvider {
 public:
  AdmittingProvider(std::unique_ptr<KernelProvider> next, const AdmissionQueues& queues,
                    std::shared_ptr<Metrics> metrics)
      : next_(std::move(next)), queues_(queues), metrics_(std::move(metrics)) {}

  support::Result<FrontierAnswer> frontier(const FrontierQuery& query, const frontier::Progress& progress,
                                           const support::Cancellation& cancellation) override {
    SCHAAS_ASSIGN_OR_RETURN(const AdmissionQueue::Permit permit,
                            acquire(*queues_.searches, "search", query, cancellation));
    return next_->frontier(query, progress, cancellation);
  }

  support::Result<KernelAnswer> kernel(const KernelQuery& query,
                                       const support::Cancellation& cancellation) override {
    SCHAAS_ASSIGN_OR_RETURN(const AdmissionQueue::Permit permit,
                            acquire(*queues_.compilations, "compile", query, cancellation));
    return next_->kernel(query, cancellation);
  }

 private:
  template <class Query>
  support::Result<AdmissionQueue::Permit> acquire(AdmissionQueue& queue, const std::string& what,
                                                  const Query& query,
                                                  const support::Cancellation& cancellation) {
    const auto start = std::chrono::steady_clock::now();
    auto permit = queue.acquire(query.priority, query.requester.client, cancellation);
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
    metrics_->observe(Metrics::Times::stage, {{"stage", "wait-" + what}}, waited.count());
    if (!permit.ok() && permit.error().code == "overloaded")
      metrics_->add(Metrics::Counter::refused, {{"for", what}});
    return permit;
  }

  std::unique_ptr<KernelProvider> next_;
  const AdmissionQueues queues_;
  std::shared_ptr<Metrics> metrics_;
};

}  // namespace

AdmissionQueues::AdmissionQueues(const Admission& admission)
    : searches(std::make_shared<AdmissionQueue>(admission.searches, admission.waiting_searches, "searches")),
      compilations(std::make_shared<AdmissionQueue>(admission.compilations, admission.waiting_compilations,
                                                    "compilations")) {}

std::unique_ptr<KernelProvider> make_admitting_provider(std::unique_ptr<KernelProvider> next,
                                                        const AdmissionQueues& queues,
                                                        std::shared_ptr<Metrics> metrics) {
  return std::make_unique<AdmittingProvider>(std::move(next), queues, std::move(metrics));
}

}  // namespace schaas::server
