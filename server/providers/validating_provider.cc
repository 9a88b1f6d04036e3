#include "server/providers/validating_provider.h"

#include <algorithm>
#include <utility>

#include "compiler/pipeline/pipeline.h"
#include "compiler/support/instruction_set.h"

// No kernel is served before it ran beside the oracle in a child process. A wrong result or a crash of its
// own puts it into quarantine, which is asked before the next compilation. A kernel for instructions that
// this machine lacks is judged by the same schedule compiled for a lower instruction set. What cannot be
// tried at all is served with a warning. Errors that say nothing about the kernel (overload, memory) are
// errors of the request, never a verdict.
namespace schaas::server {
namespace {

using support::Cancellation;
using support::Diagnostic;
using support::Result;

/// Instruction sets that a trial of a kernel falls back to, best first.
std::vector<std::string> fallbacks(const std::string& isa) {
  const support::InstructionSet* own = support::find_instruction_set(isa);
  std::vector<const support::InstructionSet*> lower;
  for (const auto& one : support::instruction_sets())
    if (one.device == support::Device::processor && own != nullptr && one.rank < own->rank)
      lower.push_back(&one);
  std::sort(lower.begin(), lower.end(), [](const auto* a, const auto* b) { return a->rank > b->rank; });
  std::vector<std::string> names;
  for (const auto* one : lower) names.push_back(one->name);
  return names;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

class ValidatingProvider final : public KernelProvider {
 public:
  ValidatingProvider(std::unique_ptr<KernelProvider> next, KernelTrial trial,
                     std::shared_ptr<const Quarantine> quarantine, Log log)
      : next_(std::move(next)),
        trial_(std::move(trial)),
        quarantine_(std::move(quarantine)),
        log_(std::move(log)) {}

  Result<FrontierAnswer> frontier(const FrontierQuery& query, const frontier::Progress& progress,
                                  const Cancellation& cancellation) override {
    return next_->frontier(query, progress, cancellation);
  }

  Result<KernelAnswer> kernel(const KernelQuery& query, const Cancellation& cancellation) override {
    // A client that insists on a new kernel gets a new trial as well.
    if (query.source != Source::made) {
      if (const auto reason = quarantine_->reason(query.kernel_key)) return rejected(query, *reason, true);
    }
    SCHAAS_ASSIGN_OR_RETURN(KernelAnswer answer, next_->kernel(query, cancellation));
    if (support::is_for_gpu(query.target.isa)) return answer;  // a trial runs on a CPU
    SCHAAS_ASSIGN_OR_RETURN(TrialVerdict verdict, trial_(*answer.bytes, query.canonical.text, cancellation));
    if (verdict.kind == TrialVerdict::Kind::other_processor) {
      SCHAAS_ASSIGN_OR_RETURN(verdict, validate_for_this_processor(query, cancellation));
    }
    switch (verdict.kind) {
      case TrialVerdict::Kind::passed:
        return answer;
      case TrialVerdict::Kind::wrong:
        return rejected(query, first_line(verdict.report), quarantine(query, *answer.bytes, verdict.report));
      case TrialVerdict::Kind::other_processor:
      case TrialVerdict::Kind::skipped:
        log_->warn("kernel {} is served without validation: {}", query.kernel_key,
                   first_line(verdict.report));
        return answer;
    }
    return answer;
  }

 private:
  /// Compiles and tries the same schedule for the best instruction set of this machine; only the register
  /// width differs.
  Result<TrialVerdict> validate_for_this_processor(const KernelQuery& query,
                                                   const Cancellation& cancellation) {
    TrialVerdict verdict{TrialVerdict::Kind::other_processor, "no instruction set of this machine is left\n"};
    for (const std::string& isa : fallbacks(query.target.isa)) {
      KernelQuery twin = query;
      twin.target.isa = isa;
      SCHAAS_ASSIGN_OR_RETURN(const KernelAnswer answer, next_->kernel(twin, cancellation));
      SCHAAS_ASSIGN_OR_RETURN(verdict, trial_(*answer.bytes, query.canonical.text, cancellation));
      if (verdict.kind != TrialVerdict::Kind::other_processor) break;
    }
    return verdict;
  }

  static Diagnostic rejected(const KernelQuery& query, const std::string& why, bool kept) {
    return support::noting(
        support::internal("kernel-rejected", "the kernel of schedule `" + schedule::print(query.trace) +
                                                 "` failed its trial and is not served: " + why),
        kept ? "the server keeps it in quarantine as " + query.kernel_key
             : "the server's log has its report; its quarantine takes no more kernels");
  }

  /// Returns whether the kernel is kept.
  bool quarantine(const KernelQuery& query, const std::string& bytes, const std::string& report) {
    log_->error("kernel {} failed validation and is quarantined: {}", query.kernel_key, report);
    const std::string facts = report + "\nschedule " + schedule::print(query.trace) + "\nisa " +
                              query.target.isa + "\ncode " + std::to_string(pipeline::code_version) + "\n" +
                              query.canonical.text;
    const bool kept = quarantine_->add(query.kernel_key, bytes, facts);
    if (!kept) log_->error("cannot write kernel {} to quarantine", query.kernel_key);
    return kept;
  }

  std::unique_ptr<KernelProvider> next_;
  KernelTrial trial_;
  const std::shared_ptr<const Quarantine> quarantine_;
  Log log_;
};

}  // namespace

std::unique_ptr<KernelProvider> make_validating_provider(std::unique_ptr<KernelProvider> next,
                                                         KernelTrial trial,
                                                         std::shared_ptr<const Quarantine> quarantine,
                                                         Log log) {
  return std::make_unique<ValidatingProvider>(std::move(next), std::move(trial), std::move(quarantine),
                                              std::move(log));
}

}  // namespace schaas::server
