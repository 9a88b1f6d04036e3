#include "schaas/kernel_set.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "argument_check.h"
#include "binding.h"
#include "compiler/format/blocks.h"
#include "compiler/format/written_as.h"
#include "converted_result.h"
#include "overlap.h"
#include "process_mutex.h"
#include "schaas/blocks.h"
#include "schaas/bounds.h"
#include "schaas/host.h"

namespace schaas::client {
namespace {

using Clock = std::chrono::steady_clock;

/// Work that is done before a second thread has woken up.
constexpr double trips_of_one_thread = 20'000;
/// A search that was not waited for is asked for again no more often.
constexpr std::chrono::milliseconds ask_again_after{500};

bool same(const Sizes& a, const Sizes& b) { return a.extents == b.extents && a.entries == b.entries; }

/// What was decided for some sizes.
struct Decision {
  Sizes sizes;
  std::string schedule;
  int threads = 0;
  bool deterministic = false;
  std::string place{};                   ///< where tensors lie, and on which device it may run
  std::vector<std::string> arguments{};  ///< of the kernel, in order
  KernelInfo kernel{};
  std::string reason{};
};

/// What the server answered for one kind of request.
struct Answered {
  Choice choice;                       ///< with the answer, once it has come
  std::optional<Selectors> selectors;  ///< of its frontier, when that is whole
  std::optional<Clock::time_point> asked;
};

/// The processor cannot give a sparse result the arrays that lie on a device.
bool is_alone(const BindOptions& bind, const PackedTensor& result) {
  return bind.gpu->alone || (result.on_device() && !result.format().all_dense());
}

std::string quoted(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "`" : ", `") + name + "`";
  return text;
}

/// "; `x` is brought to the device", or "".
std::string brought_text(const std::vector<std::string>& names, const std::string& where) {
  if (names.empty()) return "";
  return "; " + quoted(names) + (names.size() == 1 ? " is" : " are") + " brought to " + where;
}

/// What lies on a device, for a kernel of the processor: the levels once, the values with each run.
struct OnHost {
  PackedTensor* there = nullptr;
  std::unique_ptr<PackedTensor> here;
};

}  // namespace

struct Computation::State {
  PackedTensor own;                          ///< what the kernel writes, when nobody gave a tensor for it
  PackedTensor* written = nullptr;           ///< by the kernel
  const PackedTensor* before = nullptr;      ///< of an update: where it starts from
  std::optional<ConvertedResult> converted;  ///< where it is to be stored in another way, or apart
  std::vector<std::unique_ptr<PackedTensor>> kept{};  ///< operands, of KeptLevels
  KernelInfo kernel;
  std::string reason;
  std::optional<Execution> execution;  ///< either this
  std::optional<GpuExecution> on_gpu;  ///< or that
  std::optional<GpuUse> gpu;
  std::string device;
  std::vector<OnHost> operands;              ///< of `execution`
  std::optional<PackedTensor> written_here;  ///< of `execution`, where `written` lies on a device

  /// Of an update whose result is not the operand itself: where a run on a device starts from.
  const PackedTensor* start() const { return before == written ? nullptr : before; }
  support::Result<void> run(Execution& bound);
  support::Result<void> run();
};

namespace {

/// Seconds of a run to its end.
template <class Run>
support::Result<double> timed(const Run& run) {
  const auto start = Clock::now();
  SCHAAS_RETURN_IF_ERROR(run());
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Computation::Computation(std::unique_ptr<State> state) : state_(std::move(state)) {}
Computation::Computation(Computation&&) noexcept = default;
Computation& Computation::operator=(Computation&&) noexcept = default;
Computation::~Computation() = default;

/// On the processor.
support::Result<void> Computation::State::run(Execution& bound) {
  for (const OnHost& operand : operands)
    SCHAAS_RETURN_IF_ERROR(gpu->gpu.copy_values(*operand.there, *operand.here, gpu->stream));
  PackedTensor& target = written_here ? *written_here : *written;
  if (before != nullptr && (before->on_device() || written_here)) {
    SCHAAS_RETURN_IF_ERROR(gpu->gpu.copy_values(*before, target, gpu->stream));
  } else if (before != nullptr && before != written) {
    Buffer& values = target.values();
    if (values.data() != before->values().data() && values.bytes() > 0)
      std::memcpy(values.data(), before->values().data(), values.bytes());
  }
  SCHAAS_RETURN_IF_ERROR(bound.rerun_values());
  return written_here ? gpu->gpu.copy_values(target, *written, gpu->stream) : support::Result<void>();
}

support::Result<void> Computation::State::run() { return on_gpu ? on_gpu->run(start()) : run(*execution); }

support::Result<void> Computation::run() {
  SCHAAS_RETURN_IF_ERROR(state_->run());
  const int threads = state_->execution ? state_->execution->threads() : host_threads();
  return state_->converted ? state_->converted->bring(*state_->written, threads) : support::Result<void>();
}

PackedTensor& Computation::result() {
  return state_->converted ? state_->converted->tensor() : *state_->written;
}
const KernelInfo& Computation::kernel() const { return state_->kernel; }
const std::string& Computation::reason() const { return state_->reason; }
int Computation::threads() const { return state_->execution ? state_->execution->threads() : 1; }
std::vector<CopiedOperand> Computation::copies() const {
  return state_->execution ? state_->execution->copies() : std::vector<CopiedOperand>();
}
const std::string& Computation::device() const { return state_->device; }

struct KernelSet::State {
  State(Session opened, ProblemText text, KernelSetOptions given)
      : session(std::move(opened)), problem(std::move(text)), options(std::move(given)) {}

  const Session session;
  const ProblemText problem;
  const KernelSetOptions options;
  Program program;
  format::TensorFormat result_format;
  ValueType value_type = ValueType::f64;
  Machine machine;

  ProcessMutex mutex;                        ///< of all below
  std::map<std::string, Answered> answered;  ///< by what may compute: "", "gpu", "gpu alone"
  std::vector<Decision> tuned;
  std::optional<Decision> last;

  using Operands = std::map<std::string, PackedTensor*>;
  support::Result<Decision> decide(Sizes sizes, const Operands& operands, const PackedTensor& result,
                                   const BindOptions& bind);
  support::Result<void> ask(Answered& known, ChoiceRequest request, const BindOptions& bind);
  support::Result<ChoiceRequest> request(const Sizes& sizes, const Operands& operands,
                                         const PackedTensor& result, const BindOptions& bind) const;
  std::string place(const Operands& operands, const PackedTensor& result, const BindOptions& bind) const;
  support::Result<void> bind_to(const Decision& decision, const Operands& operands, const BindOptions& bind,
                                Computation::State& computation) const;
  support::Result<GpuExecution> prepare_on_gpu(const Decision& decision, const Operands& operands,
                                               const BindOptions& bind,
                                               const Computation::State& computation) const;
  std::string isa() const;
  Sizes told(Sizes sizes) const;
  int threads_for(const KernelInfo& kernel, const Sizes& sizes, const BindOptions& bind) const;
  support::Result<void> place_result(const Sizes& sizes, const Operands& operands, const BindOptions& bind,
                                     Computation::State& computation) const;
  support::Result<std::unique_ptr<Computation::State>> start(
      const std::map<std::string, PackedTensor*>& operands, const BindOptions& bind, Sizes& sizes) const;
  support::Result<Execution> prepare(const Decision& decision,
                                     const std::map<std::string, PackedTensor*>& operands,
                                     const BindOptions& bind, Computation::State& computation) const;
};

KernelSet::KernelSet(std::shared_ptr<State> state) : state_(std::move(state)) {}

support::Result<KernelSet> KernelSet::open(const Session& session, ProblemText problem,
                                           KernelSetOptions options) {
  for (const auto& [tensor, text] : problem.formats) {
    if (format::without_blocks(text) == text) continue;
    return support::unsupported("blocks", "`" + tensor + "` in `" + text +
                                              "`: tensors in memory cannot be bound in blocks; csr works");
  }
  const auto stored = session.source().lookup(problem);
  if (!stored.ok() && stored.error().code != "not-stored") return stored.error();
  auto state = std::make_shared<State>(session, std::move(problem), std::move(options));
  SCHAAS_ASSIGN_OR_RETURN(state->program, parse_program(state->problem.expression));
  const Access& result = state->program.result();
  const auto given = state->problem.formats.find(result.tensor);
  SCHAAS_ASSIGN_OR_RETURN(state->result_format,
                          format::parse(given == state->problem.formats.end() ? "dense" : given->second,
                                        static_cast<int>(result.indices.size()), result.tensor));
  state->value_type = state->problem.value_type == "f32" ? ValueType::f32 : ValueType::f64;
  state->machine = this_machine(state->value_type);
  return KernelSet(std::move(state));
}

const Program& KernelSet::program() const { return state_->program; }
const ProblemText& KernelSet::problem() const { return state_->problem; }

support::Result<Frontier> KernelSet::frontier() const {
  const std::lock_guard lock(state_->mutex);
  for (const auto& [kind, known] : state_->answered)
    if (known.selectors) return known.choice.answer.frontier;
  ScheduleRequest request;
  request.problem = state_->problem;
  request.search = state_->options.search;
  request.search_only = true;
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
  FrontierHere here;
  SCHAAS_ASSIGN_OR_RETURN(here.frontier, frontier());
  Sizes sizes;
  int threads = options.threads;
  if (!operands.empty()) {
    SCHAAS_RETURN_IF_ERROR(state_->start(operands, options, sizes));
  } else {
    const std::lock_guard lock(state_->mutex);
    if (!state_->last) return here;
    sizes = state_->last->sizes;
    threads = state_->last->threads;
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

/// Which tensors lie on the device, and whether the processor competes: other places, other decisions.
std::string KernelSet::State::place(const Operands& operands, const PackedTensor& result,
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
  request.patience = options.patience;
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
  if (request.gpu->alone) request.schedule.isa = "cuda";
  return request;
}

support::Result<void> KernelSet::State::ask(Answered& known, ChoiceRequest request, const BindOptions& bind) {
  if (known.asked) request.patience = std::chrono::milliseconds(0);
  SCHAAS_ASSIGN_OR_RETURN(known.choice, choose(session.source(), std::move(request), bind.listener));
  known.asked = Clock::now();
  known.selectors.reset();
  if (!known.choice.out_of_patience && !known.choice.answer.frontier.partial)
    known.selectors.emplace(known.choice.answer.frontier);
  return {};
}

support::Result<Decision> KernelSet::State::decide(Sizes sizes, const Operands& operands,
                                                   const PackedTensor& result, const BindOptions& bind) {
  const std::lock_guard lock(mutex);
  const std::string where = place(operands, result, bind);
  const auto fits = [&](const Decision& one) {
    return one.schedule == bind.schedule && one.threads == bind.threads &&
           one.deterministic == bind.deterministic && one.place == where && same(one.sizes, sizes);
  };
  for (const Decision& one : tuned) {
    if (!fits(one)) continue;
    if (!last || !same(last->sizes, sizes)) last = one;
    return one;
  }
  const std::string kind = std::string(!bind.gpu                ? ""
                                       : is_alone(bind, result) ? "gpu alone"
                                                                : "gpu") +
                           (bind.deterministic ? " deterministic" : "");
  Answered& known = answered[kind];
  if (last && fits(*last) && (known.selectors || bind.schedule != "auto")) return *last;
  SCHAAS_ASSIGN_OR_RETURN(const ChoiceRequest wanted, request(sizes, operands, result, bind));
  Decision decision{std::move(sizes), bind.schedule, bind.threads, bind.deterministic, where};
  if (bind.schedule != "auto") {
    SCHAAS_ASSIGN_OR_RETURN(Choice named, choose(session.source(), wanted, bind.listener));
    decision.arguments = std::move(named.answer.frontier.arguments);
    decision.kernel = std::move(named.kernel);
    decision.reason = std::move(named.reason);
  } else {
    if (known.selectors) {
      SCHAAS_RETURN_IF_ERROR(
          choose_again(session.source(), wanted, *known.selectors, known.choice, bind.listener));
    } else if (!known.asked || Clock::now() - *known.asked > ask_again_after) {
      SCHAAS_RETURN_IF_ERROR(ask(known, wanted, bind));
    }
    decision.arguments = known.choice.answer.frontier.arguments;
    decision.kernel = known.choice.kernel;
    decision.reason = known.choice.reason;
  }
  last = decision;
  return decision;
}

int KernelSet::State::threads_for(const KernelInfo& kernel, const Sizes& sizes,
                                  const BindOptions& bind) const {
  if (bind.threads > 0) return bind.threads;
  const auto trips = evaluate(kernel.time_terms, sizes);
  return trips.ok() && *trips < trips_of_one_thread ? 1 : 0;
}

/// Where the kernel writes and where the user finds it.
support::Result<void> KernelSet::State::place_result(const Sizes& sizes, const Operands& operands,
                                                     const BindOptions& bind,
                                                     Computation::State& computation) const {
  const Access& result = program.result();
  const format::TensorFormat written = format::written_as(result_format);
  std::vector<std::int64_t> extents;
  for (const auto& index : result.indices) extents.push_back(sizes.extents.at(index));
  if (bind.result != nullptr) {
    SCHAAS_RETURN_IF_ERROR(check_result(result, result_format, value_type, extents, *bind.result));
    if (bind.result->on_device() && written != result_format)
      return support::unsupported("result-format",
                                  "the tensor given for the result `" + print(result) +
                                      "` lies on a device in " + format::print(result_format) +
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
  const PackOptions pack{result.tensor, value_type, problem.position_bits == "32" ? 32 : 64,
                         program.semiring->zero};
  SCHAAS_ASSIGN_OR_RETURN(computation.own, zeros(extents, written, pack));
  computation.written = &computation.own;
  return {};
}

/// Everything of a computation but its kernel.
support::Result<std::unique_ptr<Computation::State>> KernelSet::State::start(
    const std::map<std::string, PackedTensor*>& operands, const BindOptions& bind, Sizes& sizes) const {
  if (bind.threads < 0 || bind.threads > most_threads) {
    return support::invalid("threads", std::to_string(bind.threads) + " threads; expected 1 to " +
                                           std::to_string(most_threads) + ", or 0 for all processors");
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
  SCHAAS_RETURN_IF_ERROR(place_result(sizes, operands, bind, *computation));
  if (computation->before != nullptr && computation->written->format().all_dense())
    SCHAAS_RETURN_IF_ERROR(check_updated(result, *computation->before, *computation->written));
  // Of a product with one other operand nothing is formed before its entries are walked.
  const bool counted = operands.size() > 2;
  for (const auto& [name, tensor] : operands) {
    sizes.entries[name] = entries_of(*tensor);
    sizes.in_use[name] = coordinates_in_use(*tensor, counted);
  }
  sizes.entries[result.tensor] = entries_of(*computation->written);
  return computation;
}

/// On the processor; what lies on a device gets a twin here.
support::Result<Execution> KernelSet::State::prepare(const Decision& decision, const Operands& operands,
                                                     const BindOptions& bind,
                                                     Computation::State& computation) const {
  std::vector<PackedTensor*> arguments;
  computation.operands.clear();
  const auto here = [&](PackedTensor* tensor, const std::string& name) -> support::Result<PackedTensor*> {
    if (!tensor->on_device()) return tensor;
    SCHAAS_ASSIGN_OR_RETURN(PackedTensor twin, bind.gpu->gpu.levels_on_host(*tensor, name, bind.gpu->stream));
    SCHAAS_RETURN_IF_ERROR(bind.gpu->gpu.copy_values(*tensor, twin, bind.gpu->stream));
    SCHAAS_RETURN_IF_ERROR(validate(twin.view(), name));
    computation.operands.push_back({tensor, std::make_unique<PackedTensor>(std::move(twin))});
    return computation.operands.back().here.get();
  };
  if (computation.written->on_device()) {
    SCHAAS_ASSIGN_OR_RETURN(
        computation.written_here,
        bind.gpu->gpu.levels_on_host(*computation.written, program.result().tensor, bind.gpu->stream));
  }
  for (const auto& name : decision.arguments) {
    const auto place = operands.find(name);
    const bool is_result = name == program.result().tensor;
    SCHAAS_CHECK(is_result || place != operands.end(), "the server names an argument `" + name + "`");
    if (is_result) {
      arguments.push_back(computation.written_here ? &*computation.written_here : computation.written);
      continue;
    }
    SCHAAS_ASSIGN_OR_RETURN(PackedTensor* const operand, here(place->second, name));
    arguments.push_back(operand);
  }
  ExecutionOptions execution;
  execution.threads = threads_for(decision.kernel, decision.sizes, bind);
  execution.deterministic = bind.deterministic;
  execution.operands_change = bind.operands_change;
  return session.prepare(decision.arguments, decision.kernel, std::move(arguments), execution);
}

support::Result<GpuExecution> KernelSet::State::prepare_on_gpu(const Decision& decision,
                                                               const Operands& operands,
                                                               const BindOptions& bind,
                                                               const Computation::State& computation) const {
  std::vector<PackedTensor*> arguments;
  for (const auto& name : decision.arguments) {
    const auto place = operands.find(name);
    const bool is_result = name == program.result().tensor;
    SCHAAS_CHECK(is_result || place != operands.end(), "the server names an argument `" + name + "`");
    arguments.push_back(is_result ? computation.written : place->second);
  }
  SCHAAS_ASSIGN_OR_RETURN(const GpuKernel kernel, session.load_for_gpu(decision.kernel));
  return GpuExecution::prepare(bind.gpu->gpu, kernel, std::move(arguments), decision.arguments,
                               bind.gpu->stream);
}

/// Where the kernel that was decided on runs.
support::Result<void> KernelSet::State::bind_to(const Decision& decision, const Operands& operands,
                                                const BindOptions& bind,
                                                Computation::State& computation) const {
  std::vector<std::string> brought;
  const bool on_gpu = decision.kernel.isa == "cuda";
  bool any = computation.written->on_device();
  for (const auto& [name, tensor] : operands) {
    any = any || tensor->on_device();
    if (tensor->on_device() != on_gpu) brought.push_back(name);
  }
  if (on_gpu) {
    SCHAAS_ASSIGN_OR_RETURN(computation.on_gpu, prepare_on_gpu(decision, operands, bind, computation));
    computation.device = bind.gpu->gpu.name();
  } else {
    SCHAAS_ASSIGN_OR_RETURN(computation.execution, prepare(decision, operands, bind, computation));
  }
  computation.kernel = decision.kernel;
  computation.reason = decision.reason;
  if (any) computation.reason += brought_text(brought, on_gpu ? computation.device : "the processor");
  return {};
}

support::Result<Computation> KernelSet::bind(const std::map<std::string, PackedTensor*>& operands,
                                             const BindOptions& options) const {
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
  SCHAAS_ASSIGN_OR_RETURN(Decision decision, state_->decide(sizes, operands, *computation->written, options));
  const auto bound = state_->bind_to(decision, operands, options, *computation);
  if (bound.ok()) return Computation(std::move(computation));
  // What a device refuses, the processor may do.
  const bool elsewhere = decision.kernel.isa == "cuda" && !options.gpu->alone && options.schedule == "auto" &&
                         bound.error().family != support::Family::internal;
  if (!elsewhere) return bound.error();
  BindOptions here = options;
  here.gpu.reset();
  SCHAAS_ASSIGN_OR_RETURN(decision, state_->decide(sizes, operands, *computation->written, here));
  decision.reason += "; not on " + options.gpu->gpu.name() + ": " + bound.error().message;
  SCHAAS_RETURN_IF_ERROR(state_->bind_to(decision, operands, options, *computation));
  return Computation(std::move(computation));
}

support::Result<Tuning> KernelSet::tune(const std::map<std::string, PackedTensor*>& operands,
                                        const BindOptions& given) const {
  Sizes sizes;
  BindOptions options = given;
  SCHAAS_ASSIGN_OR_RETURN(auto computation, state_->start(operands, options, sizes));
  PackedTensor& written = *computation->written;
  const bool there =
      written.on_device() ||
      std::any_of(operands.begin(), operands.end(), [](const auto& one) { return one.second->on_device(); });
  if (there) options.gpu->alone = true;
  options.schedule = "auto";
  SCHAAS_ASSIGN_OR_RETURN(ChoiceRequest request, state_->request(sizes, operands, written, options));
  const std::string where = state_->place(operands, written, given);
  request.contend = [&](const ScheduleAnswer& answer, const KernelInfo& kernel) -> support::Result<TimedRun> {
    const Decision decision{
        sizes, "auto", options.threads, options.deterministic, where, answer.frontier.arguments, kernel, ""};
    if (kernel.isa == "cuda") {
      auto bound = state_->prepare_on_gpu(decision, operands, options, *computation);
      if (!bound.ok()) return bound.error();
      return TimedRun([&computation, run = std::make_shared<GpuExecution>(std::move(bound).value())] {
        return timed([&]() -> support::Result<void> {
          SCHAAS_RETURN_IF_ERROR(run->run(computation->start()));
          return run->wait();
        });
      });
    }
    auto bound = state_->prepare(decision, operands, options, *computation);
    if (!bound.ok()) return bound.error();
    return TimedRun([&computation, run = std::make_shared<Execution>(std::move(bound).value())] {
      return timed([&] { return computation->run(*run); });
    });
  };
  SCHAAS_ASSIGN_OR_RETURN(Choice choice, choose(state_->session.source(), request, options.listener));
  const std::lock_guard lock(state_->mutex);
  std::erase_if(state_->tuned, [&](const Decision& known) {
    return same(known.sizes, sizes) && known.place == where && known.deterministic == options.deterministic;
  });
  state_->tuned.push_back({sizes, "auto", options.threads, options.deterministic, where,
                           choice.answer.frontier.arguments, choice.kernel, choice.reason});
  for (auto& [kind, known] : state_->answered)
    if (known.selectors) known.choice.answer.frontier.measurements = choice.answer.frontier.measurements;
  return Tuning{choice.measured, choice.kernel.id};
}

}  // namespace schaas::client
