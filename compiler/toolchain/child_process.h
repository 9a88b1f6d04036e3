#pragma once
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "compiler/support/cancellation.h"
#include "compiler/support/result.h"
#include "compiler/toolchain/call_filter.h"

namespace schaas::toolchain {

/// A program to run to its end. No shell is involved and nothing is inherited. Standard input is empty, the
/// environment is exactly `environment`, other descriptors are closed, and it can touch little (isolation.h).
/// Where this process is the superuser, an isolated child has a user of its own, to whom the working
/// directory is given (child_user.h).
struct ChildOptions {
  std::string program;                   ///< path
  std::vector<std::string> arguments;    ///< without the program's name
  std::vector<std::string> environment;  ///< "NAME=value"
  std::string working_directory;
  std::chrono::milliseconds wall_time{60'000};
  int cpu_seconds = 60;
  std::size_t memory_bytes = std::size_t{2} << 30;  ///< address space of each process
  std::size_t file_bytes = std::size_t{256} << 20;  ///< largest file it may write
  bool isolated = true;
  Processes processes = Processes::several;  ///< counts for an isolated child alone
  std::vector<std::string> readable;         ///< folders and files beside the system's and the program's own
  std::size_t output_bytes = std::size_t{64} << 10;  ///< kept of its output; the rest is read and dropped
};

struct ChildResult {
  int exit_code = 0;       ///< 127 when the program could not be started; 128 + signal when one ended it
  bool timed_out = false;  ///< killed, with all processes of its group, after wall_time
  std::string output;      ///< standard output and error together
};

/// Runs in its own process group, which is gone, every process of it, when the call returns. Thread-safe.
/// Errors: those of `cancellation` (the group is killed first); exhausted [no-process] when the system
/// refuses a process or pipe.
support::Result<ChildResult> run_child(const ChildOptions& options,
                                       const support::Cancellation& cancellation);

}  // namespace schaas::toolchain
