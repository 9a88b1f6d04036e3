#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "compiler/support/cancellation.h"
#include "compiler/support/result.h"

namespace schaas::server {

/// What a trial of a kernel found.
struct TrialVerdict {
  enum class Kind {
    passed,
    wrong,            ///< another result than the oracle's, a crash, no end
    other_processor,  ///< made for an instruction set this machine does not have
    not_tried,        ///< its fixed extents are too large for a trial
  } kind = Kind::passed;
  std::string report;  ///< what was run, or what is wrong: one or a few lines
};

/// Tries a compiled kernel (a shared object's bytes) for the problem of that canonical text. Thread-safe.
/// Errors: those of the cancellation; exhausted [no-process], [temporary-directory], [trial-timeout].
using KernelTrial = std::function<support::Result<TrialVerdict>(
    const std::string& binary, const std::string& problem, const support::Cancellation& cancellation)>;

struct TrialOptions {
  std::string program;  ///< path of schaas-trial
  std::uint64_t seed = 1;
  int seconds = 20;  ///< of processor time; then the kernel counts as wrong
  /// By the clock; then the machine counts as overloaded, and nothing is known of the kernel.
  std::chrono::milliseconds patience{120'000};
};
/// In a child process with limits of time and memory that dies with its group.
KernelTrial make_process_trial(TrialOptions options);

}  // namespace schaas::server
