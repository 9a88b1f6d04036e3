#include "server/admitting_provider.h"

#include <utility>

#include "server/slots.h"

namespace schaas::server {
namespace {

class AdmittingProvider final : public KernelProvider {
 public:
  AdmittingProvider(std::unique_ptr<KernelProvider> next, Admission admission)
      : next_(std::move(next)), searches_(admission.searches), compilations_(admission.compilations) {}

  support::Result<FrontierAnswer> frontier(const FrontierQuery& query, const frontier::Progress& progress,
                                           const support::Cancellation& cancellation) override {
    SCHAAS_ASSIGN_OR_RETURN(const Slots::Place place, searches_.take(cancellation));
    return next_->frontier(query, progress, cancellation);
  }

  support::Result<KernelAnswer> kernel(const KernelQuery& query,
                                       const support::Cancellation& cancellation) override {
    SCHAAS_ASSIGN_OR_RETURN(const Slots::Place place, compilations_.take(cancellation));
    return next_->kernel(query, cancellation);
  }

 private:
  std::unique_ptr<KernelProvider> next_;
  Slots searches_;
  Slots compilations_;
};

}  // namespace

std::unique_ptr<KernelProvider> make_admitting_provider(std::unique_ptr<KernelProvider> next,
                                                        Admission admission) {
  return std::make_unique<AdmittingProvider>(std::move(next), admission);
}

}  // namespace schaas::server
