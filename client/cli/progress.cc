#include "client/cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "client/cli/display.h"
#include "client/cli/figures.h"
#include "compiler/support/printable.h"

// One line of progress on a terminal, redrawn at most ten times a second and wiped out at the end. Elsewhere
// nothing is shown, so logs hold no fragments. A thread redraws it while nothing comes, so that its seconds
// go on.
namespace schaas::cli {

namespace {

/// "[########            ] 40 %"
std::string bar(double share) {
  constexpr std::size_t width = 20;
  const auto filled = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * width);
  return "[" + std::string(filled, '#') + std::string(width - filled, ' ') + "] " +
         std::to_string(static_cast<int>(100 * share)) + " %";
}

}  // namespace

ProgressLine::ProgressLine() : shown_(!display().quiet && isatty(STDERR_FILENO) == 1) {}

// Draws the line, unless the same stage was drawn less than 100 ms ago.
void ProgressLine::show(const std::string& what, std::uint64_t done, std::uint64_t of,
                        const std::string& details) {
  if (!shown_) return;
  const auto now = Clock::now();
  // A new stage is shown at once.
  if (what == last_ && now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (what != last_) since_ = now;
  last_ = what;
  text_ = what;
  if (of > 0) text_ += " " + bar(static_cast<double>(done) / static_cast<double>(of));
  text_ += details;
  draw();
  if (!clock_.joinable()) clock_ = std::jthread([this](const std::stop_token& stop) { tick(stop); });
}

// Under the lock. 78 characters fit in most terminals; a longer line would wrap and stay. Names from servers
// may hold control characters.
void ProgressLine::draw() {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - since_).count();
  const std::string time = seconds == 0 ? "" : ", " + std::to_string(seconds) + " s";
  std::fprintf(stderr, "\r\033[K%s%s", support::printable(text_.substr(0, 78 - time.size())).c_str(),
               time.c_str());
  std::fflush(stderr);
}

void ProgressLine::tick(const std::stop_token& stop) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ended_.wait_for(lock, stop, std::chrono::seconds(1), [&stop] { return stop.stop_requested(); }))
    draw();
}

void ProgressLine::clear() {
  if (!clock_.joinable()) return;
  clock_.request_stop();
  clock_.join();
  clock_ = {};
  last_.clear();
  std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
}

namespace {

std::string details(const client::Progress& stage) {
  std::string text;
  if (stage.states > 0) text += ", " + counted(stage.states, "state", "states");
  if (!stage.members.empty()) text += ", " + grouped(stage.members) + " members covered";
  if (stage.classes > 0) text += ", " + counted(stage.classes, "class", "classes");
  if (stage.of > 0 && stage.of < 100)
    text += ", " + std::to_string(stage.done) + " of " + std::to_string(stage.of);
  return text;
}

}  // namespace

client::ScheduleListener show_events(ProgressLine& progress) {
  return [&progress](const client::ScheduleEvent& event) {
    if (const auto* stage = std::get_if<client::Progress>(&event)) {
      progress.show("server: " + stage->stage, stage->done, stage->of, details(*stage));
    } else if (const auto* kernel = std::get_if<client::KernelInfo>(&event)) {
      progress.show("server: compiled " + kernel->id);
    }
  };
}

std::function<bool(const client::ScheduleEvent&)> show_all_events(ProgressLine& progress) {
  return [show = show_events(progress)](const client::ScheduleEvent& event) { return show(event), true; };
}

}  // namespace schaas::cli
