#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "schaas/gpu_select.h"
#include "schaas/kernel_source.h"
#include "schaas/select.h"
#include "schaas/tuning.h"

/// Which kernel of a frontier runs: asking the server and deciding at the real sizes.
namespace schaas::client {

/// The frontier and kernels of a problem and the one of them that will run.
struct Choice {
  ScheduleAnswer answer;
  KernelInfo kernel;
  std::string reason;               ///< one sentence
  std::vector<Measured> measured;   ///< with tuning: in the order of predicted times
  double server_seconds = 0;        ///< from request to the end of the answer, as seen from here
  double first_kernel_seconds = 0;  ///< from request to the first kernel
  bool wait_ended = false;          ///< the best of what had come by then: the search goes on in the server
  double select_seconds = 0;
};

struct ChoiceRequest {
  ScheduleRequest schedule;     ///< problem, isa, no_cache; the traces are set by choose
  std::string wanted = "auto";  ///< "auto", "linear", a frontier id ("s2") or a trace
  Sizes sizes;                  ///< entries by level of every tensor, dense ones and the result too
  Machine machine;
  /// When set, schedules for this device compete too, or alone; of those the chosen one has KernelInfo::isa
  /// "cuda". `wanted` may then be one of their ids ("g3").
  std::optional<GpuTarget> gpu{};
  std::chrono::milliseconds leave_after{};  ///< after so long a kernel that has come is enough
  /// After so long nothing more is waited for: the best kernel that has come is taken.
  std::chrono::milliseconds wait_limit = std::chrono::milliseconds::max();
  /// When set (tuning): binds a kernel to the real tensors, to be run again and again.
  std::function<support::Result<TimedRun>(const ScheduleAnswer&, const KernelInfo&)> timed_run;
  double tune_seconds = 10;  ///< seconds of running; compilation comes on top
  bool tune_exclusive =
      false;  ///< nothing else runs on this machine: other measurements do not replace these
};

/// A frontier prepared to be chosen from, again and again. Copies share it. Thread-safe.
struct Selectors {
  explicit Selectors(const Frontier& frontier) : cpu(frontier.entries), gpu(frontier.gpu) {}
  Selector cpu;
  GpuSelector gpu;
};

/// Sees what the server says while it is asked, on the calling thread.
using ScheduleListener = std::function<void(const ScheduleEvent&)>;

/// Asks the server and decides. With "auto" the whole frontier is evaluated at the real sizes. The kernel of
/// the best schedule is taken when it arrives; the server finishes the others. A schedule that was not
/// compiled is asked for by name. After `leave_after`, at the latest after `wait_limit`, the best kernel that
/// has arrived is taken. Sizes that break a constraint of the problem are refused before anything runs.
/// Schedules that were measured at sizes of the same class on hosts like this come first: the fastest of them
/// wins. Measurements on GPUs are those of a device like this. With a GPU the schedule of the least predicted
/// seconds is taken, transfers of the tensors included. Where the server has no kernels for GPUs, or none
/// fits, the processor computes and the reason says so. With tuning the schedules of the least predicted
/// times run in rounds (tuning.h), the fastest is taken, and its measurements are reported to the server. A
/// deterministic choice depends on the problem, the sizes, and the host's machine parameters alone. Threads,
/// measurements, and time take no part. Errors: exhausted [wait-limit], when no kernel has come within the
/// limit; the server's; those of check_bounds; internal [no-kernel]; exhausted [gpu-memory], when the GPU is
/// alone; invalid [deterministic], when it is to be so and a wanted schedule is not.
support::Result<Choice> choose(KernelSource& source, ChoiceRequest request,
                               const ScheduleListener& listener = {});

}  // namespace schaas::client
