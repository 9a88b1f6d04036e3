#include "schaas/choose.h"

#include <algorithm>
#include <chrono>

#include "schaas/bounds.h"

namespace schaas::client {
namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

const KernelInfo* find_kernel(const ScheduleAnswer& answer, const std::string& id) {
  const auto place = std::find_if(answer.kernels.begin(), answer.kernels.end(),
                                  [&](const KernelInfo& kernel) { return kernel.id == id && !kernel.draft; });
  return place == answer.kernels.end() ? nullptr : &*place;
}

support::Diagnostic no_kernel(const std::string& wanted) {
  return support::internal("no-kernel", "the server answered without a kernel for schedule `" + wanted + "`");
}

/// Every kernel that has come, as something to select from.
std::vector<FrontierEntry> entries_of_kernels(const ScheduleAnswer& answer) {
  std::vector<FrontierEntry> entries;
  for (const auto& kernel : answer.kernels) {
    FrontierEntry entry;
    entry.id = kernel.id;
    entry.trace = kernel.trace;
    entry.tree = kernel.tree;
    entry.time = kernel.time;
    entry.memory = kernel.memory;
    entry.time_terms = kernel.time_terms;
    entry.memory_terms = kernel.memory_terms;
    for (const auto& known : answer.frontier.entries) {
      if (known.trace == kernel.trace && !known.variants.empty()) entry.variants = {known.variants.front()};
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// `enough` (may be empty) says that no further event is wanted.
support::Result<ScheduleAnswer> ask(Connection& connection, const ScheduleRequest& request,
                                    const ScheduleListener& listener, Choice& choice,
                                    const std::function<bool(const ScheduleEvent&)>& enough = {}) {
  const auto start = Clock::now();
  auto answer = connection.schedule(request, [&](const ScheduleEvent& event) {
    if (std::holds_alternative<KernelInfo>(event) && choice.first_kernel_seconds == 0)
      choice.first_kernel_seconds = since(start);
    if (listener) listener(event);
    return !(enough && enough(event));
  });
  choice.server_seconds += since(start);
  return answer;
}

/// One kernel that the user named.
support::Result<Choice> take_named(Connection& connection, ChoiceRequest& request,
                                   const ScheduleListener& listener) {
  Choice choice;
  request.schedule.traces = {request.wanted};
  request.schedule.traces_only = true;
  SCHAAS_ASSIGN_OR_RETURN(choice.answer, ask(connection, request.schedule, listener, choice));
  SCHAAS_RETURN_IF_ERROR(check_bounds(choice.answer.frontier, request.sizes));
  if (choice.answer.kernels.empty()) return no_kernel(request.wanted);
  choice.kernel = choice.answer.kernels.front();
  choice.reason = "asked for with --schedule";
  return choice;
}

support::Result<void> take_fastest(const ChoiceRequest& request, Choice& choice) {
  for (const auto& kernel : choice.answer.kernels) {
    SCHAAS_ASSIGN_OR_RETURN(const double took, request.measure(choice.answer, kernel));
    choice.measured.push_back({kernel.id, kernel.trace, took, 1});
  }
  const auto fastest =
      std::min_element(choice.measured.begin(), choice.measured.end(),
                       [](const Measured& a, const Measured& b) { return a.seconds < b.seconds; });
  choice.kernel = choice.answer.kernels[static_cast<std::size_t>(fastest - choice.measured.begin())];
  choice.reason = "the fastest of " + std::to_string(choice.measured.size()) + " measured on these tensors";
  return {};
}

/// Makes sure that the schedule `id` is among the answer's kernels; false when it could not be compiled.
bool add_kernel(Connection& connection, const ChoiceRequest& request, const std::string& id,
                const ScheduleListener& listener, Choice& choice) {
  if (find_kernel(choice.answer, id)) return true;
  ScheduleRequest one = request.schedule;
  one.traces = {id};
  one.traces_only = true;
  one.no_cache = false;
  const auto more = ask(connection, one, listener, choice);
  if (!more.ok() || more->kernels.empty()) return false;
  choice.answer.kernels.push_back(more->kernels.front());
  choice.answer.done.compiled += more->done.compiled;
  choice.answer.done.compile_seconds += more->done.compile_seconds;
  choice.answer.done.hit = choice.answer.done.hit && more->done.hit;
  return find_kernel(choice.answer, id) != nullptr;
}

/// The best of the kernels that are there.
support::Result<void> take_best_kernel(const ChoiceRequest& request, Choice& choice) {
  const auto start = Clock::now();
  SCHAAS_ASSIGN_OR_RETURN(const auto best,
                          select(entries_of_kernels(choice.answer), request.sizes, request.machine));
  choice.select_seconds += since(start);
  choice.kernel = choice.answer.kernels[best.index];
  choice.reason = best.reason;
  return {};
}

/// What to ask the server for: an entry's own schedule by its id, another one by its trace.
std::string name_of(const FrontierEntry& entry, const Evaluated& evaluated) {
  return evaluated.variant == 0 ? entry.id : selected_trace(entry, evaluated);
}

support::Result<void> take_selected(Connection& connection, const ChoiceRequest& request,
                                    const Selector& selector, const ScheduleListener& listener,
                                    Choice& choice) {
  const auto start = Clock::now();
  const auto& entries = selector.entries();
  SCHAAS_ASSIGN_OR_RETURN(const auto best, selector.select(request.sizes, request.machine));
  choice.select_seconds += since(start);
  const FrontierEntry& entry = entries[best.index];
  const std::string name = name_of(entry, best.evaluated[best.index]);
  if (!add_kernel(connection, request, name, listener, choice)) return take_best_kernel(request, choice);
  choice.reason = best.reason;
  choice.kernel = *find_kernel(choice.answer, name);
  choice.kernel.id = entry.id;
  return {};
}

/// The kernel that would be selected is measured, too.
support::Result<void> add_selected(Connection& connection, const ChoiceRequest& request,
                                   const ScheduleListener& listener, Choice& choice) {
  const auto& entries = choice.answer.frontier.entries;
  SCHAAS_ASSIGN_OR_RETURN(const auto best, select(entries, request.sizes, request.machine));
  add_kernel(connection, request, name_of(entries[best.index], best.evaluated[best.index]), listener, choice);
  return {};
}

/// True once the kernel of the schedule that is best at these sizes has come: nothing better will.
class BestHasCome {
 public:
  explicit BestHasCome(const ChoiceRequest& request) : request_(request) {}
  bool operator()(const ScheduleEvent& event) {
    if (const auto* frontier = std::get_if<Frontier>(&event); frontier && !frontier->partial) {
      const auto best = select(frontier->entries, request_.sizes, request_.machine);
      if (best.ok()) best_ = name_of(frontier->entries[best->index], best->evaluated[best->index]);
    }
    if (const auto* kernel = std::get_if<KernelInfo>(&event); kernel && !kernel->draft)
      come_.push_back(kernel->id);
    return !best_.empty() && std::find(come_.begin(), come_.end(), best_) != come_.end();
  }

 private:
  const ChoiceRequest& request_;
  std::string best_;
  std::vector<std::string> come_;
};

}  // namespace

support::Result<Choice> choose(Connection& connection, ChoiceRequest request,
                               const ScheduleListener& listener) {
  if (request.wanted != "auto") return take_named(connection, request, listener);
  Choice choice;
  request.schedule.keep_working = true;
  request.schedule.patience = request.patience;
  std::function<bool(const ScheduleEvent&)> enough;
  if (!request.whole_answer && !request.measure) enough = BestHasCome(request);
  SCHAAS_ASSIGN_OR_RETURN(choice.answer, ask(connection, request.schedule, listener, choice, enough));
  SCHAAS_RETURN_IF_ERROR(check_bounds(choice.answer.frontier, request.sizes));
  if (choice.answer.kernels.empty()) return no_kernel("auto");
  choice.out_of_patience = choice.answer.left == ScheduleAnswer::Left::patience;
  if (choice.out_of_patience && !request.measure) {
    SCHAAS_RETURN_IF_ERROR(take_best_kernel(request, choice));
  } else if (request.measure) {
    if (!choice.answer.frontier.entries.empty() && !choice.out_of_patience)
      SCHAAS_RETURN_IF_ERROR(add_selected(connection, request, listener, choice));
    SCHAAS_RETURN_IF_ERROR(take_fastest(request, choice));
  } else {
    const Selector selector(choice.answer.frontier.entries);
    SCHAAS_RETURN_IF_ERROR(take_selected(connection, request, selector, listener, choice));
  }
  return choice;
}

support::Result<void> choose_again(Connection& connection, const ChoiceRequest& request,
                                   const Selector& selector, Choice& choice,
                                   const ScheduleListener& listener) {
  SCHAAS_RETURN_IF_ERROR(check_bounds(choice.answer.frontier, request.sizes));
  return take_selected(connection, request, selector, listener, choice);
}

}  // namespace schaas::client
