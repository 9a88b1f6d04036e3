#include "server/providers/coalescing_provider.h"

#include <utility>

#include "server/providers/single_flight.h"

// Equal requests at the same time share one answer (single_flight.h). Keys contain everything that the answer
// depends on. The progress of the first caller is the only one that is reported.
namespace schaas::server {
namespace {

using support::Cancellation;
using support::Result;

// Separates requests by source: one that wants a fresh answer must not share a stored one.
std::string kind(Source source) { return std::to_string(static_cast<int>(source)) + " "; }

class CoalescingProvider final : public KernelProvider {
 public:
  explicit CoalescingProvider(std::unique_ptr<KernelProvider> next) : next_(std::move(next)) {}

  Result<FrontierAnswer> frontier(const FrontierQuery& query, const frontier::Progress& progress,
                                  const Cancellation& cancellation) override {
    // A request with more time must not share an answer that a nearer deadline cuts.
    const std::string key = kind(query.source) + query.canonical.key + " " +
                            fingerprint(within_deadline(query.options, query.requester.deadline));
    bool joined = false;
    auto answer = frontiers_.run(
        key, cancellation, [&] { return next_->frontier(query, progress, cancellation); }, joined);
    if (joined && answer.ok()) answer->hit = true;
    return answer;
  }

  Result<KernelAnswer> kernel(const KernelQuery& query, const Cancellation& cancellation) override {
    bool joined = false;
    auto answer = kernels_.run(
        kind(query.source) + query.kernel_key, cancellation,
        [&] { return next_->kernel(query, cancellation); }, joined);
    if (joined && answer.ok()) answer->hit = true;
    return answer;
  }

 private:
  std::unique_ptr<KernelProvider> next_;
  SingleFlight<FrontierAnswer> frontiers_;
  SingleFlight<KernelAnswer> kernels_;
};

}  // namespace

std::unique_ptr<KernelProvider> make_coalescing_provider(std::unique_ptr<KernelProvider> next) {
  return std::make_unique<CoalescingProvider>(std::move(next));
}

}  // namespace schaas::server
