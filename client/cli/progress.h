#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "schaas/choose.h"

namespace schaas::cli {

/// One line on standard error that is redrawn in place, at most ten times a second, and only on a terminal;
/// elsewhere nothing is written. It disappears with the object, so nothing of it remains in front of an
/// answer or an error.
class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  /// "reading B.mtx [#########           ] 45 %"; without a percentage when `of` is 0. `details` follow.
  void show(const std::string& what, std::uint64_t done = 0, std::uint64_t of = 0,
            const std::string& details = "");
  void clear();

 private:
  bool terminal_;
  bool drawn_ = false;
  std::string last_;
  std::chrono::steady_clock::time_point next_{};
};

/// Shows the stages of the server on the progress line.
client::ScheduleListener show_events(ProgressLine& progress);
/// The same; always goes on.
std::function<bool(const client::ScheduleEvent&)> show_all_events(ProgressLine& progress);

}  // namespace schaas::cli
