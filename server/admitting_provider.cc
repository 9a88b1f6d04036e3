#include "server/admitting_provider.h"

#include <chrono>
#include <utility>

namespace schaas::server {
namespace {

class AdmittingProvider final : public KernelProvider {
 public:
  AdmittingProvider(std::unique_ptr<KernelProvider> next, const Lines& lines,
                    std::shared_ptr<Metrics> metrics)
      : next_(std::move(next)), lines_(lines), metrics_(std::move(metrics)) {}

  support::Result<FrontierAnswer> frontier(const FrontierQuery& query, const frontier::Progress& progress,
                                           const support::Cancellation& cancellation) override {
    SCHAAS_ASSIGN_OR_RETURN(const Slots::Place place,
                            take(*lines_.searches, "search", query.urgency, cancellation));
    return next_->frontier(query, progress, cancellation);
  }

  support::Result<KernelAnswer> kernel(const KernelQuery& query,
                                       const support::Cancellation& cancellation) override {
    SCHAAS_ASSIGN_OR_RETURN(const Slots::Place place,
                            take(*lines_.compilations, "compile", query.urgency, cancellation));
    return next_->kernel(query, cancellation);
  }

 private:
  support::Result<Slots::Place> take(Slots& line, const std::string& what, Urgency urgency,
                                     const support::Cancellation& cancellation) {
    const auto start = std::chrono::steady_clock::now();
    auto place = line.take(urgency, cancellation);
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
    metrics_->observe(Metrics::Times::stage, {{"stage", "wait-" + what}}, waited.count());
    if (!place.ok() && place.error().code == "overloaded")
      metrics_->add(Metrics::Counter::refused, {{"for", what}});
    return place;
  }

  std::unique_ptr<KernelProvider> next_;
  const Lines lines_;
  std::shared_ptr<Metrics> metrics_;
};

}  // namespace

Lines::Lines(const Admission& admission)
    : searches(std::make_shared<Slots>(admission.searches, admission.waiting_searches, "searches")),
      compilations(
          std::make_shared<Slots>(admission.compilations, admission.waiting_compilations, "compilations")) {}

std::unique_ptr<KernelProvider> make_admitting_provider(std::unique_ptr<KernelProvider> next,
                                                        const Lines& lines,
                                                        std::shared_ptr<Metrics> metrics) {
  return std::make_unique<AdmittingProvider>(std::move(next), lines, std::move(metrics));
}

}  // namespace schaas::server
