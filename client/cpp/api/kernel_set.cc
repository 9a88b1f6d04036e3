#include "schaas/kernel_set.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "client/cpp/api/computation.h"
#include "client/cpp/api/decision.h"
#include "client/cpp/api/kernel_pool.h"
#include "client/cpp/api/long_product.h"
#include "client/cpp/api/ranged_program.h"
#include "client/cpp/api/split_program.h"
#include "client/cpp/expression/summed_operands.h"
#include "client/cpp/platform/cancelled.h"
#include "client/cpp/platform/process_mutex.h"
#include "client/cpp/platform/seconds_since.h"
#include "client/cpp/runtime/argument_check.h"
#include "client/cpp/selection/binding.h"
#include "client/cpp/selection/list_statistics.h"
#include "client/cpp/tensor/overlap.h"
#include "compiler/format/assembled_format.h"
#include "compiler/support/instruction_set.h"
#include "schaas/blocks.h"
#include "schaas/bounds.h"
#include "schaas/host.h"

// Binding of tensors to the kernels of a problem. A binding decides on a kernel for its sizes and prepares an
// execution. The decision comes from measurements, from an earlier binding, or from a pool (kernel_pool.h)
// that asks the server in the background.
//
// A decision is reviewed when the pool has new kernels. A computation that began with a baseline kernel takes
// the better one at its next run. Schedules that do not fit the memory are excluded one by one, and a device
// that fails is replaced by the processor.
//
// Invariants: the lock is held for look-ups alone, never while the server is asked. A named schedule, a
// deterministic run, and a single run never change their kernel.
namespace schaas::client {
namespace {

using Clock = std::chrono::steady_clock;

/// Work that is done before a second thread has woken up.
constexpr double trips_of_one_thread = 20'000;
/// Decisions that are remembered: a loop may alternate between so many sizes.
constexpr std::size_t max_recent = 4;

/// The processor cannot give a sparse result the arrays that lie on a device.
bool is_alone(const BindOptions& bind, const PackedTensor& result) {
  return bind.gpu->alone || (result.on_device() && !result.format().all_dense());
}

/// Seconds of a run to its end.
template <class Run>
support::Result<double> timed(const Run& run) {
  const auto start = Clock::now();
  SCHAAS_RETURN_IF_ERROR(run());
  return seconds_since(start);
}

}  // namespace

struct KernelSet::State {
  State(Session opened, ProblemText text, KernelSetOptions given)
      : session(std::move(opened)), problem(std::move(text)), options(std::move(given)) {}

  const Session session;
  const ProblemText problem;
  const KernelSetOptions options;
  Program program;
  SummedOperands summed;
  format::TensorFormat result_format;
  Machine machine;
  std::unique_ptr<const KernelParts> split;  ///< null: the program is one part, without ranges

  ProcessMutex mutex;  ///< guards all members below; never held while the server is asked
  std::map<std::string, std::shared_ptr<KernelPool>> pools;  ///< by what may compute: "", "gpu", "gpu alone"
  std::vector<DecisionPointer> tuned;
  std::vector<DecisionPointer> recent;  ///< the last one first

  using Operands = std::map<std::string, PackedTensor*>;
  struct Rebinding;
  /// A kernel for these sizes; `excluded` are digests of kernels that did not run.
  support::Result<DecisionPointer> decide(const Sizes& sizes, const Operands& operands,
                                          const PackedTensor& result, const BindOptions& bind,
                                          const std::set<std::string>& excluded = {});
  DecisionPointer known(const Decision& wanted, const WaitOptions& wait);
  void remember(const DecisionPointer& decision);
  std::shared_ptr<KernelPool> pool(const ChoiceRequest& request);
  support::Result<ChoiceRequest> request(const Sizes& sizes, const Operands& operands,
                                         const PackedTensor& result, const BindOptions& bind) const;
  std::string placement(const Operands& operands, const PackedTensor& result, const BindOptions& bind) const;
  support::Result<BoundKernel> bound_to(const Preference& chosen, const Sizes& sizes,
                                        const Operands& operands, const BindOptions& bind,
                                        const Computation::State& computation) const;
  support::Result<GpuExecution> prepare_on_gpu(const Preference& chosen, const Operands& operands,
                                               const BindOptions& bind,
                                               const Computation::State& computation) const;
  std::string isa() const;
  Sizes told(Sizes sizes) const;
  int threads_for(const KernelInfo& kernel, const Sizes& sizes, const BindOptions& bind) const;
  support::Result<void> choose_result(const Sizes& sizes, const Operands& operands, const BindOptions& bind,
                                      Computation::State& computation) const;
  support::Result<std::unique_ptr<Computation::State>> start(
      const std::map<std::string, PackedTensor*>& operands, const BindOptions& bind, Sizes& sizes) const;
  support::Result<void> prepare(const Preference& chosen, const Sizes& sizes, const Operands& operands,
                                const BindOptions& bind, const Computation::State& computation,
                                BoundKernel& bound) const;
};

KernelSet::KernelSet(std::shared_ptr<State> state) : state_(std::move(state)) {}

support::Result<KernelSet> KernelSet::open(const Session& session, ProblemText problem,
                                           KernelSetOptions options) {
  for (const auto& [tensor, text] : problem.formats)
    SCHAAS_RETURN_IF_ERROR(check_without_blocks(tensor, text));
  SCHAAS_ASSIGN_OR_RETURN(Program program, parse_program(problem.expression));
  SCHAAS_ASSIGN_OR_RETURN(auto ranged, RangedProgram::open(session, problem, program, options));
  if (ranged) {
    problem = ranged->kernels().problem();
    program = ranged->kernels().program();
  }
  if (!ranged && !is_long_product(program)) {
    const auto stored = session.source().lookup(problem, options.stop);
    if (!stored.ok() && stored.error().code != "not-stored") return stored.error();
  }
  auto state = std::make_shared<State>(session, std::move(problem), std::move(options));
  state->program = std::move(program);
  state->summed = summed_operands(state->program, state->problem.formats);
  const Access& result = state->program.result();
  const auto given = state->problem.formats.find(result.tensor);
  SCHAAS_ASSIGN_OR_RETURN(state->result_format,
                          format::parse(given == state->problem.formats.end() ? "dense" : given->second,
                                        static_cast<int>(result.indices.size()), result.tensor));
  state->machine = this_machine(state->problem.value_type);
  if (ranged) {
    state->split = std::move(ranged);
    return KernelSet(std::move(state));
  }
  SCHAAS_ASSIGN_OR_RETURN(state->split,
                          SplitProgram::open(session, state->problem, state->program, state->options));
  return KernelSet(std::move(state));
}

const Program& KernelSet::program() const { return state_->program; }
const ProblemText& KernelSet::problem() const { return state_->problem; }
bool KernelSet::sums(const std::string& operand) const { return state_->summed.count(operand) > 0; }

support::Result<Frontier> KernelSet::frontier(const std::stop_token& stop) const {
  if (state_->split) return state_->split->frontier(stop);
  std::vector<std::shared_ptr<KernelPool>> pools;
  {
    const std::lock_guard lock(state_->mutex);
    for (const auto& [kind, pool] : state_->pools) pools.push_back(pool);
  }
  for (const auto& pool : pools)
    if (auto known = pool->frontier()) return *std::move(known);
  ScheduleRequest request;
  request.problem = state_->problem;
  request.search = state_->options.search;
  request.search_only = true;
  request.stop = stop;
  SCHAAS_ASSIGN_OR_RETURN(ScheduleAnswer answer, state_->session.source().schedule(request, {}));
  return std::move(answer.frontier);
}

/// Without the tensors whose entries their extents tell.
Sizes KernelSet::State::told(Sizes sizes) const {
  std::erase_if(sizes.entries, [&](const auto& tensor) {
    const auto text = problem.formats.find(tensor.first);
    if (text == problem.formats.end()) return true;
    const auto format = format::parse(text->second, static_cast<int>(tensor.second.size()), tensor.first);
    return format.ok() && format->all_dense();
  });
  return sizes;
}

support::Result<FrontierHere> KernelSet::frontier_at(const std::map<std::string, PackedTensor*>& operands,
                                                     const BindOptions& options) const {
  if (state_->split) return state_->split->frontier_at(operands, options);
  FrontierHere here;
  SCHAAS_ASSIGN_OR_RETURN(here.frontier, frontier(options.wait.stop));
  Sizes sizes;
  int threads = options.threads;
  if (!operands.empty()) {
    SCHAAS_RETURN_IF_ERROR(state_->start(operands, options, sizes));
    add_statistics(state_->program, operands, sizes);
  } else {
    const std::lock_guard lock(state_->mutex);
    if (state_->recent.empty()) return here;
    sizes = state_->recent.front()->sizes;
    threads = state_->recent.front()->threads;
  }
  SCHAAS_RETURN_IF_ERROR(check_bounds(here.frontier, sizes));
  Machine machine = state_->machine;
  if (threads > 0) machine.threads = threads;
  SCHAAS_ASSIGN_OR_RETURN(
      here.at, client::frontier_at(here.frontier, sizes, state_->told(sizes), machine, state_->isa()));
  SCHAAS_ASSIGN_OR_RETURN(here.plot,
                          plot(here.frontier, *here.at, sizes, machine, state_->problem.expression));
  return here;
}

std::string KernelSet::State::isa() const { return isa_for(options.isa); }

/// Describes the tensors that lie on the device, and if the processor competes: decisions depend on both.
std::string KernelSet::State::placement(const Operands& operands, const PackedTensor& result,
                                        const BindOptions& bind) const {
  if (!bind.gpu) return "";
  std::string text =
      bind.gpu->gpu.name() + (bind.gpu->alone ? " alone" : "") + (result.on_device() ? " result" : "");
  for (const auto& [name, tensor] : operands)
    if (tensor->on_device()) text += " " + name;
  return text;
}

support::Result<ChoiceRequest> KernelSet::State::request(const Sizes& sizes, const Operands& operands,
                                                         const PackedTensor& result,
                                                         const BindOptions& bind) const {
  ChoiceRequest request;
  request.schedule.problem = problem;
  request.schedule.search = options.search;
  request.schedule.isa = isa();
  request.wanted = bind.schedule;
  request.sizes = sizes;
  request.machine = machine;
  if (bind.threads > 0) request.machine.threads = bind.threads;
  request.schedule.deterministic = bind.deterministic;
  if (!bind.gpu) return request;
  std::vector<const PackedTensor*> tensors;
  for (const auto& [name, tensor] : operands) {
    tensors.push_back(tensor);
    SCHAAS_ASSIGN_OR_RETURN(request.sizes.spreads[name], bind.gpu->gpu.spreads(*tensor, bind.gpu->stream));
  }
  request.gpu = target_for(bind.gpu->gpu.facts(), tensors, result, 1);
  request.gpu->deterministic = bind.deterministic;
  request.gpu->alone = is_alone(bind, result);
  request.schedule.gpu = true;
  if (request.gpu->alone) request.schedule.isa = support::gpu_isa;
  return request;
}

// Kernels for different devices, or with determinism, are requested apart.
std::shared_ptr<KernelPool> KernelSet::State::pool(const ChoiceRequest& request) {
  const std::string kind = std::string(!request.gpu         ? ""
                                       : request.gpu->alone ? "gpu alone"
                                                            : "gpu") +
                           (request.schedule.deterministic ? " deterministic" : "");
  const std::lock_guard lock(mutex);
  std::shared_ptr<KernelPool>& pool = pools[kind];
  if (!pool) pool = std::make_shared<KernelPool>(session, request.schedule);
  return pool;
}

// Returns a decision for the same sizes: one that was measured, else a recent one that still holds. A call
// that may wait for the best kernel does not take a decision that is not final.
DecisionPointer KernelSet::State::known(const Decision& wanted, const WaitOptions& wait) {
  const auto fits = [&](const DecisionPointer& one) { return one->is_for_same(wanted); };
  const std::lock_guard lock(mutex);
  const auto measured = std::find_if(tuned.begin(), tuned.end(), fits);
  const auto one = std::find_if(recent.begin(), recent.end(), fits);
  if (measured != tuned.end()) {
    if (one == recent.end()) {
      recent.insert(recent.begin(), *measured);
    } else {
      *one = *measured;
    }
    return *measured;
  }
  if (one == recent.end() || !(*one)->holds((*one)->version, (*one)->made)) return nullptr;
  if ((wait.limit || wait.leave_after.count() > 0) && !(*one)->chosen->is_final) return nullptr;
  std::rotate(recent.begin(), one, one + 1);
  return recent.front();
}

void KernelSet::State::remember(const DecisionPointer& decision) {
  const std::lock_guard lock(mutex);
  std::erase_if(recent, [&](const DecisionPointer& one) { return one->is_for_same(*decision); });
  if (recent.size() >= max_recent) recent.pop_back();
  recent.insert(recent.begin(), decision);
}

support::Result<DecisionPointer> KernelSet::State::decide(const Sizes& sizes, const Operands& operands,
                                                          const PackedTensor& result, const BindOptions& bind,
                                                          const std::set<std::string>& excluded) {
  auto decision = std::make_shared<Decision>(
      Decision{sizes, bind.schedule, bind.threads, bind.deterministic, placement(operands, result, bind)});
  if (excluded.empty()) {
    if (auto before = known(*decision, bind.wait)) return before;
  }
  add_statistics(program, operands, decision->sizes);
  Wish wish;
  SCHAAS_ASSIGN_OR_RETURN(wish.request, request(decision->sizes, operands, result, bind));
  wish.only_best = bind.deterministic;
  wish.excluded = excluded;
  const std::shared_ptr<KernelPool> kernels = pool(wish.request);
  decision->version = kernels->version();
  const bool is_named = bind.schedule != "auto";
  SCHAAS_ASSIGN_OR_RETURN(Preference chosen, is_named ? kernels->named(wish.request, bind.wait)
                                                      : kernels->prefer(wish, bind.wait));
  decision->chosen = std::make_shared<const Preference>(std::move(chosen));
  decision->made = Clock::now();
  if (!is_named) decision->pool = kernels;
  remember(decision);
  return DecisionPointer(std::move(decision));
}

// Returns 1 for little work, else 0: the execution decides.
int KernelSet::State::threads_for(const KernelInfo& kernel, const Sizes& sizes,
                                  const BindOptions& bind) const {
  if (bind.threads > 0) return bind.threads;
  const auto trips = evaluate(kernel.time_terms, sizes);
  return trips.ok() && *trips < trips_of_one_thread ? 1 : 0;
}

/// Chooses the tensor that the kernel writes and the one that the user finds.
support::Result<void> KernelSet::State::choose_result(const Sizes& sizes, const Operands& operands,
                                                      const BindOptions& bind,
                                                      Computation::State& computation) const {
  const Access& result = program.result();
  const format::TensorFormat written = format::assembled_format(result_format);
  std::vector<std::int64_t> extents;
  for (const auto& index : result.indices) extents.push_back(sizes.extents.at(index));
  if (bind.result != nullptr) {
    SCHAAS_RETURN_IF_ERROR(
        check_result(result, result_format, arithmetic_type(problem.value_type), extents, *bind.result));
    if (bind.result->on_device() && written != result_format)
      return support::unsupported(
          "result-format", "the tensor given for the result `" + print(result) + "` lies on a device in " +
                               format::print(result_format) +
                               ", which kernels do not write: " + format::print(written) + " works");
    const std::string* const shared = overlapping_operand(*bind.result, operands, computation.before);
    if (shared != nullptr && !result_format.all_dense())
      return support::invalid("result-overlap", "the tensor given for the result `" + print(result) +
                                                    "` has memory of the operand `" + *shared +
                                                    "`: a result stored as " + format::print(result_format) +
                                                    " needs memory of its own");
    if (shared == nullptr && written == result_format) {
      computation.written = bind.result;
      return {};
    }
  }
  if (written != result_format || bind.result != nullptr)
    computation.converted.emplace(result_format, result.tensor, bind.result, bind.gpu);
  const PackOptions pack{result.tensor, arithmetic_type(problem.value_type),
                         problem.position_bits == "32" ? 32 : 64, program.semiring->zero};
  computation.make_own = [=] { return zeros(extents, written, pack); };
  SCHAAS_ASSIGN_OR_RETURN(computation.own, computation.make_own());
  computation.written = &computation.own;
  return {};
}

/// Everything of a computation but its kernel.
support::Result<std::unique_ptr<Computation::State>> KernelSet::State::start(
    const std::map<std::string, PackedTensor*>& operands, const BindOptions& bind, Sizes& sizes) const {
  if (bind.threads < 0 || bind.threads > max_threads) {
    return support::invalid("threads", std::to_string(bind.threads) + " threads; expected 1 to " +
                                           std::to_string(max_threads) + ", or 0 for all processors");
  }
  SCHAAS_ASSIGN_OR_RETURN(sizes.extents, bound_extents(program, operands, bind.extents));
  for (const auto& [name, tensor] : operands) {
    if (tensor->on_device() && !bind.gpu)
      return support::invalid("no-device", "`" + name + "` lies on a GPU, and it is not said on which");
  }
  auto computation = std::make_unique<Computation::State>();
  computation->gpu = bind.gpu;
  const Access& result = program.result();
  if (const auto before = operands.find(result.tensor); before != operands.end())
    computation->before = before->second;
  SCHAAS_RETURN_IF_ERROR(choose_result(sizes, operands, bind, *computation));
  if (computation->before != nullptr && computation->written->format().all_dense())
    SCHAAS_RETURN_IF_ERROR(check_updated(result, *computation->before, *computation->written));
  for (const auto& [name, tensor] : operands) sizes.entries[name] = entries_of(*tensor);
  sizes.entries[result.tensor] = entries_of(*computation->written);
  return computation;
}

/// On the processor; what lies on a device gets a twin here.
support::Result<void> KernelSet::State::prepare(const Preference& chosen, const Sizes& sizes,
                                                const Operands& operands, const BindOptions& bind,
                                                const Computation::State& computation,
                                                BoundKernel& bound) const {
  std::vector<PackedTensor*> arguments;
  const auto here = [&](PackedTensor* tensor, const std::string& name) -> support::Result<PackedTensor*> {
    if (!tensor->on_device()) return tensor;
    SCHAAS_ASSIGN_OR_RETURN(PackedTensor twin, bind.gpu->gpu.levels_on_host(*tensor, name, bind.gpu->stream));
    SCHAAS_RETURN_IF_ERROR(bind.gpu->gpu.copy_values(*tensor, twin, bind.gpu->stream));
    SCHAAS_RETURN_IF_ERROR(validate(twin.view(), name));
    bound.operands.push_back({tensor, std::make_unique<PackedTensor>(std::move(twin))});
    return bound.operands.back().here.get();
  };
  if (computation.written->on_device()) {
    SCHAAS_ASSIGN_OR_RETURN(
        PackedTensor twin,
        bind.gpu->gpu.levels_on_host(*computation.written, program.result().tensor, bind.gpu->stream));
    bound.written_here = std::make_unique<PackedTensor>(std::move(twin));
  }
  for (const auto& name : chosen.arguments) {
    const auto found = operands.find(name);
    const bool is_result = name == program.result().tensor;
    SCHAAS_CHECK(is_result || found != operands.end(), "the server names an argument `" + name + "`");
    if (is_result) {
      arguments.push_back(bound.written_here ? bound.written_here.get() : computation.written);
      continue;
    }
    SCHAAS_ASSIGN_OR_RETURN(PackedTensor* const operand, here(found->second, name));
    arguments.push_back(operand);
  }
  ExecutionOptions execution;
  execution.threads = threads_for(*chosen.kernel, sizes, bind);
  execution.deterministic = bind.deterministic;
  execution.operands_change = bind.operands_change;
  SCHAAS_ASSIGN_OR_RETURN(bound.execution,
                          session.prepare(chosen.arguments, *chosen.kernel, std::move(arguments), execution));
  return {};
}

support::Result<GpuExecution> KernelSet::State::prepare_on_gpu(const Preference& chosen,
                                                               const Operands& operands,
                                                               const BindOptions& bind,
                                                               const Computation::State& computation) const {
  std::vector<PackedTensor*> arguments;
  for (const auto& name : chosen.arguments) {
    const auto found = operands.find(name);
    const bool is_result = name == program.result().tensor;
    SCHAAS_CHECK(is_result || found != operands.end(), "the server names an argument `" + name + "`");
    arguments.push_back(is_result ? computation.written : found->second);
  }
  SCHAAS_ASSIGN_OR_RETURN(const GpuKernel kernel, session.load_for_gpu(*chosen.kernel));
  return GpuExecution::prepare(bind.gpu->gpu, kernel, std::move(arguments), chosen.arguments,
                               bind.gpu->stream);
}

/// The kernel that was decided on, where it runs.
support::Result<BoundKernel> KernelSet::State::bound_to(const Preference& chosen, const Sizes& sizes,
                                                        const Operands& operands, const BindOptions& bind,
                                                        const Computation::State& computation) const {
  BoundKernel bound;
  std::vector<std::string> brought;
  const bool on_gpu = support::is_for_gpu(chosen.kernel->isa);
  bool any = computation.written->on_device();
  for (const auto& [name, tensor] : operands) {
    any = any || tensor->on_device();
    if (tensor->on_device() != on_gpu) brought.push_back(name);
  }
  if (on_gpu) {
    SCHAAS_ASSIGN_OR_RETURN(bound.on_gpu, prepare_on_gpu(chosen, operands, bind, computation));
    bound.device = bind.gpu->gpu.name();
  } else {
    SCHAAS_RETURN_IF_ERROR(prepare(chosen, sizes, operands, bind, computation, bound));
  }
  bound.kernel = *chosen.kernel;
  bound.reason = chosen.reason;
  bound.takes_any_order = takes_any_order(bound.kernel.tree, summed);
  if (any) bound.reason += brought_text(brought, on_gpu ? bound.device : "the processor");
  return bound;
}

/// Binds better kernels to the tensors of a computation, between its runs.
struct KernelSet::State::Rebinding {
  std::shared_ptr<State> set;
  DecisionPointer decision;
  Operands operands;
  BindOptions bind;
  const Computation::State* computation;
  std::uint64_t seen = decision->version;  ///< version of the pool
  Clock::time_point looked = decision->made;

  std::optional<BoundKernel> operator()() {
    if (decision->holds(seen, looked)) return std::nullopt;
    seen = decision->pool->version();
    looked = Clock::now();
    auto next = set->decide(decision->sizes, operands, *computation->written, bind);
    if (!next.ok()) return std::nullopt;
    const bool is_same = (*next)->chosen->kernel->digest.sha256 == decision->chosen->kernel->digest.sha256;
    if (is_same) {
      decision = *std::move(next);
      return std::nullopt;
    }
    auto bound = set->bound_to(*(*next)->chosen, (*next)->sizes, operands, bind, *computation);
    if (!bound.ok() || !bound->check_order(operands, bind).ok()) return std::nullopt;
    decision = *std::move(next);
    return std::move(bound).value();
  }
};

support::Result<Computation> KernelSet::bind(const std::map<std::string, PackedTensor*>& operands,
                                             const BindOptions& options) const {
  if (state_->split) return state_->split->bind(operands, options);
  if (options.result != nullptr) {
    SCHAAS_ASSIGN_OR_RETURN(KeptLevels kept, KeptLevels::of(operands, *options.result));
    if (!kept.own.empty()) {
      SCHAAS_ASSIGN_OR_RETURN(Computation bound, bind(kept.operands, options));
      bound.state_->kept = std::move(kept.own);
      return bound;
    }
  }
  Sizes sizes;
  SCHAAS_ASSIGN_OR_RETURN(auto computation, state_->start(operands, options, sizes));
  BindOptions given = options;
  if (given.wait.leave_after == std::chrono::milliseconds(0))
    given.wait.leave_after = state_->options.leave_after;
  const PackedTensor& written = *computation->written;
  SCHAAS_ASSIGN_OR_RETURN(DecisionPointer decision, state_->decide(sizes, operands, written, given));
  auto bound = state_->bound_to(*decision->chosen, sizes, operands, given, *computation);
  // Schedules that need too much memory here; another one that is still on its way may fit.
  std::set<std::string> excluded;
  while (!bound.ok() && bound.error().family == support::Family::exhausted && !decision->chosen->is_best &&
         excluded.insert(decision->chosen->kernel->digest.sha256).second) {
    auto next = state_->decide(sizes, operands, written, given, excluded);
    if (!next.ok()) return next.error().code == "cancelled" ? next.error() : bound.error();
    decision = *std::move(next);
    bound = state_->bound_to(*decision->chosen, sizes, operands, given, *computation);
  }
  // A failure on the device falls back to the processor.
  const bool is_elsewhere = support::is_for_gpu(decision->chosen->kernel->isa) && !given.gpu->alone &&
                            given.schedule == "auto" && !bound.ok() &&
                            bound.error().family != support::Family::internal;
  if (is_elsewhere) {
    BindOptions here = given;
    here.gpu.reset();
    SCHAAS_ASSIGN_OR_RETURN(decision, state_->decide(sizes, operands, written, here));
    Preference chosen = *decision->chosen;
    chosen.reason += "; not on " + given.gpu->gpu.name() + ": " + bound.error().message;
    bound = state_->bound_to(chosen, sizes, operands, given, *computation);
  }
  if (!bound.ok()) return bound.error();
  computation->bound = std::move(bound).value();
  SCHAAS_RETURN_IF_ERROR(computation->bound.check_order(operands, given));
  if (decision->pool && !given.deterministic && !given.single_run && !is_elsewhere) {
    given.wait = {std::chrono::milliseconds(0)};  // between runs nothing is waited for
    computation->better =
        State::Rebinding{state_, std::move(decision), operands, std::move(given), computation.get()};
  }
  return Computation(std::move(computation));
}

void KernelSet::begin(const BindOptions& options) const {
  if (state_->split) return state_->split->begin(options);
  if (options.gpu || options.schedule != "auto") return;
  if (const auto wanted = state_->request({}, {}, {}, options); wanted.ok()) state_->pool(*wanted)->begin();
}

support::Result<Tuning> KernelSet::tune(const std::map<std::string, PackedTensor*>& operands,
                                        const BindOptions& given) const {
  if (state_->split) return state_->split->tune(operands, given);
  Sizes sizes;
  BindOptions options = given;
  SCHAAS_ASSIGN_OR_RETURN(auto computation, state_->start(operands, options, sizes));
  add_statistics(state_->program, operands, sizes);
  PackedTensor& written = *computation->written;
  const bool there =
      written.on_device() ||
      std::any_of(operands.begin(), operands.end(), [](const auto& one) { return one.second->on_device(); });
  if (there) options.gpu->alone = true;
  options.schedule = "auto";
  SCHAAS_ASSIGN_OR_RETURN(ChoiceRequest request, state_->request(sizes, operands, written, options));
  request.schedule.stop = options.wait.stop;
  request.timed_run = [&](const ScheduleAnswer& answer,
                          const KernelInfo& kernel) -> support::Result<TimedRun> {
    const Preference one{kernel, answer.frontier.arguments, ""};
    SCHAAS_ASSIGN_OR_RETURN(BoundKernel bound, state_->bound_to(one, sizes, operands, options, *computation));
    return TimedRun([&, run = std::make_shared<BoundKernel>(std::move(bound))]() -> support::Result<double> {
      if (options.wait.stop.stop_requested()) return cancelled();
      return timed([&]() -> support::Result<void> {
        SCHAAS_RETURN_IF_ERROR(computation->run(*run));
        return run->on_gpu ? run->on_gpu->wait() : support::Result<void>();
      });
    });
  };
  SCHAAS_ASSIGN_OR_RETURN(Choice choice, choose(state_->session.source(), request));
  const std::string where = state_->placement(operands, written, given);
  const Preference fastest{choice.kernel, choice.answer.frontier.arguments, choice.reason, true, true};
  std::vector<std::shared_ptr<KernelPool>> pools;
  {
    const std::lock_guard lock(state_->mutex);
    const auto decision =
        std::make_shared<const Decision>(Decision{sizes, "auto", options.threads, options.deterministic,
                                                  where, std::make_shared<const Preference>(fastest)});
    std::erase_if(state_->tuned, [&](const DecisionPointer& old) {
      return same(old->sizes, sizes) && old->placement == where &&
             old->deterministic == options.deterministic;
    });
    state_->tuned.push_back(decision);
    for (const auto& [kind, pool] : state_->pools) pools.push_back(pool);
  }
  for (const auto& pool : pools) pool->set_measurements(choice.answer.frontier.measurements);
  return Tuning{choice.measured, choice.kernel.id};
}

}  // namespace schaas::client
