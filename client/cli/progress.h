#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "schaas/choose.h"

namespace schaas::cli {

/// One line on standard error that is redrawn in place, at most ten times a second, and only on a terminal;
/// elsewhere, and with --quiet, nothing is written. What takes longer than a second shows its seconds, which
/// go on between the events. The line disappears with the object, so nothing of it remains in front of an
/// answer or an error. Used by one thread.
class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  /// "reading B.mtx [#########           ] 45 %, 3 s"; without a percentage when `of` is 0. `details` follow.
  void show(const std::string& what, std::uint64_t done = 0, std::uint64_t of = 0,
            const std::string& details = "");
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  void draw();
  void tick(const std::stop_token& stop);

  const bool shown_;
  std::string last_;
  Clock::time_point next_{};

  std::mutex mutex_;  // guards what is drawn
  std::string text_;
  Clock::time_point since_{};  // begin of the stage
  std::condition_variable_any ended_;
  std::jthread clock_;  // runs while a line is drawn
};

/// Shows the stages of the server on the progress line.
client::ScheduleListener show_events(ProgressLine& progress);
/// The same; always goes on.
std::function<bool(const client::ScheduleEvent&)> show_all_events(ProgressLine& progress);

}  // namespace schaas::cli
