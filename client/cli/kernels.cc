#include "client/cli/kernels.h"

#include <algorithm>
#include <chrono>

#include "schaas/bounds.h"

namespace schaas::cli {
namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

const client::KernelInfo* find_kernel(const client::ScheduleAnswer& answer, const std::string& id) {
  const auto place = std::find_if(answer.kernels.begin(), answer.kernels.end(),
                                  [&](const client::KernelInfo& kernel) { return kernel.id == id; });
  return place == answer.kernels.end() ? nullptr : &*place;
}

support::Diagnostic no_kernel(const std::string& wanted) {
  return support::internal("no-kernel", "the server answered without a kernel for schedule `" + wanted + "`");
}

std::vector<client::FrontierEntry> compiled_entries(const client::ScheduleAnswer& answer) {
  std::vector<client::FrontierEntry> entries;
  for (const auto& entry : answer.frontier.entries) {
    if (find_kernel(answer, entry.id)) entries.push_back(entry);
  }
  return entries;
}

support::Result<client::ScheduleAnswer> ask(client::Connection& connection,
                                            const client::ScheduleRequest& request, ProgressLine& progress,
                                            Choice& choice) {
  const auto start = Clock::now();
  auto answer = connection.schedule(request, show_events(progress));
  progress.clear();
  choice.server_seconds += since(start);
  return answer;
}

/// One kernel that the user named.
support::Result<Choice> take_named(client::Connection& connection, ChoiceRequest& request,
                                   ProgressLine& progress) {
  Choice choice;
  request.schedule.traces = {request.wanted};
  request.schedule.traces_only = true;
  SCHAAS_ASSIGN_OR_RETURN(choice.answer, ask(connection, request.schedule, progress, choice));
  SCHAAS_RETURN_IF_ERROR(client::check_bounds(choice.answer.frontier, request.sizes));
  if (choice.answer.kernels.empty()) return no_kernel(request.wanted);
  choice.kernel = choice.answer.kernels.front();
  choice.reason = "asked for with --schedule";
  return choice;
}

support::Result<void> take_fastest(const ChoiceRequest& request, Choice& choice) {
  for (const auto& kernel : choice.answer.kernels) {
    SCHAAS_ASSIGN_OR_RETURN(const double took, request.measure(choice.answer, kernel));
    choice.measured.push_back({kernel.id, took});
  }
  const auto fastest =
      std::min_element(choice.measured.begin(), choice.measured.end(),
                       [](const Measured& a, const Measured& b) { return a.seconds < b.seconds; });
  choice.kernel = choice.answer.kernels[static_cast<std::size_t>(fastest - choice.measured.begin())];
  choice.reason = "the fastest of " + std::to_string(choice.measured.size()) + " measured on these tensors";
  return {};
}

/// Makes sure that the schedule `id` is among the answer's kernels; false when it could not be compiled.
bool add_kernel(client::Connection& connection, const ChoiceRequest& request, const std::string& id,
                ProgressLine& progress, Choice& choice) {
  if (find_kernel(choice.answer, id)) return true;
  client::ScheduleRequest one = request.schedule;
  one.traces = {id};
  one.traces_only = true;
  one.no_cache = false;
  const auto more = ask(connection, one, progress, choice);
  if (!more.ok() || more->kernels.empty()) return false;
  choice.answer.kernels.push_back(more->kernels.front());
  choice.answer.done.compiled += more->done.compiled;
  choice.answer.done.compile_seconds += more->done.compile_seconds;
  choice.answer.done.hit = choice.answer.done.hit && more->done.hit;
  return find_kernel(choice.answer, id) != nullptr;
}

support::Result<void> take_selected(client::Connection& connection, const ChoiceRequest& request,
                                    ProgressLine& progress, Choice& choice) {
  const auto start = Clock::now();
  const auto& entries = choice.answer.frontier.entries;
  SCHAAS_ASSIGN_OR_RETURN(const auto best, client::select(entries, request.sizes, request.machine));
  choice.select_seconds = since(start);
  choice.reason = best.reason;
  std::string id = entries[best.index].id;
  if (!add_kernel(connection, request, id, progress, choice)) {
    const auto compiled = compiled_entries(choice.answer);
    if (compiled.empty()) return no_kernel(id);
    SCHAAS_ASSIGN_OR_RETURN(const auto next, client::select(compiled, request.sizes, request.machine));
    id = compiled[next.index].id;
    choice.reason = next.reason;
  }
  choice.kernel = *find_kernel(choice.answer, id);
  return {};
}

}  // namespace

support::Result<Choice> choose(client::Connection& connection, ChoiceRequest request,
                               ProgressLine& progress) {
  if (request.wanted != "auto") return take_named(connection, request, progress);
  Choice choice;
  SCHAAS_ASSIGN_OR_RETURN(choice.answer, ask(connection, request.schedule, progress, choice));
  SCHAAS_RETURN_IF_ERROR(client::check_bounds(choice.answer.frontier, request.sizes));
  if (choice.answer.kernels.empty()) return no_kernel("auto");
  if (request.measure) {
    SCHAAS_RETURN_IF_ERROR(take_fastest(request, choice));
  } else {
    SCHAAS_RETURN_IF_ERROR(take_selected(connection, request, progress, choice));
  }
  return choice;
}

std::function<void(const client::ScheduleEvent&)> show_events(ProgressLine& progress) {
  return [&progress](const client::ScheduleEvent& event) {
    if (const auto* stage = std::get_if<client::Progress>(&event)) {
      progress.show("server: " + stage->stage, stage->done, stage->of);
    } else if (const auto* kernel = std::get_if<client::KernelInfo>(&event)) {
      progress.show("server: compiled " + kernel->id);
    }
  };
}

}  // namespace schaas::cli
