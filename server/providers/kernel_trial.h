#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "compiler/support/cancellation.h"
#include "compiler/support/result.h"

namespace schaas::server {

/// Outcome of a trial.
struct TrialVerdict {
  enum class Kind {
    passed,
    wrong,            ///< a result other than the oracle's, or a crash
    other_processor,  ///< needs an instruction set this machine lacks
    skipped,          ///< its extents are too large for a trial
  } kind = Kind::passed;
  std::string report;  ///< one or a few lines: the runs made, or the error
};

/// Runs a compiled kernel (a shared object's bytes) on small tensors of the problem with that canonical text.
/// Thread-safe. Errors: those of the cancellation; exhausted [no-process], [temporary-directory],
/// [trial-timeout], and [trial-undecided]: ended from outside, or for want of memory or processor time.
using KernelTrial = std::function<support::Result<TrialVerdict>(
    const std::string& binary, const std::string& problem, const support::Cancellation& cancellation)>;

struct TrialOptions {
  std::string program;  ///< path of schaas-trial
  std::uint64_t seed = 1;
  int seconds = 20;  ///< processor time, after which nothing is known of the kernel
  /// Elapsed time, after which the machine counts as overloaded and the kernel as unknown.
  std::chrono::milliseconds wall_time{120'000};
};
/// Creates a trial in a child process with limits of time and memory, killed with its process group.
KernelTrial make_process_trial(TrialOptions options);

}  // namespace schaas::server
