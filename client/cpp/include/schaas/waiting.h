#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

namespace schaas::client {

/// Progress of a wait at some moment.
struct WaitProgress {
  std::string stage;               ///< "connecting", "searching", "compiling", "loading"
  std::uint64_t done = 0, of = 0;  ///< units of the stage; `of` == 0: unknown
  int kernels = 0;                 ///< full kernels that have come
  int kernels_of = 0;              ///< kernels that will come without further requests; 0: unknown
  double seconds = 0;              ///< waited so far
};

/// Limits and interruption of the wait for kernels.
struct WaitOptions {
  /// Not set: the call waits for the first kernel that can run, however long that takes, and for no better
  /// one. Set: it waits for the best kernel, but no longer; 0: it takes what is at hand.
  std::optional<std::chrono::milliseconds> limit{};
  /// Without a limit: for so long after the search began a better kernel is waited for, too.
  std::chrono::milliseconds leave_after{};
  /// Called on the waiting thread, when a wait begins and at least each 50 ms; false ends the call:
  /// exhausted [cancelled]. May be empty.
  std::function<bool(const WaitProgress&)> progress{};
  /// Ends the call from another thread at once: exhausted [cancelled].
  std::stop_token stop{};
};

}  // namespace schaas::client
