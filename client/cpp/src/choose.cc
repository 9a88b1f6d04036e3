#include "schaas/choose.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <optional>

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
support::Result<ScheduleAnswer> ask(KernelSource& source, const ScheduleRequest& request,
                                    const ScheduleListener& listener, Choice& choice,
                                    const std::function<bool(const ScheduleEvent&)>& enough = {}) {
  const auto start = Clock::now();
  auto answer = source.schedule(request, [&](const ScheduleEvent& event) {
    if (std::holds_alternative<KernelInfo>(event) && choice.first_kernel_seconds == 0)
      choice.first_kernel_seconds = since(start);
    if (listener) listener(event);
    return !(enough && enough(event));
  });
  choice.server_seconds += since(start);
  return answer;
}

/// One kernel that the user named.
support::Result<Choice> take_named(KernelSource& source, ChoiceRequest& request,
                                   const ScheduleListener& listener) {
  Choice choice;
  request.schedule.traces = {request.wanted};
  request.schedule.traces_only = true;
  SCHAAS_ASSIGN_OR_RETURN(choice.answer, ask(source, request.schedule, listener, choice));
  SCHAAS_RETURN_IF_ERROR(check_bounds(choice.answer.frontier, request.sizes));
  if (choice.answer.kernels.empty()) return no_kernel(request.wanted);
  choice.kernel = choice.answer.kernels.front();
  choice.reason = "asked for with --schedule";
  return choice;
}

/// Makes sure that the schedule `id` is among the answer's kernels; false when it could not be compiled.
bool add_kernel(KernelSource& source, const ChoiceRequest& request, const std::string& id,
                const ScheduleListener& listener, Choice& choice) {
  if (find_kernel(choice.answer, id)) return true;
  ScheduleRequest one = request.schedule;
  one.traces = {id};
  one.traces_only = true;
  one.no_cache = false;
  const auto more = ask(source, one, listener, choice);
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

/// A schedule that was decided on.
struct Pick {
  std::string name;    ///< what to ask the server for
  std::string id;      ///< of its entry, where it has one
  std::string reason;  ///< one sentence
};

Pick pick_of(const std::vector<FrontierEntry>& entries, const Remembered& best) {
  Pick pick{best.trace, best.trace, best.reason()};
  if (const auto e = entry_with(entries, best.trace)) {
    pick.id = entries[*e].id;
    if (entries[*e].trace == best.trace) pick.name = pick.id;
  }
  return pick;
}

Pick pick_of(const std::vector<FrontierEntry>& entries, const Selection& best) {
  const FrontierEntry& entry = entries[best.index];
  return {name_of(entry, best.evaluated[best.index]), entry.id, best.reason};
}

/// By what was measured, else by what is predicted.
support::Result<Pick> pick(const Frontier& frontier, const Selector& selector, const ChoiceRequest& request) {
  if (const auto best = remembered(frontier, request.sizes, request.machine, request.schedule.isa))
    return pick_of(selector.entries(), *best);
  SCHAAS_ASSIGN_OR_RETURN(const auto best, selector.select(request.sizes, request.machine));
  return pick_of(selector.entries(), best);
}

support::Result<void> take_selected(KernelSource& source, const ChoiceRequest& request,
                                    const Selector& selector, const ScheduleListener& listener,
                                    Choice& choice) {
  const auto start = Clock::now();
  SCHAAS_ASSIGN_OR_RETURN(const Pick best, pick(choice.answer.frontier, selector, request));
  choice.select_seconds += since(start);
  if (!add_kernel(source, request, best.name, listener, choice)) return take_best_kernel(request, choice);
  choice.reason = best.reason;
  choice.kernel = *find_kernel(choice.answer, best.name);
  choice.kernel.id = best.id;
  return {};
}

/// Of a frontier so many schedules are measured, and what is compiled anyway.
constexpr std::size_t most_contenders = 6;
/// The server takes no more measurements at once.
constexpr std::size_t most_reported = 64;

/// Entries whose temporaries fit, the least predicted time first; the selected one is the first of all.
std::vector<std::size_t> by_prediction(const Selection& selection) {
  std::vector<std::size_t> order;
  for (std::size_t e = 0; e < selection.evaluated.size(); ++e)
    if (selection.evaluated[e].fits && e != selection.index) order.push_back(e);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return selection.evaluated[a].predicted < selection.evaluated[b].predicted;
  });
  order.insert(order.begin(), selection.index);
  return order;
}

/// What is measured: the schedules of the least predicted times, of the first of them also the other ways to
/// run it; of a frontier that is not whole, all kernels that have come.
support::Result<std::vector<std::string>> contenders(const ChoiceRequest& request, const Choice& choice) {
  std::vector<std::string> names;
  const auto& frontier = choice.answer.frontier;
  if (frontier.entries.empty() || choice.out_of_patience || frontier.partial) {
    for (const auto& kernel : choice.answer.kernels) names.push_back(kernel.id);
    return names;
  }
  SCHAAS_ASSIGN_OR_RETURN(const auto selection, select(frontier.entries, request.sizes, request.machine));
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const std::size_t e : by_prediction(selection)) {
    const FrontierEntry& entry = frontier.entries[e];
    const std::string name = name_of(entry, selection.evaluated[e]);
    if (names.size() < most_contenders || find_kernel(choice.answer, name) != nullptr) add(name);
    if (e != selection.index) continue;
    add(entry.id);
    for (std::size_t v = 1; v < entry.variants.size() && names.size() < most_contenders / 2; ++v)
      add(entry.variants[v].trace);
  }
  return names;
}

/// What was measured, for later choices and for other clients. A server that cannot be told is no reason to
/// fail.
void remember(KernelSource& source, const ChoiceRequest& request, Choice& choice) {
  std::vector<Measurement> measurements;
  auto& known = choice.answer.frontier.measurements;
  const std::string sizes = size_class(choice.answer.frontier, request.sizes);
  for (const Measured& one : choice.measured) {
    measurements.push_back({one.trace, sizes, request.schedule.isa, request.machine.threads, one.seconds});
    std::erase_if(known, [&](const Measurement& old) {
      return old.trace == one.trace && old.sizes == sizes && old.isa == request.schedule.isa &&
             old.threads == request.machine.threads;
    });
  }
  known.insert(known.begin(), measurements.begin(), measurements.end());
  (void)source.report(request.schedule.problem, measurements);
}

support::Result<void> take_fastest(KernelSource& source, const ChoiceRequest& request,
                                   const ScheduleListener& listener, Choice& choice) {
  SCHAAS_ASSIGN_OR_RETURN(const auto names, contenders(request, choice));
  std::vector<Contender> bound;
  std::optional<support::Diagnostic> failure;
  for (const auto& name : names) {
    if (bound.size() == most_reported || !add_kernel(source, request, name, listener, choice)) continue;
    const KernelInfo& kernel = *find_kernel(choice.answer, name);
    auto run = request.contend(choice.answer, kernel);
    if (run.ok()) {
      bound.push_back({kernel.id, kernel.trace, std::move(run).value()});
    } else if (!failure) {
      failure = run.error();  // say, its temporaries do not fit memory
    }
  }
  if (bound.empty()) return failure ? *failure : no_kernel("auto");
  SCHAAS_ASSIGN_OR_RETURN(choice.measured, contest(bound, request.tune_seconds));
  choice.kernel = *find_kernel(choice.answer, choice.measured[winner(choice.measured)].id);
  choice.reason = "the fastest of " + std::to_string(choice.measured.size()) + " measured on these tensors";
  remember(source, request, choice);
  return {};
}

/// True once the kernel of the schedule that is best at these sizes has come: nothing better will.
class BestHasCome {
 public:
  explicit BestHasCome(const ChoiceRequest& request) : request_(request) {}
  bool operator()(const ScheduleEvent& event) {
    if (const auto* frontier = std::get_if<Frontier>(&event); frontier && !frontier->partial) {
      const auto best = pick(*frontier, Selector(frontier->entries), request_);
      if (best.ok()) best_ = best->name;
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

support::Result<Choice> choose(KernelSource& source, ChoiceRequest request,
                               const ScheduleListener& listener) {
  if (request.wanted != "auto") return take_named(source, request, listener);
  Choice choice;
  request.schedule.keep_working = true;
  if (!request.contend) request.schedule.patience = request.patience;  // who measures has time
  std::function<bool(const ScheduleEvent&)> enough;
  if (!request.whole_answer && !request.contend) enough = BestHasCome(request);
  SCHAAS_ASSIGN_OR_RETURN(choice.answer, ask(source, request.schedule, listener, choice, enough));
  SCHAAS_RETURN_IF_ERROR(check_bounds(choice.answer.frontier, request.sizes));
  if (choice.answer.kernels.empty()) return no_kernel("auto");
  choice.out_of_patience = choice.answer.left == ScheduleAnswer::Left::patience;
  if (request.contend) {
    SCHAAS_RETURN_IF_ERROR(take_fastest(source, request, listener, choice));
  } else if (choice.out_of_patience) {
    SCHAAS_RETURN_IF_ERROR(take_best_kernel(request, choice));
  } else {
    const Selector selector(choice.answer.frontier.entries);
    SCHAAS_RETURN_IF_ERROR(take_selected(source, request, selector, listener, choice));
  }
  return choice;
}

support::Result<void> choose_again(KernelSource& source, const ChoiceRequest& request,
                                   const Selector& selector, Choice& choice,
                                   const ScheduleListener& listener) {
  SCHAAS_RETURN_IF_ERROR(check_bounds(choice.answer.frontier, request.sizes));
  return take_selected(source, request, selector, listener, choice);
}

}  // namespace schaas::client
