#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "compiler/support/cancellation.h"
#include "compiler/support/result.h"
#include "compiler/toolchain/child_process.h"

namespace schaas::toolchain {

/// Limits of one question.
struct Patience {
  std::chrono::milliseconds wall;
  /// Processor time of the process, which other work on the machine does not lengthen; none: no limit.
  std::optional<std::chrono::milliseconds> processor;
};

/// A program that answers lines with lines for as long as it is wanted; killed, with its group, when this
/// goes out of scope or it did not answer in time. To be used by the thread that started it.
class WorkerProcess {
 public:
  /// Limits as in ChildOptions; `wall_time` and `output_bytes` are not used. The program has started when
  /// the first line came. Errors: exhausted [no-process].
  static support::Result<WorkerProcess> start(const ChildOptions& options);
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&&) = delete;
  ~WorkerProcess();

  /// Sends the text (may be empty) and waits for a line, which is returned without its end. After an error
  /// the process is not to be used again. Errors: exhausted [worker-late] after the wall time of `patience`,
  /// [worker-busy] after its processor time, [worker-ended], [worker-garbage] (a line beyond 64 KiB); those
  /// of `cancellation`, within 10 ms.
  support::Result<std::string> ask(const std::string& text, const Patience& patience,
                                   const support::Cancellation& cancellation);

 private:
  WorkerProcess(std::string program, pid_t pid, int channel);

  std::string program_;
  pid_t pid_;
  int channel_;
  std::string read_;  ///< beyond the last line
};

}  // namespace schaas::toolchain
