#include "server/providers/validating_provider.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "compiler/pipeline/pipeline.h"
#include "server/storage/quarantine.h"

namespace schaas::server {
namespace {

using support::Cancellation;
using support::Diagnostic;
using support::Result;

/// Instruction sets a trial falls back to, best first; only those after the kernel's own are tried.
constexpr std::array<std::string_view, 3> fallbacks = {"x86-64-v3", "x86-64-v2", "generic"};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

class ValidatingProvider final : public KernelProvider {
 public:
  ValidatingProvider(std::unique_ptr<KernelProvider> next, KernelTrial trial, std::string quarantine, Log log)
      : next_(std::move(next)),
        trial_(std::move(trial)),
        quarantine_(std::move(quarantine)),
        log_(std::move(log)) {}

  Result<FrontierAnswer> frontier(const FrontierQuery& query, const frontier::Progress& progress,
                                  const Cancellation& cancellation) override {
    return next_->frontier(query, progress, cancellation);
  }

  Result<KernelAnswer> kernel(const KernelQuery& query, const Cancellation& cancellation) override {
    if (query.source != Source::made) {
      if (const auto reason = quarantine_.reason(query.kernel_key)) return rejected(query, *reason);
    }
    SCHAAS_ASSIGN_OR_RETURN(KernelAnswer answer, next_->kernel(query, cancellation));
    if (query.target.isa == "cuda") return answer;  // a trial runs on a CPU
    SCHAAS_ASSIGN_OR_RETURN(TrialVerdict verdict, trial_(*answer.bytes, query.canonical.text, cancellation));
    if (verdict.kind == TrialVerdict::Kind::other_processor) {
      SCHAAS_ASSIGN_OR_RETURN(verdict, validate_for_this_processor(query, cancellation));
    }
    switch (verdict.kind) {
      case TrialVerdict::Kind::passed:
        return answer;
      case TrialVerdict::Kind::wrong:
        quarantine(query, *answer.bytes, verdict.report);
        return rejected(query, first_line(verdict.report));
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
    const auto own = std::find(fallbacks.begin(), fallbacks.end(), query.target.isa);
    for (auto isa = own == fallbacks.end() ? fallbacks.begin() : own + 1; isa != fallbacks.end(); ++isa) {
      KernelQuery twin = query;
      twin.target.isa = *isa;
      SCHAAS_ASSIGN_OR_RETURN(const KernelAnswer answer, next_->kernel(twin, cancellation));
      SCHAAS_ASSIGN_OR_RETURN(verdict, trial_(*answer.bytes, query.canonical.text, cancellation));
      if (verdict.kind != TrialVerdict::Kind::other_processor) break;
    }
    return verdict;
  }

  static Diagnostic rejected(const KernelQuery& query, const std::string& why) {
    return support::noting(
        support::internal("kernel-rejected", "the kernel of schedule `" + schedule::print(query.trace) +
                                                 "` failed its trial and is not served: " + why),
        "the server keeps it in quarantine as " + query.kernel_key);
  }

  void quarantine(const KernelQuery& query, const std::string& bytes, const std::string& report) {
    log_->error("kernel {} failed validation and is quarantined: {}", query.kernel_key, report);
    const std::string facts = report + "\nschedule " + schedule::print(query.trace) + "\nisa " +
                              query.target.isa + "\ncode " + std::to_string(pipeline::code_version) + "\n" +
                              query.canonical.text;
    if (!quarantine_.add(query.kernel_key, bytes, facts))
      log_->error("cannot write kernel {} to quarantine", query.kernel_key);
  }

  std::unique_ptr<KernelProvider> next_;
  KernelTrial trial_;
  const Quarantine quarantine_;
  Log log_;
};

}  // namespace

std::unique_ptr<KernelProvider> make_validating_provider(std::unique_ptr<KernelProvider> next,
                                                         KernelTrial trial, std::string quarantine, Log log) {
  return std::make_unique<ValidatingProvider>(std::move(next), std::move(trial), std::move(quarantine),
                                              std::move(log));
}

}  // namespace schaas::server
