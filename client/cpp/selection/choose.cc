#include "schaas/choose.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>

#include "client/cpp/platform/cancelled.h"
#include "client/cpp/platform/seconds_since.h"
#include "client/cpp/selection/pick.h"
#include "compiler/support/instruction_set.h"
#include "compiler/support/schedule_id.h"
#include "schaas/bounds.h"

// The dialogue with a server: asks for a frontier, selects at the real sizes, and makes sure that the
// selected kernel is compiled. The kernel is one that the user named, the one with the least predicted time,
// or the fastest one measured. Where the selected one cannot be compiled, or the wait limit ends, the best of
// the kernels at hand is taken. Deterministic requests never depend on arrival times.
namespace schaas::client {
namespace {

using Clock = std::chrono::steady_clock;

support::Result<ScheduleAnswer> ask(KernelSource& source, const ScheduleRequest& request,
                                    const ScheduleListener& listener, Choice& choice) {
  const auto start = Clock::now();
  auto answer = source.schedule(request, [&](const ScheduleEvent& event) {
    if (std::holds_alternative<KernelInfo>(event) && choice.first_kernel_seconds == 0)
      choice.first_kernel_seconds = seconds_since(start);
    if (listener) listener(event);
    return true;
  });
  choice.server_seconds += seconds_since(start);
  return answer;
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
  SCHAAS_RETURN_IF_ERROR(check_order(request, choice.kernel));
  return choice;
}

// Returns the rest of a limit of time. The longest duration stands for no limit, and nothing is subtracted
// from it.
std::chrono::milliseconds time_left(std::chrono::milliseconds limit, const Choice& choice) {
  if (limit == std::chrono::milliseconds::max()) return limit;
  const std::chrono::duration<double> spent(choice.server_seconds);
  return limit - std::chrono::duration_cast<std::chrono::milliseconds>(spent);
}

/// Makes sure that the schedule `id` is among the answer's kernels, with its full kernel where that comes in
/// time; false when it could not be compiled.
bool add_kernel_of_entry(KernelSource& source, const ChoiceRequest& request, const std::string& id,
                         const ScheduleListener& listener, Choice& choice) {
  const KernelInfo* known = find_kernel(choice.answer.kernels, id);
  if (known != nullptr && !known->baseline) return true;
  ScheduleRequest one = request.schedule;
  one.traces = {id};
  one.traces_only = true;
  one.no_cache = false;
  // The compilation gets the time that is left, not limits of its own.
  one.wait_limit = time_left(request.wait_limit, choice);
  one.leave_after = std::max(time_left(one.leave_after, choice), std::chrono::milliseconds(0));
  const auto more = ask(source, one, listener, choice);
  auto& failures = choice.answer.failures;
  if (!more.ok()) {
    const std::string isa = support::is_gpu_id(id) ? support::gpu_isa : request.schedule.isa;
    failures.push_back({id, id, more.error(), isa});
    return known != nullptr;
  }
  failures.insert(failures.end(), more->failures.begin(), more->failures.end());
  if (more->kernels.empty()) return known != nullptr;
  const KernelInfo& kernel = more->kernels.front();
  choice.wait_ended |= kernel.baseline && more->left == ScheduleAnswer::Left::time;
  std::erase_if(choice.answer.kernels, [&](const KernelInfo& other) { return other.id == kernel.id; });
  choice.answer.kernels.push_back(kernel);
  // The answer's figures cover both requests.
  choice.answer.done.compiled += more->done.compiled;
  choice.answer.done.compile_seconds += more->done.compile_seconds;
  choice.answer.done.hit = choice.answer.done.hit && more->done.hit;
  return find_kernel(choice.answer.kernels, id) != nullptr;
}

/// The best of the kernels that are there.
support::Result<void> take_best_kernel(const ChoiceRequest& request, Choice& choice) {
  const auto start = Clock::now();
  std::vector<const KernelInfo*> come;
  for (const KernelInfo& kernel : choice.answer.kernels) come.push_back(&kernel);
  SCHAAS_ASSIGN_OR_RETURN(const KernelPick best, pick_kernel(choice.answer.frontier, come, request));
  choice.select_seconds += seconds_since(start);
  if (best.kernel == nullptr)
    return request.gpu && request.gpu->alone ? nothing_for_gpu("no kernel for it has come")
                                             : no_kernel("auto");
  choice.kernel = *best.kernel;
  choice.reason = best.reason;
  return {};
}

// Takes the selected schedule; where its kernel for a GPU cannot be made, the processor's best with the
// reason; else the best of the kernels at hand.
support::Result<void> take_selected(KernelSource& source, const ChoiceRequest& request,
                                    const Selectors& selectors, const ScheduleListener& listener,
                                    Choice& choice) {
  const auto start = Clock::now();
  SCHAAS_ASSIGN_OR_RETURN(Pick best, pick(choice.answer.frontier, selectors, request));
  choice.select_seconds += seconds_since(start);
  if (!add_kernel_of_entry(source, request, best.name, listener, choice)) {
    const bool gpu = best.for_gpu && request.gpu && !request.gpu->alone;
    const auto& failures = choice.answer.failures;
    if (!gpu && choice.answer.kernels.empty() && !failures.empty()) return failures.back().diagnostic;
    if (!gpu) return take_best_kernel(request, choice);
    const std::string why =
        "; not on " + request.gpu->device.name + ": " + why_no_gpu_kernel(choice.answer.failures);
    SCHAAS_ASSIGN_OR_RETURN(best, pick_for_cpu(choice.answer.frontier, selectors.cpu, request));
    best.reason += why;
    if (!add_kernel_of_entry(source, request, best.name, listener, choice))
      return take_best_kernel(request, choice);
  }
  choice.reason = best.reason;
  choice.kernel = *find_kernel(choice.answer.kernels, best.name);
  choice.kernel.id = best.id;
  return {};
}

/// Limit of the measured schedules of a frontier; kernels that are compiled anyway are measured, too.
constexpr std::size_t max_contenders = 6;
/// Predicted time over the least one from which on a schedule is not measured. Predictions err by less, and
/// one run of it may take minutes.
constexpr double hopeless_prediction = 100;
/// The server takes no more measurements at once.
constexpr std::size_t max_reported = 64;

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
  for (std::size_t n = 0; n < std::min(order.size(), max_contenders); ++n)
    names.push_back(selector.schedules()[order[n]].id);
  if (names.empty()) return nothing_for_gpu(selection.reason);
  return {};
}

/// Lists the candidates to measure: the schedules of the least predicted times, and the other variants of the
/// first. For a frontier that is not whole: all kernels that have arrived.
support::Result<std::vector<std::string>> candidates(const ChoiceRequest& request, const Choice& choice) {
  std::vector<std::string> names;
  const auto& frontier = choice.answer.frontier;
  // A frontier that is not whole has no comparable predictions for all entries.
  if (frontier.entries.empty() || choice.wait_ended || frontier.partial) {
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
  const double most = hopeless_prediction * selection.evaluated[selection.index].predicted;
  for (const std::size_t e : by_prediction(selection)) {
    if (e != selection.index && selection.evaluated[e].predicted > most) continue;
    const FrontierEntry& entry = frontier.entries[e];
    const std::string name = name_of(entry, selection.evaluated[e]);
    if (names.size() < max_contenders || find_kernel(choice.answer.kernels, name) != nullptr) add(name);
    if (e != selection.index) continue;
    add(entry.id);
    for (std::size_t v = 1; v < entry.variants.size() && names.size() < max_contenders / 2; ++v)
      add(entry.variants[v].trace);
  }
  if (request.gpu) SCHAAS_RETURN_IF_ERROR(add_gpu_contenders(request, choice, names));
  return names;
}

/// Stores the measurements for later choices and reports them for other clients. Failure of the report is
/// ignored.
void remember(KernelSource& source, const ChoiceRequest& request, Choice& choice) {
  std::vector<Measurement> measurements;
  auto& known = choice.answer.frontier.measurements;
  // Measurements are kept per class of sizes, instruction set, and number of threads.
  for (const Measured& one : choice.measured) {
    const KernelInfo* kernel = find_kernel(choice.answer.kernels, one.id);
    const std::string isa = kernel == nullptr ? request.schedule.isa : kernel->isa;
    const Where where = support::is_for_gpu(isa) && request.gpu ? on_gpu(*request.gpu) : Where{isa};
    const std::string sizes = sizes_text(choice.answer.frontier, request.sizes, where);
    measurements.push_back(
        {one.trace, sizes, isa, request.machine.threads, one.seconds, request.tune_exclusive});
    // Measurements of an earlier tuning do not compare with these; the server replaces them, too.
    std::erase_if(known, [&](const Measurement& old) {
      return old.sizes == sizes && old.isa == isa && old.threads == request.machine.threads;
    });
  }
  known.insert(known.begin(), measurements.begin(), measurements.end());
  (void)source.report(request.schedule.problem, measurements);
}

// Measures on the user's own tensors. A candidate that cannot be bound is left out; its failure counts only
// when no other can be bound.
support::Result<void> take_fastest(KernelSource& source, const ChoiceRequest& request,
                                   const ScheduleListener& listener, Choice& choice) {
  SCHAAS_ASSIGN_OR_RETURN(const auto names, candidates(request, choice));
  std::vector<Candidate> bound;
  std::optional<support::Diagnostic> failure;
  for (const auto& name : names) {
    if (bound.size() == max_reported || !add_kernel_of_entry(source, request, name, listener, choice))
      continue;
    const KernelInfo& kernel = *find_kernel(choice.answer.kernels, name);
    auto run = request.timed_run(choice.answer, kernel);
    if (run.ok()) {
      bound.push_back({kernel.id, kernel.trace, std::move(run).value()});
    } else if (!failure) {
      failure = run.error();  // say, its temporaries do not fit memory
    }
  }
  if (bound.empty()) return failure ? *failure : no_kernel("auto");
  SCHAAS_ASSIGN_OR_RETURN(choice.measured, measure_candidates(bound, request.tune_seconds));
  choice.kernel = *find_kernel(choice.answer.kernels, choice.measured[winner(choice.measured)].id);
  choice.reason = "the fastest of " + std::to_string(choice.measured.size()) + " measured on these tensors";
  remember(source, request, choice);
  return {};
}

}  // namespace

support::Result<Choice> choose(KernelSource& source, ChoiceRequest request,
                               const ScheduleListener& listener) {
  request.schedule.wait_limit = request.wait_limit;
  if (request.wanted != "auto") return take_named(source, request, listener);
  Choice choice;
  request.schedule.keep_working = true;
  if (request.gpu) {
    request.schedule.gpu = true;
    request.gpu->deterministic = request.schedule.deterministic;
    if (request.gpu->alone) request.schedule.isa = support::gpu_isa;
  }
  // Autotuning waits for all kernels; a deterministic choice may not depend on arrival times.
  if (!request.timed_run && !request.schedule.deterministic)
    request.schedule.leave_after = request.leave_after;
  // A kernel without room for its temporaries is none to leave the server with.
  request.schedule.is_usable = [&request](const Frontier& frontier, const KernelInfo& kernel) {
    const auto picked = pick_kernel(frontier, {&kernel}, request);
    return picked.ok() && picked->kernel != nullptr && picked->has_room;
  };
  // Autotuning compares the kernels that the server has chosen, too.
  request.schedule.first_kernel_only = !request.timed_run;
  SCHAAS_ASSIGN_OR_RETURN(choice.answer, ask(source, request.schedule, listener, choice));
  SCHAAS_RETURN_IF_ERROR(check_bounds(choice.answer.frontier, request.sizes));
  if (choice.answer.kernels.empty() && !(request.gpu && request.gpu->alone)) return no_kernel("auto");
  choice.wait_ended = choice.answer.left == ScheduleAnswer::Left::time;
  if (choice.wait_ended && request.schedule.deterministic)
    return wait_limit_over(request.schedule.problem.expression, request.wait_limit);
  if (request.timed_run) {
    SCHAAS_RETURN_IF_ERROR(take_fastest(source, request, listener, choice));
  } else if (choice.wait_ended) {
    SCHAAS_RETURN_IF_ERROR(take_best_kernel(request, choice));
  } else {
    const Selectors selectors(choice.answer.frontier);
    SCHAAS_RETURN_IF_ERROR(take_selected(source, request, selectors, listener, choice));
  }
  return choice;
}

}  // namespace schaas::client
