#include "schaas/choose.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>

#include "milliseconds_text.h"
#include "schaas/bounds.h"

namespace schaas::client {
namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

const char* const gpu_isa = "cuda";

const KernelInfo* find_kernel(const ScheduleAnswer& answer, const std::string& id) {
  const auto place = std::find_if(answer.kernels.begin(), answer.kernels.end(),
                                  [&](const KernelInfo& kernel) { return kernel.id == id && !kernel.draft; });
  return place == answer.kernels.end() ? nullptr : &*place;
}

support::Diagnostic no_kernel(const std::string& wanted) {
  return support::internal("no-kernel", "the server answered without a kernel for schedule `" + wanted + "`");
}

/// Every kernel for the processor that has come, as something to select from.
std::vector<FrontierEntry> entries_of_kernels(const ScheduleAnswer& answer) {
  std::vector<FrontierEntry> entries;
  for (const auto& kernel : answer.kernels) {
    if (kernel.isa == gpu_isa) continue;
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

support::Result<void> check_order(const ChoiceRequest& request, const Choice& choice) {
  if (!request.schedule.deterministic || choice.kernel.trace.find("races=atomics") == std::string::npos)
    return {};
  return support::noting(
      support::invalid("deterministic", "`" + choice.kernel.trace +
                                            "` adds up in the order in which threads come, which is chance"),
      "`races=private` adds up in order");
}

/// One kernel that the user named.
support::Result<Choice> take_named(KernelSource& source, ChoiceRequest& request,
                                   const ScheduleListener& listener) {
  Choice choice;
  request.schedule.traces = {request.wanted};
  request.schedule.traces_only = true;
  request.schedule.gpu = false;  // the server knows the schedule by its name
  SCHAAS_ASSIGN_OR_RETURN(choice.answer, ask(source, request.schedule, listener, choice));
  SCHAAS_RETURN_IF_ERROR(check_bounds(choice.answer.frontier, request.sizes));
  if (choice.answer.kernels.empty()) return no_kernel(request.wanted);
  choice.kernel = choice.answer.kernels.front();
  choice.reason = "asked for with --schedule";
  SCHAAS_RETURN_IF_ERROR(check_order(request, choice));
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

/// What to ask the server for: an entry's own schedule by its id, another one by its trace.
std::string name_of(const FrontierEntry& entry, const Evaluated& evaluated) {
  return evaluated.variant == 0 ? entry.id : selected_trace(entry, evaluated);
}

/// A schedule that was decided on.
struct Pick {
  std::string name;    ///< what to ask the server for
  std::string id;      ///< of its entry, where it has one
  std::string reason;  ///< one sentence
  double seconds = 0;  ///< predicted, or measured
};

Pick pick_of(const std::vector<FrontierEntry>& entries, const Remembered& best) {
  Pick pick{best.trace, best.trace, best.reason(), best.seconds};
  if (const auto e = entry_with(entries, best.trace)) {
    pick.id = entries[*e].id;
    if (entries[*e].trace == best.trace) pick.name = pick.id;
  }
  return pick;
}

Pick pick_of(const std::vector<FrontierEntry>& entries, const Selection& best, const Machine& machine) {
  const FrontierEntry& entry = entries[best.index];
  const Evaluated& evaluated = best.evaluated[best.index];
  return {name_of(entry, evaluated), entry.id, best.reason,
          evaluated.predicted * machine.rates.nanoseconds * 1e-9};
}

/// One choice for any number of threads: priced for some of them, whatever the number.
constexpr int deterministic_threads = 8;

Machine machine_of(const ChoiceRequest& request) {
  Machine machine = request.machine;
  if (request.schedule.deterministic) machine.threads = deterministic_threads;
  return machine;
}

/// Measurements decide, unless the choice must be the same before and after them.
bool may_remember(const ChoiceRequest& request) { return !request.schedule.deterministic; }

Where on_cpu(const ChoiceRequest& request) { return {request.schedule.isa}; }
Where on_gpu(const GpuTarget& target) { return {gpu_isa, target.class_text()}; }

/// The pick, with what its run brings here of tensors that lie on a device.
Pick with_way_here(Pick pick, const ChoiceRequest& request) {
  if (!request.gpu || request.gpu->host_bytes + request.gpu->host_level_bytes == 0) return pick;
  const double seconds = request.gpu->seconds_here();
  pick.seconds += seconds;
  pick.reason += ", and " + milliseconds_text(seconds) + " for the way to the processor and back";
  return pick;
}

/// For the processor: by what was measured, else by what is predicted.
support::Result<Pick> pick_for_cpu(const Frontier& frontier, const Selector& selector,
                                   const ChoiceRequest& request) {
  std::optional<Where> beside;
  if (request.gpu) beside = on_gpu(*request.gpu);
  if (may_remember(request)) {
    if (const auto best = remembered(frontier, request.sizes, request.machine, on_cpu(request), beside))
      return with_way_here(pick_of(selector.entries(), *best), request);
  }
  const Machine machine = machine_of(request);
  SCHAAS_ASSIGN_OR_RETURN(const auto best, selector.select(request.sizes, machine));
  return with_way_here(pick_of(selector.entries(), best, machine), request);
}

/// For the GPU of the request, likewise; with an empty name, the reason tells why there is none.
support::Result<Pick> pick_for_gpu(const Frontier& frontier, const GpuSelector& selector,
                                   const ChoiceRequest& request) {
  SCHAAS_ASSIGN_OR_RETURN(const auto best,
                          selector.select(request.sizes, request.machine.value_type, *request.gpu));
  if (best.index < 0) return Pick{"", "", best.reason};
  std::optional<Remembered> measured;
  if (may_remember(request))
    measured = remembered(frontier, request.sizes, request.machine, on_gpu(*request.gpu), on_cpu(request));
  if (measured) {
    for (std::size_t s = 0; s < selector.schedules().size(); ++s) {
      const GpuSchedule& schedule = selector.schedules()[s];
      if (schedule.trace == measured->trace && best.evaluated[s].fits && !best.evaluated[s].left_out)
        return Pick{schedule.id, schedule.id, measured->reason(), measured->seconds};
    }
  }
  const GpuSchedule& chosen = selector.schedules()[static_cast<std::size_t>(best.index)];
  return Pick{chosen.id, chosen.id, best.reason,
              best.evaluated[static_cast<std::size_t>(best.index)].seconds + best.copy_seconds};
}

support::Diagnostic nothing_for_gpu(const std::string& why) {
  return support::exhausted("gpu-memory", why + "; kernels for the CPU (`--target cpu`) work");
}

/// The faster one, and what the other would have taken.
Pick faster(const Pick& cpu, const Pick& gpu, const std::string& device) {
  Pick best = !gpu.name.empty() && gpu.seconds < cpu.seconds ? gpu : cpu;
  if (gpu.name.empty()) {
    best.reason += "; not on " + device + ": " + gpu.reason;
  } else if (best.name == gpu.name) {
    best.reason += "; on the processor `" + cpu.id + "` would take " + milliseconds_text(cpu.seconds);
  } else {
    best.reason += ": " + milliseconds_text(cpu.seconds) + "; on " + device + " `" + gpu.id +
                   "` would take " + milliseconds_text(gpu.seconds) + ", the way there and back included";
  }
  return best;
}

/// Of the whole frontier, on the processor, the GPU, or where it takes less.
support::Result<Pick> pick(const Frontier& frontier, const Selectors& selectors,
                           const ChoiceRequest& request) {
  if (!request.gpu) return pick_for_cpu(frontier, selectors.cpu, request);
  SCHAAS_ASSIGN_OR_RETURN(Pick gpu, pick_for_gpu(frontier, selectors.gpu, request));
  if (request.gpu->alone) {
    if (gpu.name.empty()) return nothing_for_gpu(gpu.reason);
    return gpu;
  }
  SCHAAS_ASSIGN_OR_RETURN(const Pick cpu, pick_for_cpu(frontier, selectors.cpu, request));
  return faster(cpu, gpu, request.gpu->device.name);
}

/// The best of the kernels that are there.
support::Result<void> take_best_kernel(const ChoiceRequest& request, Choice& choice) {
  const auto start = Clock::now();
  const auto entries = entries_of_kernels(choice.answer);
  Pick gpu{"", "", "no kernel for it has come"}, cpu;
  if (request.gpu) {
    std::vector<GpuSchedule> come;
    for (const GpuSchedule& schedule : choice.answer.frontier.gpu)
      if (find_kernel(choice.answer, schedule.id) != nullptr) come.push_back(schedule);
    if (!come.empty() || request.gpu->alone) {
      SCHAAS_ASSIGN_OR_RETURN(gpu, pick_for_gpu(choice.answer.frontier, GpuSelector(come), request));
    }
    if (request.gpu->alone && gpu.name.empty()) return nothing_for_gpu(gpu.reason);
  }
  const bool alone = request.gpu && request.gpu->alone;
  if (!alone && entries.empty() && gpu.name.empty()) return no_kernel("auto");
  if (!alone && !entries.empty()) {
    const Machine machine = machine_of(request);
    SCHAAS_ASSIGN_OR_RETURN(const auto best, select(entries, request.sizes, machine));
    cpu = with_way_here(pick_of(entries, best, machine), request);
    cpu.name = cpu.id;
  }
  const Pick best = !request.gpu              ? cpu
                    : alone || cpu.id.empty() ? gpu
                                              : faster(cpu, gpu, request.gpu->device.name);
  choice.select_seconds += since(start);
  const auto place = std::find_if(choice.answer.kernels.begin(), choice.answer.kernels.end(),
                                  [&](const KernelInfo& kernel) { return kernel.id == best.id; });
  choice.kernel = *place;
  choice.reason = best.reason;
  return {};
}

/// Why kernels for GPUs could not be made: "" when they could.
std::string why_no_gpu_kernel(const ScheduleAnswer& answer) {
  for (const auto& failure : answer.failures)
    if (failure.id.rfind('g', 0) == 0) return failure.diagnostic.message;
  return "the server sent no kernel for it";
}

support::Result<void> take_selected(KernelSource& source, const ChoiceRequest& request,
                                    const Selectors& selectors, const ScheduleListener& listener,
                                    Choice& choice) {
  const auto start = Clock::now();
  SCHAAS_ASSIGN_OR_RETURN(Pick best, pick(choice.answer.frontier, selectors, request));
  choice.select_seconds += since(start);
  if (!add_kernel(source, request, best.name, listener, choice)) {
    const bool gpu = best.name.rfind('g', 0) == 0 && request.gpu && !request.gpu->alone;
    if (!gpu) return take_best_kernel(request, choice);
    const std::string why = "; not on " + request.gpu->device.name + ": " + why_no_gpu_kernel(choice.answer);
    SCHAAS_ASSIGN_OR_RETURN(best, pick_for_cpu(choice.answer.frontier, selectors.cpu, request));
    best.reason += why;
    if (!add_kernel(source, request, best.name, listener, choice)) return take_best_kernel(request, choice);
  }
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

/// The schedules for the GPU of the least predicted times.
support::Result<void> add_gpu_contenders(const ChoiceRequest& request, const Choice& choice,
                                         std::vector<std::string>& names) {
  const GpuSelector selector(choice.answer.frontier.gpu);
  SCHAAS_ASSIGN_OR_RETURN(const auto selection,
                          selector.select(request.sizes, request.machine.value_type, *request.gpu));
  std::vector<std::size_t> order;
  for (std::size_t s = 0; s < selection.evaluated.size(); ++s)
    if (selection.evaluated[s].fits && !selection.evaluated[s].left_out) order.push_back(s);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return selection.evaluated[a].seconds < selection.evaluated[b].seconds;
  });
  for (std::size_t n = 0; n < std::min(order.size(), most_contenders); ++n)
    names.push_back(selector.schedules()[order[n]].id);
  if (names.empty()) return nothing_for_gpu(selection.reason);
  return {};
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
  if (request.gpu && request.gpu->alone) {
    SCHAAS_RETURN_IF_ERROR(add_gpu_contenders(request, choice, names));
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
  if (request.gpu) SCHAAS_RETURN_IF_ERROR(add_gpu_contenders(request, choice, names));
  return names;
}

/// What was measured, for later choices and for other clients. A server that cannot be told is no reason to
/// fail.
void remember(KernelSource& source, const ChoiceRequest& request, Choice& choice) {
  std::vector<Measurement> measurements;
  auto& known = choice.answer.frontier.measurements;
  for (const Measured& one : choice.measured) {
    const KernelInfo* kernel = find_kernel(choice.answer, one.id);
    const std::string isa = kernel == nullptr ? request.schedule.isa : kernel->isa;
    const Where where = isa == gpu_isa && request.gpu ? on_gpu(*request.gpu) : Where{isa};
    const std::string sizes = sizes_text(choice.answer.frontier, request.sizes, where);
    measurements.push_back({one.trace, sizes, isa, request.machine.threads, one.seconds});
    // As the server does: what an earlier contest found does not compare with this one.
    std::erase_if(known, [&](const Measurement& old) {
      return old.sizes == sizes && old.isa == isa && old.threads == request.machine.threads;
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
  explicit BestHasCome(const ChoiceRequest& request)
      : request_(request), may_fall_back_(request.gpu && !request.gpu->alone) {}
  bool operator()(const ScheduleEvent& event) {
    if (const auto* frontier = std::get_if<Frontier>(&event); frontier && !frontier->partial) {
      const Selectors selectors(*frontier);
      const auto best = pick(*frontier, selectors, request_);
      if (best.ok()) best_ = best->name;
      if (may_fall_back_) {
        const auto here = pick_for_cpu(*frontier, selectors.cpu, request_);
        if (here.ok()) best_here_ = here->name;
      }
    }
    // Where no kernel for a GPU can be made, the processor's is the best.
    if (const auto* failure = std::get_if<KernelFailure>(&event);
        failure && failure->diagnostic.code == "no-cuda" && may_fall_back_)
      best_ = best_here_;
    if (const auto* kernel = std::get_if<KernelInfo>(&event); kernel && !kernel->draft)
      come_.push_back(kernel->id);
    return !best_.empty() && std::find(come_.begin(), come_.end(), best_) != come_.end();
  }

 private:
  const ChoiceRequest& request_;
  const bool may_fall_back_;  ///< from a GPU to the processor
  std::string best_, best_here_;
  std::vector<std::string> come_;
};

}  // namespace

support::Result<Choice> choose(KernelSource& source, ChoiceRequest request,
                               const ScheduleListener& listener) {
  if (request.wanted != "auto") return take_named(source, request, listener);
  Choice choice;
  request.schedule.keep_working = true;
  if (request.gpu) {
    request.schedule.gpu = true;
    request.gpu->deterministic = request.schedule.deterministic;
    if (request.gpu->alone) request.schedule.isa = gpu_isa;
  }
  // Who measures has time, and what has come by some time is chance.
  if (!request.contend && !request.schedule.deterministic) request.schedule.patience = request.patience;
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
    const Selectors selectors(choice.answer.frontier);
    SCHAAS_RETURN_IF_ERROR(take_selected(source, request, selectors, listener, choice));
  }
  return choice;
}

support::Result<void> choose_again(KernelSource& source, const ChoiceRequest& request,
                                   const Selectors& selectors, Choice& choice,
                                   const ScheduleListener& listener) {
  SCHAAS_RETURN_IF_ERROR(check_bounds(choice.answer.frontier, request.sizes));
  return take_selected(source, request, selectors, listener, choice);
}

}  // namespace schaas::client
