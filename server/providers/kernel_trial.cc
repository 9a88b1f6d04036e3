#include "server/providers/kernel_trial.h"

#include <csignal>
#include <fstream>
#include <utility>

#include "compiler/toolchain/child_process.h"
#include "compiler/toolchain/temporary_directory.h"

namespace schaas::server {
namespace {

using support::Result;

/// Maps the exit status of schaas-trial.
TrialVerdict::Kind kind_of(int exit_code) {
  switch (exit_code) {
    case 0:
      return TrialVerdict::Kind::passed;
    case 3:
      return TrialVerdict::Kind::other_processor;
    case 4:
      return TrialVerdict::Kind::skipped;
    default:
      return TrialVerdict::Kind::wrong;
  }
}

std::string report_of(const toolchain::ChildResult& child, int seconds) {
  if (child.exit_code == 128 + SIGXCPU)
    return "no end after " + std::to_string(seconds) + " s of processor time\n" + child.output;
  if (child.exit_code <= 128) return child.output;
  return "ended by signal " + std::to_string(child.exit_code - 128) +
         " (it reached beyond the arrays it was given, or worse)\n" + child.output;
}

// Writes a file whole: a truncated kernel would fail its trial.
Result<void> write(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.close();
  if (file) return {};
  return support::exhausted("disk-full",
                            "cannot write `" + path + "` for the trial of a kernel: the disk is full");
}

}  // namespace

KernelTrial make_process_trial(TrialOptions options) {
  return [options = std::move(options)](const std::string& binary, const std::string& problem,
                                        const support::Cancellation& cancellation) -> Result<TrialVerdict> {
    SCHAAS_ASSIGN_OR_RETURN(const auto directory, toolchain::TemporaryDirectory::make(""));
    SCHAAS_RETURN_IF_ERROR(write(directory.path() + "/kernel.so", binary));
    SCHAAS_RETURN_IF_ERROR(write(directory.path() + "/problem", problem));
    toolchain::ChildOptions child;
    child.program = options.program;
    child.arguments = {directory.path(), std::to_string(options.seed)};
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
    return TrialVerdict{kind_of(result.exit_code), report_of(result, options.seconds)};
  };
}

}  // namespace schaas::server
