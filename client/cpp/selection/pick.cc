#include "client/cpp/selection/pick.h"

#include <algorithm>
#include <optional>

#include "client/cpp/platform/milliseconds_text.h"
#include "compiler/support/instruction_set.h"

// Decisions without questions: the best schedule of a frontier, or of the kernels at hand, at some sizes.
// Measurements at sizes of the same class go before predictions, unless the choice must be deterministic.
// Between processor and GPU the seconds decide, with the way of the tensors to where they are needed.
namespace schaas::client {

namespace {

// A measured trace may be a variant of an entry; its name is then its trace.
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

/// The pick, with what its run brings here of tensors that lie on a device.
Pick with_way_here(Pick pick, const ChoiceRequest& request) {
  // Tensors that lie on a device are copied to the processor and back.
  if (!request.gpu || request.gpu->host_bytes + request.gpu->host_level_bytes == 0) return pick;
  const double seconds = request.gpu->seconds_here();
  pick.seconds += seconds;
  pick.reason += ", and " + milliseconds_text(seconds) + " for the way to the processor and back";
  return pick;
}

/// For the GPU of the request: by what was measured, else by what is predicted; with an empty name, the
/// reason tells why there is none.
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
        return Pick{schedule.id, schedule.id, measured->reason(), measured->seconds, true};
    }
  }
  const GpuSchedule& chosen = selector.schedules()[static_cast<std::size_t>(best.index)];
  return Pick{chosen.id, chosen.id, best.reason,
              best.evaluated[static_cast<std::size_t>(best.index)].seconds + best.copy_seconds, true};
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

/// A kernel for the processor, as something to select from.
FrontierEntry entry_of(const Frontier& frontier, const KernelInfo& kernel) {
  FrontierEntry entry;
  entry.id = kernel.id;
  entry.trace = kernel.trace;
  entry.tree = kernel.tree;
  entry.time = kernel.time;
  entry.memory = kernel.memory;
  entry.time_terms = kernel.time_terms;
  entry.memory_terms = kernel.memory_terms;
  // A kernel's own nests are those of the entry's first variant.
  for (const auto& known : frontier.entries) {
    if (known.trace == kernel.trace && !known.variants.empty()) entry.variants = {known.variants.front()};
  }
  return entry;
}

/// A kernel for the processor with what is predicted of it.
struct CpuPick {
  Pick pick;
  KernelPick kernel;
};

support::Result<CpuPick> pick_cpu_kernel(const Frontier& frontier,
                                         const std::vector<const KernelInfo*>& kernels,
                                         const ChoiceRequest& request) {
  std::vector<FrontierEntry> entries;
  std::vector<const KernelInfo*> of;
  for (const KernelInfo* kernel : kernels) {
    // Kernels of a GPU have costs of another kind.
    if (support::is_for_gpu(kernel->isa)) continue;
    entries.push_back(entry_of(frontier, *kernel));
    of.push_back(kernel);
  }
  CpuPick found;
  if (entries.empty()) return found;
  const Machine machine = machine_of(request);
  SCHAAS_ASSIGN_OR_RETURN(const auto best, select(entries, request.sizes, machine));
  const Evaluated& evaluated = best.evaluated[best.index];
  found.pick = with_way_here(pick_of(entries, best, machine), request);
  found.pick.name = found.pick.id;
  found.kernel.seconds = found.pick.seconds;
  found.kernel.kernel = of[best.index];
  found.kernel.has_room = evaluated.fits || evaluated.memory_bytes <= room_for_temporaries(machine);
  return found;
}

}  // namespace

std::string name_of(const FrontierEntry& entry, const Evaluated& evaluated) {
  return evaluated.variant == 0 ? entry.id : selected_trace(entry, evaluated);
}

Where on_cpu(const ChoiceRequest& request) { return {request.schedule.isa}; }
Where on_gpu(const GpuTarget& target) { return {support::gpu_isa, target.class_text()}; }

support::Diagnostic no_kernel(const std::string& wanted) {
  return support::internal("no-kernel", "the server answered without a kernel for schedule `" + wanted + "`");
}

support::Diagnostic nothing_for_gpu(const std::string& why) {
  return support::exhausted("gpu-memory", why + "; kernels for the CPU (`--target cpu`) work");
}

std::string why_no_gpu_kernel(const std::vector<KernelFailure>& failures) {
  for (const auto& failure : failures)
    if (support::is_for_gpu(failure.isa)) return failure.diagnostic.message;
  return "the server sent no kernel for it";
}

support::Result<void> check_order(const ChoiceRequest& request, const KernelInfo& kernel) {
  if (!request.schedule.deterministic || !kernel.nondeterministic) return {};
  return support::noting(
      support::invalid("deterministic",
                       "`" + kernel.trace + "` adds up in the order in which threads come, which is chance"),
      "`races=private` adds up in order");
}

const KernelInfo* find_kernel(const std::vector<KernelInfo>& kernels, const std::string& id) {
  const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const KernelInfo& kernel) {
    return kernel.id == id && !kernel.baseline;
  });
  return found == kernels.end() ? nullptr : &*found;
}

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

// Compares the processor's best kernel with the GPU's best among those that have come.
support::Result<KernelPick> pick_kernel(const Frontier& frontier,
                                        const std::vector<const KernelInfo*>& kernels,
                                        const ChoiceRequest& request) {
  const bool alone = request.gpu && request.gpu->alone;
  CpuPick cpu;
  if (!alone) {
    SCHAAS_ASSIGN_OR_RETURN(cpu, pick_cpu_kernel(frontier, kernels, request));
    cpu.kernel.reason = cpu.pick.reason;
  }
  if (!request.gpu) return cpu.kernel;
  std::vector<GpuSchedule> come;
  std::vector<const KernelInfo*> of;
  for (const GpuSchedule& schedule : frontier.gpu) {
    const auto has = [&](const KernelInfo* kernel) { return kernel->id == schedule.id && !kernel->baseline; };
    const auto kernel = std::find_if(kernels.begin(), kernels.end(), has);
    if (kernel == kernels.end()) continue;
    come.push_back(schedule);
    of.push_back(*kernel);
  }
  Pick gpu{"", "", "no kernel for it has come"};
  if (!come.empty()) {
    SCHAAS_ASSIGN_OR_RETURN(gpu, pick_for_gpu(frontier, GpuSelector(come), request));
  }
  const bool any = cpu.kernel.kernel != nullptr;
  if (gpu.name.empty() && alone && !come.empty()) return nothing_for_gpu(gpu.reason);
  if (gpu.name.empty() && !any) return KernelPick{};
  const Pick best = any ? faster(cpu.pick, gpu, request.gpu->device.name) : gpu;
  if (any && best.name != gpu.name)
    return KernelPick{cpu.kernel.kernel, best.reason, cpu.kernel.has_room, best.seconds};
  const auto chosen =
      std::find_if(of.begin(), of.end(), [&](const KernelInfo* one) { return one->id == gpu.id; });
  return KernelPick{*chosen, best.reason, true, best.seconds};
}

}  // namespace schaas::client
