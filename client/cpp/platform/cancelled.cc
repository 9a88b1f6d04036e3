#include "client/cpp/platform/cancelled.h"

#include <cstdio>

// The two ends of a wait that the caller caused. Both leave the server's work alone: a later call finds its
// result.
namespace schaas::client {

support::Diagnostic cancelled() {
  return support::exhausted("cancelled",
                            "the caller ended the call; what the server works on is finished there");
}

support::Diagnostic wait_limit_over(const std::string& what, std::chrono::milliseconds limit) {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.3g", static_cast<double>(limit.count()) * 1e-3);
  return support::noting(
      support::exhausted(
          "wait-limit",
          "no kernel for `" + what + "` that can run here came within the wait limit of " + seconds + " s"),
      "a later call finds it once it is compiled; a longer wait limit waits for it");
}

}  // namespace schaas::client
