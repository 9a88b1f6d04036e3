#include "schaas/kernel_set.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "binding.h"
#include "compiler/format/blocks.h"
#include "compiler/format/written_as.h"
#include "converted_result.h"
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
  std::vector<std::string> arguments{};  ///< of the kernel, in order
  KernelInfo kernel{};
  std::string reason{};
};

}  // namespace

struct Computation::State {
  PackedTensor own;                          ///< what the kernel writes, when nobody gave a tensor for it
  PackedTensor* written = nullptr;           ///< by the kernel
  const PackedTensor* before = nullptr;      ///< of an update: where it starts from
  std::optional<ConvertedResult> converted;  ///< where it is to be stored in another way
  KernelInfo kernel;
  std::string reason;
  std::optional<Execution> execution;

  support::Result<void> run(Execution& bound);
  support::Result<double> timed_run(Execution& bound);
};

Computation::Computation(std::unique_ptr<State> state) : state_(std::move(state)) {}
Computation::Computation(Computation&&) noexcept = default;
Computation& Computation::operator=(Computation&&) noexcept = default;
Computation::~Computation() = default;

support::Result<void> Computation::State::run(Execution& bound) {
  if (before != nullptr && before != written) {
    Buffer& values = written->values();
    if (values.data() != before->values().data() && values.bytes() > 0)
      std::memcpy(values.data(), before->values().data(), values.bytes());
  }
  return bound.rerun_values();
}

support::Result<double> Computation::State::timed_run(Execution& bound) {
  const auto start = Clock::now();
  SCHAAS_RETURN_IF_ERROR(run(bound));
  return std::chrono::duration<double>(Clock::now() - start).count();
}

support::Result<void> Computation::run() {
  SCHAAS_RETURN_IF_ERROR(state_->run(*state_->execution));
  return state_->converted ? state_->converted->bring(*state_->written, state_->execution->threads())
                           : support::Result<void>();
}

PackedTensor& Computation::result() {
  return state_->converted ? state_->converted->tensor() : *state_->written;
}
const KernelInfo& Computation::kernel() const { return state_->kernel; }
const std::string& Computation::reason() const { return state_->reason; }
const Execution& Computation::execution() const { return *state_->execution; }

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

  std::mutex mutex;                  ///< of all below
  Choice choice;                     ///< with the answer, once it has come
  std::optional<Selector> selector;  ///< of its frontier, when that is whole
  std::optional<Clock::time_point> asked;
  std::vector<Decision> tuned;
  std::optional<Decision> last;

  support::Result<Decision> decide(const Sizes& sizes, const BindOptions& bind);
  support::Result<void> ask(ChoiceRequest request, const BindOptions& bind);
  ChoiceRequest request(const Sizes& sizes, const BindOptions& bind) const;
  std::string isa() const;
  Sizes told(Sizes sizes) const;
  int threads_for(const KernelInfo& kernel, const Sizes& sizes, const BindOptions& bind) const;
  support::Result<void> place_result(const Sizes& sizes, const BindOptions& bind,
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
  if (state_->selector) return state_->choice.answer.frontier;
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

std::string KernelSet::State::isa() const { return options.isa.empty() ? host_isa() : options.isa; }

ChoiceRequest KernelSet::State::request(const Sizes& sizes, const BindOptions& bind) const {
  ChoiceRequest request;
  request.schedule.problem = problem;
  request.schedule.search = options.search;
  request.schedule.isa = isa();
  request.wanted = bind.schedule;
  request.patience = options.patience;
  request.sizes = sizes;
  request.machine = machine;
  if (bind.threads > 0) request.machine.threads = bind.threads;
  return request;
}

support::Result<void> KernelSet::State::ask(ChoiceRequest request, const BindOptions& bind) {
  if (asked) request.patience = std::chrono::milliseconds(0);
  SCHAAS_ASSIGN_OR_RETURN(choice, choose(session.source(), std::move(request), bind.listener));
  asked = Clock::now();
  selector.reset();
  if (!choice.out_of_patience && !choice.answer.frontier.partial)
    selector.emplace(choice.answer.frontier.entries);
  return {};
}

support::Result<Decision> KernelSet::State::decide(const Sizes& sizes, const BindOptions& bind) {
  const std::lock_guard lock(mutex);
  const auto fits = [&](const Decision& known) {
    return known.schedule == bind.schedule && known.threads == bind.threads && same(known.sizes, sizes);
  };
  for (const Decision& known : tuned) {
    if (!fits(known)) continue;
    if (!last || !same(last->sizes, sizes)) last = known;
    return known;
  }
  if (last && fits(*last) && (selector || bind.schedule != "auto")) return *last;
  const ChoiceRequest wanted = request(sizes, bind);
  Decision decision{sizes, bind.schedule, bind.threads};
  if (bind.schedule != "auto") {
    SCHAAS_ASSIGN_OR_RETURN(Choice named, choose(session.source(), wanted, bind.listener));
    decision.arguments = std::move(named.answer.frontier.arguments);
    decision.kernel = std::move(named.kernel);
    decision.reason = std::move(named.reason);
  } else {
    if (selector) {
      SCHAAS_RETURN_IF_ERROR(choose_again(session.source(), wanted, *selector, choice, bind.listener));
    } else if (!asked || Clock::now() - *asked > ask_again_after) {
      SCHAAS_RETURN_IF_ERROR(ask(wanted, bind));
    }
    decision.arguments = choice.answer.frontier.arguments;
    decision.kernel = choice.kernel;
    decision.reason = choice.reason;
  }
  last = decision;
  return decision;
}

int KernelSet::State::threads_for(const KernelInfo& kernel, const Sizes& sizes,
                                  const BindOptions& bind) const {
  if (bind.threads > 0) return bind.threads;
  const auto trips = evaluate(kernel.time_terms, sizes);
  return trips.ok() && *trips < trips_of_one_thread ? 1 : host_threads();
}

/// Where the kernel writes and where the user finds it.
support::Result<void> KernelSet::State::place_result(const Sizes& sizes, const BindOptions& bind,
                                                     Computation::State& computation) const {
  const Access& result = program.result();
  const format::TensorFormat written = format::written_as(result_format);
  std::vector<std::int64_t> extents;
  for (const auto& index : result.indices) extents.push_back(sizes.extents.at(index));
  const std::string given = "the tensor given for the result `" + print(result) + "`";
  if (bind.result != nullptr && bind.result->extents() != extents)
    return support::invalid("result-shape", given + " has other extents than its indices");
  if (written != result_format) {
    if (bind.result != nullptr && bind.result->format() != result_format)
      return support::invalid("argument-format", given + " is stored as " +
                                                     format::print(bind.result->format()) + ", expected " +
                                                     format::print(result_format));
    computation.converted.emplace(result_format, result.tensor, bind.result);
  } else if (bind.result != nullptr) {
    computation.written = bind.result;
    return {};
  }
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
  auto computation = std::make_unique<Computation::State>();
  const Access& result = program.result();
  if (const auto before = operands.find(result.tensor); before != operands.end())
    computation->before = before->second;
  SCHAAS_RETURN_IF_ERROR(place_result(sizes, bind, *computation));
  for (const auto& [name, tensor] : operands) sizes.entries[name] = entries_of(*tensor);
  sizes.entries[result.tensor] = entries_of(*computation->written);
  return computation;
}

support::Result<Execution> KernelSet::State::prepare(const Decision& decision,
                                                     const std::map<std::string, PackedTensor*>& operands,
                                                     const BindOptions& bind,
                                                     Computation::State& computation) const {
  std::vector<PackedTensor*> arguments;
  for (const auto& name : decision.arguments) {
    const auto place = operands.find(name);
    const bool is_result = name == program.result().tensor;
    SCHAAS_CHECK(is_result || place != operands.end(), "the server names an argument `" + name + "`");
    arguments.push_back(is_result ? computation.written : place->second);
  }
  ExecutionOptions execution;
  execution.threads = threads_for(decision.kernel, decision.sizes, bind);
  execution.deterministic = bind.deterministic;
  execution.operands_change = bind.operands_change;
  return session.prepare(decision.arguments, decision.kernel, std::move(arguments), execution);
}

support::Result<Computation> KernelSet::bind(const std::map<std::string, PackedTensor*>& operands,
                                             const BindOptions& options) const {
  Sizes sizes;
  SCHAAS_ASSIGN_OR_RETURN(auto computation, state_->start(operands, options, sizes));
  SCHAAS_ASSIGN_OR_RETURN(Decision decision, state_->decide(sizes, options));
  SCHAAS_ASSIGN_OR_RETURN(computation->execution, state_->prepare(decision, operands, options, *computation));
  computation->kernel = std::move(decision.kernel);
  computation->reason = std::move(decision.reason);
  return Computation(std::move(computation));
}

support::Result<Tuning> KernelSet::tune(const std::map<std::string, PackedTensor*>& operands,
                                        const BindOptions& options) const {
  Sizes sizes;
  SCHAAS_ASSIGN_OR_RETURN(auto computation, state_->start(operands, options, sizes));
  ChoiceRequest request = state_->request(sizes, options);
  request.wanted = "auto";
  request.contend = [&](const ScheduleAnswer& answer, const KernelInfo& kernel) -> support::Result<TimedRun> {
    auto bound = state_->prepare({sizes, "auto", options.threads, answer.frontier.arguments, kernel, ""},
                                 operands, options, *computation);
    if (!bound.ok()) return bound.error();
    return TimedRun([&computation, execution = std::make_shared<Execution>(std::move(bound).value())] {
      return computation->timed_run(*execution);
    });
  };
  SCHAAS_ASSIGN_OR_RETURN(Choice choice, choose(state_->session.source(), request, options.listener));
  const std::lock_guard lock(state_->mutex);
  std::erase_if(state_->tuned, [&](const Decision& known) { return same(known.sizes, sizes); });
  state_->tuned.push_back(
      {sizes, "auto", options.threads, choice.answer.frontier.arguments, choice.kernel, choice.reason});
  if (state_->selector)
    state_->choice.answer.frontier.measurements = std::move(choice.answer.frontier.measurements);
  return Tuning{choice.measured, choice.kernel.id};
}

}  // namespace schaas::client
