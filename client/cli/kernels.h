#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/progress.h"
#include "compiler/support/result.h"
#include "schaas/connection.h"
#include "schaas/select.h"

namespace schaas::cli {

/// Seconds of one schedule, measured on the real tensors.
struct Measured {
  std::string id;
  double seconds = 0;
};

/// The frontier and kernels of a problem and the one of them that will run.
struct Choice {
  client::ScheduleAnswer answer;
  client::KernelInfo kernel;
  std::string reason;               ///< one sentence
  std::vector<Measured> measured;   ///< with tuning: every compiled schedule of the frontier
  double server_seconds = 0;        ///< from request to the end of the answer, as seen from here
  double first_kernel_seconds = 0;  ///< from request to the first kernel
  bool out_of_patience = false;     ///< the best of what had come by then: the search goes on in the server
  double select_seconds = 0;
};

struct ChoiceRequest {
  client::ScheduleRequest schedule;  ///< problem, isa, no_cache; the traces are set by choose
  std::string wanted = "auto";       ///< "auto", "linear", a frontier id ("s2") or a trace
  client::Sizes sizes;               ///< entries by level of every tensor, dense ones and the result too
  client::Machine machine;
  std::chrono::milliseconds patience{};  ///< after so long the best kernel that has come is taken
  bool whole_answer = false;  ///< wait for every kernel: nothing must be compiled while the chosen one runs
  /// When set (tuning): seconds of a kernel on the real tensors.
  std::function<support::Result<double>(const client::ScheduleAnswer&, const client::KernelInfo&)> measure;
};

/// Asks the server and decides. With "auto" the whole frontier is evaluated at the real sizes; when the
/// kernel of the schedule that wins comes it is taken, the others are finished without us. One that was not
/// among those compiled is asked for by name. When patience is over, or the search has found only a part of
/// the space by then, the best kernel that has come is taken. Sizes that break a constraint of the problem
/// are refused before anything runs. Errors: the server's; those of client::check_bounds; internal
/// [no-kernel].
support::Result<Choice> choose(client::Connection& connection, ChoiceRequest request, ProgressLine& progress);

/// Shows the stages of the server on the progress line; always goes on.
std::function<bool(const client::ScheduleEvent&)> show_events(ProgressLine& progress);

}  // namespace schaas::cli
