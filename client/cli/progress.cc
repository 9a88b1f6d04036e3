#include "client/cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "client/cli/figures.h"
#include "compiler/support/printable.h"

// One line of progress on a terminal, redrawn at most ten times a second and wiped out at the end. Elsewhere
// nothing is shown, so logs hold no fragments.
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

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) == 1) {}

// Draws the line, unless the same stage was drawn less than 100 ms ago.
void ProgressLine::show(const std::string& what, std::uint64_t done, std::uint64_t of,
                        const std::string& details) {
  if (!terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  // A new stage is shown at once.
  if (what == last_ && now < next_) return;
  last_ = what;
  next_ = now + std::chrono::milliseconds(100);
  std::string text = what;
  if (of > 0) text += " " + bar(static_cast<double>(done) / static_cast<double>(of));
  text += details;
  // 78 characters fit in most terminals; a longer line would wrap and stay. Names from servers may hold
  // control characters.
  std::fprintf(stderr, "\r\033[K%s", support::printable(text.substr(0, 78)).c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressLine::clear() {
  if (!drawn_) return;
  std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
  drawn_ = false;
}

namespace {

std::string details(const client::Progress& stage) {
  std::string text;
  if (stage.states > 0) text += ", " + counted(stage.states, "state", "states");
  if (!stage.members.empty()) text += ", " + grouped(stage.members) + " members covered";
  if (stage.classes > 0) text += ", " + counted(stage.classes, "class", "classes");
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
