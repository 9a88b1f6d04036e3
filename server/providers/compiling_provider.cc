#include "server/providers/compiling_provider.h"

#include <chrono>
#include <utility>

#include "compiler/pipeline/pipeline.h"
#include "compiler/pipeline/variants.h"

// The end of the stack: the compiler itself, without memory. Everything above may leave it out, so it must be
// right for any query.
namespace schaas::server {
namespace {

using support::Cancellation;
using support::Result;

class CompilingProvider final : public KernelProvider {
 public:
  explicit CompilingProvider(std::shared_ptr<toolchain::Toolchain> toolchain)
      : toolchain_(std::move(toolchain)) {}

  Result<FrontierAnswer> frontier(const FrontierQuery& query, const frontier::Progress& progress,
                                  const Cancellation& cancellation) override {
    const frontier::Options options = within_deadline(query.options, query.requester.deadline);
    SCHAAS_ASSIGN_OR_RETURN(frontier::Frontier found,
                            frontier::compute(query.canonical.problem, options, progress, cancellation));
    pipeline::add_variants(found, query.canonical.problem);
    return FrontierAnswer{std::make_shared<const frontier::Frontier>(std::move(found)), false,
                          options.search_seconds};
  }

  Result<KernelAnswer> kernel(const KernelQuery& query, const Cancellation& cancellation) override {
    const auto start = std::chrono::steady_clock::now();
    SCHAAS_ASSIGN_OR_RETURN(std::string bytes, pipeline::compile(query.canonical, query.trace, query.target,
                                                                 *toolchain_, cancellation));
    KernelAnswer answer;
    answer.digest = support::digest_of(bytes);
    answer.bytes = std::make_shared<const std::string>(std::move(bytes));
    answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return answer;
  }

 private:
  std::shared_ptr<toolchain::Toolchain> toolchain_;
};

}  // namespace

std::unique_ptr<KernelProvider> make_compiling_provider(std::shared_ptr<toolchain::Toolchain> toolchain) {
  return std::make_unique<CompilingProvider>(std::move(toolchain));
}

}  // namespace schaas::server
