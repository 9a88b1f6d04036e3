#include "server/providers/kernel_trial.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <utility>

#include "compiler/toolchain/child_process.h"
#include "compiler/toolchain/temporary_directory.h"
#include "kernels_cache/file_system.h"

// One trial: the binary and the problem in a temporary folder, a child with limits, and its exit status as
// the verdict (server/trial/trial_main.cc). Only what the kernel did itself convicts it. Signals from outside
// and resources that ran out say nothing; before they were told apart, a service manager's SIGTERM put sound
// kernels into quarantine. Processor time is limited for the same reason; elapsed time has a longer limit,
// which tells of an overloaded machine.
namespace schaas::server {
namespace {

using support::Diagnostic;
using support::Result;

/// Signals that only what a process does itself raises. Others come from outside: the service manager, the
/// operator, the system when memory or processor time runs out.
constexpr std::array own_signals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};

Diagnostic undecided(const std::string& why) {
  return support::noting(
      support::exhausted("trial-undecided", "the trial of a kernel ended without a verdict: " + why),
      "nothing is known of the kernel; retry later");
}

/// Returns the verdict on a kernel whose trial was ended by a signal. Errors: exhausted [trial-undecided].
Result<TrialVerdict> verdict_of_signal(int signal, const std::string& output, int seconds) {
  if (signal == SIGXCPU) return undecided("it took " + std::to_string(seconds) + " s of processor time");
  if (std::find(own_signals.begin(), own_signals.end(), signal) == own_signals.end())
    return undecided("signal " + std::to_string(signal) + " came from outside");
  return TrialVerdict{TrialVerdict::Kind::wrong,
                      "ended by signal " + std::to_string(signal) +
                          " (it reached beyond the arrays it was given, or worse)\n" + output};
}

/// Maps the exit status of schaas-trial.
Result<TrialVerdict> verdict_of(const toolchain::ChildResult& child, int seconds) {
  using Kind = TrialVerdict::Kind;
  if (child.exit_code > 128) return verdict_of_signal(child.exit_code - 128, child.output, seconds);
  switch (child.exit_code) {
    case 0:
      return TrialVerdict{Kind::passed, child.output};
    case 1:
      return TrialVerdict{Kind::wrong, child.output};
    case 3:
      return TrialVerdict{Kind::other_processor, child.output};
    case 4:
      return TrialVerdict{Kind::skipped, child.output};
    default:
      return undecided("`schaas-trial` exited with status " + std::to_string(child.exit_code) + ": " +
                       child.output.substr(0, child.output.find('\n')));
  }
}

// Writes a file whole: a truncated kernel would fail its trial.
Result<void> write(const std::string& path, const std::string& bytes) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.close();
  if (file) return {};
  return kernels_cache::file_error("write `" + path + "` for the trial of a kernel",
                                   errno == 0 ? ENOSPC : errno);
}

}  // namespace

KernelTrial make_process_trial(TrialOptions options) {
  return [options = std::move(options)](const std::string& binary, const std::string& problem,
                                        const support::Cancellation& cancellation) -> Result<TrialVerdict> {
    SCHAAS_ASSIGN_OR_RETURN(const auto directory, toolchain::TemporaryDirectory::make(""));
    SCHAAS_RETURN_IF_ERROR(write(directory.path() + "/kernel.so", binary));
    SCHAAS_RETURN_IF_ERROR(write(directory.path() + "/problem", problem));
    toolchain::ChildOptions child;
    child.processes = toolchain::Processes::one;
    child.program = options.program;
    child.arguments = {directory.path(), std::to_string(options.seed)};
    // Passive waiting spends no processor time, which is limited.
    child.environment = {"LC_ALL=C", "OMP_WAIT_POLICY=passive"};
    child.working_directory = directory.path();
    child.wall_time = options.wall_time;
    child.cpu_seconds = options.seconds;
    SCHAAS_ASSIGN_OR_RETURN(const auto result, toolchain::run_child(child, cancellation));
    if (result.exit_code == 127) {
      return support::exhausted("no-process", "`" + options.program + "` could not be started");
    }
    if (result.timed_out) {
      return support::noting(
          support::exhausted("trial-timeout", "the trial of a kernel did not end within " +
                                                  std::to_string(options.wall_time.count() / 1000) + " s"),
          "the machine is overloaded; retry later");
    }
    return verdict_of(result, options.seconds);
  };
}

}  // namespace schaas::server
