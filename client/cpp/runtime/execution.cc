#include "client/cpp/runtime/execution_state.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <variant>

#include "client/cpp/platform/scan.h"
#include "client/cpp/platform/share.h"
#include "client/cpp/platform/shared_object.h"
#include "client/cpp/runtime/argument_check.h"
#include "client/cpp/runtime/entry_bound.h"
#include "client/cpp/runtime/gathers.h"
#include "client/cpp/runtime/kernel_problem.h"
#include "client/cpp/runtime/streaming.h"
#include "client/cpp/tensor/packed_tensor_builder.h"
#include "client/cpp/tensor/result_storage.h"
#include "schaas/host.h"

// One kernel bound to tensors. prepare() does all that depends on structure alone. It checks arguments, makes
// copies (bound_arguments), allocates scratch and shared arrays, and divides each phase (divided_phase). A
// run then clears, executes the phases one after another, and folds. The team's barrier between phases makes
// their stores visible.
// A sparse result is made in one of three ways. If its structure is there, numeric phases fill it again. If
// the kernel may append, one pass makes it. Otherwise symbolic phases count, a scan turns counts into
// positions, and numeric phases fill.
// Errors of threads meet in one atomic; pieces that did not begin are skipped. After an error a sparse result
// is emptied: no half of a structure is ever seen.
namespace schaas::client {
namespace {

/// The sum of one value is the value. `or` and `and` make 1 of other numbers than 0, which truth values are.
bool sums_keep_values(const operators::Semiring& semiring, ValueType type) {
  const bool is_logical =
      semiring.sum == operators::Monoid::logical_or || semiring.sum == operators::Monoid::logical_and;
  return !is_logical || type == ValueType::boolean;
}

/// A statement that stores its only operand otherwise, A(j,i) = B(i,j), of which `copy` is stored as the
/// result.
bool is_copied(const KernelProblem& problem, const PackedTensor& copy, const PackedTensor& result) {
  const Program& program = problem.program;
  if (program.statements.size() != 1 || problem.update ||
      !sums_keep_values(*program.semiring, result.value_type()))
    return false;
  const auto* operand = std::get_if<Access>(&program.statements.front().value.node);
  if (operand == nullptr || copy.format().levels != result.format().levels) return false;
  if (copy.value_type() != result.value_type() || copy.position_bits() != result.position_bits())
    return false;
  std::set<std::string> seen;
  for (std::size_t l = 0; l < copy.format().levels.size(); ++l) {
    const auto at = [l](const PackedTensor& tensor, const Access& access) {
      return access.indices[static_cast<std::size_t>(tensor.format().mode_order[l])];
    };
    const std::string index = at(result, program.result());
    if (index != at(copy, *operand) || !seen.insert(index).second) return false;
  }
  return operand->indices.size() == program.result().indices.size();
}

/// Traces may store temporaries that are read where nothing is stored. The default nest has none, nor has one
/// over a copy of an operand.
bool has_no_temporaries(std::string_view schedule) {
  return schedule == "linear" ||
         (schedule.starts_with("store(") && schedule.find('(') == schedule.rfind('('));
}

}  // namespace

Execution::Execution(std::unique_ptr<State> state) : state_(std::move(state)) {}
Execution::Execution(Execution&&) noexcept = default;
Execution& Execution::operator=(Execution&&) noexcept = default;
Execution::~Execution() = default;

support::Result<Execution> Execution::prepare(const Kernel& kernel, std::vector<PackedTensor*> arguments,
                                              const ExecutionOptions& options) {
  if (!problem_of(kernel).ok()) return problem_of(kernel).error();
  const KernelProblem& problem = *problem_of(kernel);
  SCHAAS_RETURN_IF_ERROR(check_arguments(problem, arguments, options.names));
  const schaas_kernel_descriptor& d = kernel.descriptor();
  if (d.argument_count - d.copy_count != static_cast<std::int32_t>(arguments.size())) {
    return support::invalid("kernel-problem",
                            "the kernel's problem text names " + std::to_string(arguments.size()) +
                                " tensors, but it takes " + std::to_string(d.argument_count - d.copy_count));
  }
  auto state = std::make_unique<State>(kernel, arguments);
  state->options = options;
  state->update = problem.update;
  SCHAAS_RETURN_IF_ERROR(state->bind(options.names.empty() ? problem.tensors : options.names));
  return Execution(std::move(state));
}

// `names`: of the tensors, the result first.
support::Result<void> Execution::State::bind(const std::vector<std::string>& names) {
  const schaas_kernel_descriptor& d = descriptor();
  result_name = names[0];
  threads = options.threads > 0 ? options.threads : host_threads();
  SCHAAS_RETURN_IF_ERROR(add_copies(names));
  // Phases up to the last one that counts run before the result has arrays.
  for (std::int32_t p = 0; p < d.phase_count; ++p) {
    if (d.phases[p].step == SCHAAS_STEP_COUNT) counted_phases = p + 1;
  }
  SCHAAS_RETURN_IF_ERROR(check_counters());
  SCHAAS_ASSIGN_OR_RETURN(shared, SharedArrays::make(d, arguments.list()));
  SCHAAS_ASSIGN_OR_RETURN(scratch, Scratch::make(d, arguments.list(), threads));
  SCHAAS_RETURN_IF_ERROR(divide_phases());
  if (options.may_append) prepare_appending();
  ResultStorage::set_fill_value(result, d.result_fill);
  return {};
}

support::Result<void> Execution::State::add_copies(const std::vector<std::string>& names) {
  SCHAAS_RETURN_IF_ERROR(
      arguments.add_copies(descriptor(), {names, threads, options.operands_change, options.guard_copies}));
  const PackedTensor* const copy = arguments.only_copy();
  is_copy = counts() && copy != nullptr && is_copied(*problem_of(kernel), *copy, result);
  return {};
}

// Moves the arrays of the copy to the result, where a later run finds them, or makes the copy again.
support::Result<void> Execution::State::take_copy() {
  if (structure.is_of(result.view())) return {};
  if (arguments.only_copy() == nullptr) {
    const auto& names = options.names;
    SCHAAS_RETURN_IF_ERROR(add_copies(names.empty() ? problem_of(kernel)->tensors : names));
  }
  ResultStorage::give_entries(result, arguments.take_only_copy());
  note_structure();
  return {};
}

// The counters must be those of the result's compressed levels, in order. Each has room for one number more
// than units, as the scan puts the sum there.
support::Result<void> Execution::State::check_counters() const {
  const schaas_kernel_descriptor& d = descriptor();
  const auto& levels = result.format().levels;
  const int compressed = ResultStorage::compressed_levels(result.format());
  if (d.counter_count != compressed || (compressed > 0) != (counted_phases > 0)) {
    return bad_binary("it counts " + std::to_string(d.counter_count) + " levels of the result, which has " +
                      std::to_string(compressed) + " compressed ones");
  }
  if (compressed == 0) return {};
  if (update) {
    return support::unsupported("sparse-update", "`" + result_name + "` is stored as " +
                                                     format::print(result.format()) +
                                                     "; only dense results can be updated");
  }
  const schaas_counter* counter = d.counters;
  for (std::int32_t l = 0; l < result.order(); ++l) {
    if (!format::is_sparse(levels[l]) || format::is_singleton(levels[l])) continue;
    const bool exists = counter->shared_slot >= 0 && counter->shared_slot < d.shared_count;
    if (counter->level != l || !exists) return bad_binary("its counters are not the result's levels");
    if (d.shared_bytes(arguments.data(), counter->shared_slot) / 8 <= units())
      return bad_binary("a counter is shorter than its phase's range");
    ++counter;
  }
  return {};
}

support::Result<void> Execution::State::divide_phases() {
  phases.clear();
  const Division division{arguments, shared, result, threads, options};
  for (std::int32_t p = 0; p < descriptor().phase_count; ++p) {
    SCHAAS_ASSIGN_OR_RETURN(DividedPhase divided, divide(descriptor().phases[p], division));
    phases.push_back(std::move(divided));
  }
  return {};
}

void Execution::State::start_result(int part, int parts) const {
  const std::int64_t size = result.stored();
  constexpr std::int64_t line = 16;
  fill_values(result.values().data(), result.value_type(), share(size, line, part, parts),
              share(size, line, part + 1, parts), result.fill_value());
}

// Runs the pieces of a phase in any order: they write different elements, or arrays of their own.
// `work(piece, thread)` gives an error code; after one that is not SCHAAS_OK no further piece begins.
template <class Work>
void Execution::State::run_pieces(std::int32_t phase, Team& team, const Work& work) {
  team.run(static_cast<std::int64_t>(phases[phase].pieces()), [&](std::int64_t piece, int thread) {
    if (error.load(std::memory_order_relaxed) == SCHAAS_OK)
      note(work(static_cast<std::size_t>(piece), thread));
  });
}

std::int32_t Execution::State::run_piece(std::int32_t phase, std::size_t piece, int thread) {
  const std::vector<std::size_t>& borders = phases[phase].borders;
  std::optional<PrivatisedReduction>& folding = phases[phase].reduction;
  if (!folding) return run_tasks(phase, borders[piece], borders[piece + 1], arrays(), thread);
  folding->start(piece);
  return run_tasks(phase, borders[piece], borders[piece + 1],
                   {folding->arguments(piece), folding->shared(piece)}, thread);
}

// Runs [first, last); those that follow each other in one call.
std::int32_t Execution::State::run_tasks(std::int32_t phase, std::size_t first, std::size_t last,
                                         const Arrays& given, int thread) {
  const std::vector<Task>& tasks = phases[phase].tasks;
  for (std::size_t n = first; n < last; ++n) {
    Task task = tasks[n];
    // Adjacent tasks are one call for a thread that has both: fewer calls, the same order of additions.
    while (!task.is_part() && n + 1 < last && !tasks[n + 1].is_part()) task.end = tasks[++n].end;
    std::int32_t code = run_task(phase, task, given, scratch.of(thread));
    if (code == SCHAAS_TABLES_FULL && descriptor().phases[phase].step == SCHAAS_STEP_COUNT)
      code = run_grown(phase, task, thread);
    if (code != SCHAAS_OK) return code;
  }
  return SCHAAS_OK;
}

void Execution::State::note(std::int32_t code) {
  if (code != SCHAAS_OK) error.store(code, std::memory_order_relaxed);
}

std::int32_t Execution::State::run_task(std::int32_t number, const Task& task, const Arrays& given,
                                        void* workspace) {
  const schaas_phase& phase = descriptor().phases[number];
  if (!task.is_part()) {
    const auto whole = numeric_only && phase.values != nullptr ? phase.values : phase.run;
    return whole(given.arguments, given.shared, workspace, task.begin, task.end);
  }
  void* carry = task.carry < 0 ? nullptr : phases[number].partial_results->start(task.carry);
  return phase.part(given.arguments, given.shared, workspace, task.begin, task.first, task.last, carry);
}

// A phase that counts has found its tables too full: again with larger ones, until they suffice.
std::int32_t Execution::State::run_grown(std::int32_t number, const Task& task, int thread) {
  std::int32_t code = SCHAAS_TABLES_FULL;
  while (code == SCHAAS_TABLES_FULL) {
    const auto grown = scratch.grow(thread);
    if (!grown.ok()) {
      const std::lock_guard lock(failing);
      failure = grown.error();
      return code;
    }
    code = run_task(number, task, arrays(), scratch.of(thread));
  }
  return code;
}

// Without a team one thread runs all tasks as one piece, and calls as long as they can be.
void Execution::State::run_phase(std::int32_t phase, Team& team) {
  if (error.load(std::memory_order_relaxed) != SCHAAS_OK) return;
  DividedPhase& divided = phases[phase];
  if (team.threads() == 1 && !divided.reduction) {
    note(run_tasks(phase, 0, divided.tasks.size(), arrays(), 0));
  } else {
    run_pieces(phase, team, [&](std::size_t piece, int thread) { return run_piece(phase, piece, thread); });
  }
  // Each thread folds a share of the elements, all pieces in order: the rounding does not depend on the team.
  if (divided.reduction) team.run_shares([&](int part, int parts) { divided.reduction->fold(part, parts); });
  if (!divided.partial_results || error.load(std::memory_order_relaxed) != SCHAAS_OK) return;
  team.run_shares([&](int part, int parts) {
    note(divided.partial_results->combine(descriptor().phases[phase], arguments.data(), shared.data(), part,
                                          parts));
  });
}

support::Result<void> Execution::State::outcome() const {
  const std::int32_t code = error;
  if (code == SCHAAS_OK) return {};
  if (failure) return *failure;
  return support::internal("kernel-failed",
                           "kernel " + kernel.key() + " returned error " + std::to_string(code));
}

// A phase without units stores nothing.
bool Execution::State::writes_all() const {
  const auto is_empty = [](const DividedPhase& phase) { return phase.tasks.empty(); };
  return descriptor().writes_all != 0 && std::none_of(phases.begin(), phases.end(), is_empty);
}

// The code of kernels that were tried has run, so a trial takes gathers wherever they are.
std::int32_t Execution::State::flags() const {
  std::int32_t flags = descriptor().streams;
  if ((flags & SCHAAS_FLAG_STREAMS) != 0 && !streams(result)) flags &= ~SCHAAS_FLAG_STREAMS;
  if ((flags & SCHAAS_FLAG_GATHERS) != 0 && !options.guard_copies && !gathers_pay())
    flags &= ~SCHAAS_FLAG_GATHERS;
  return flags;
}

// Runs some phases. Before the first one results and shared arrays begin as the kernel expects them: results
// with their fill value, unless all is written or updated.
support::Result<void> Execution::State::run_stage(const Stage& stage, Team& team) {
  // Arrays that phases fold into are stored as ever.
  if (stage.fills) shared.set_flags(flags());
  const bool starts_result = stage.fills && !update && !writes_all();
  const bool starts_shared = stage.first == 0 && (arguments.refreshes_copies() || shared.clears());
  if (starts_result || starts_shared) {
    team.run_shares([&](int part, int parts) {
      if (starts_result) start_result(part, parts);
      if (!starts_shared) return;
      arguments.refresh_copies(part, parts);
      shared.clear(part, parts, stage.counts);
    });
  }
  for (std::int32_t phase = stage.first; phase < stage.last; ++phase)
    if (stage.counts || descriptor().phases[phase].step != SCHAAS_STEP_COUNT) run_phase(phase, team);
  return outcome();
}

// Turns counts into positions and allocates the arrays. Tables of all threads become as large as the largest,
// since any thread may fill any row.
support::Result<void> Execution::State::make_structure(Team& team) {
  std::vector<std::int64_t> totals;
  for (std::int32_t c = 0; c < descriptor().counter_count; ++c) {
    totals.push_back(exclusive_scan(shared.counter(descriptor().counters[c].shared_slot), units(), team));
  }
  SCHAAS_RETURN_IF_ERROR(ResultStorage::resize(result, totals, result_name));
  note_structure();
  return scratch.grow_all();
}

// Appending takes one numeric phase whose tasks are whole iterations.
void Execution::State::prepare_appending() {
  if (!counts() || counted_phases >= descriptor().phase_count) return;
  const std::vector<Task>& tasks = phases[static_cast<std::size_t>(counted_phases)].tasks;
  if (!Appending::suits(descriptor(), counted_phases, result, tasks)) return;
  const auto bound = has_no_temporaries(descriptor().schedule)
                         ? entry_bound(*problem_of(kernel), arguments.list())
                         : std::nullopt;
  // Several threads copy what they append, which takes longer than counting in such kernels.
  if (descriptor().appends == SCHAAS_APPENDS_ALONE && (threads > 1 || !bound)) return;
  appending.emplace(descriptor().phases[counted_phases], result, arguments.list(),
                    shared.counter(descriptor().counters[0].shared_slot), tasks, threads, bound, result_name);
}

// The structure is there afterwards, unless the entries have to be counted.
support::Result<void> Execution::State::run_appended(Team& team) {
  SCHAAS_RETURN_IF_ERROR(run_stage({0, counted_phases, false, false}, team));
  SCHAAS_RETURN_IF_ERROR(appending->start());
  run_pieces(counted_phases, team, [&](std::size_t piece, int thread) {
    return appending->run(piece, thread, shared.data(), scratch.of(thread));
  });
  SCHAAS_RETURN_IF_ERROR(outcome());
  SCHAAS_ASSIGN_OR_RETURN(const bool made_it, appending->finish(team));
  if (made_it) note_structure();
  return {};
}

void Execution::State::note_structure() {
  arguments.view_result_again();
  structure.note(arguments.result());
}

support::Result<void> Execution::run() {
  state_->structure.reset();
  return rerun_values();
}

support::Result<void> Execution::rerun_values() {
  State& state = *state_;
  Team team = state.options.threads > 0 ? Team::exactly(state.threads) : Team::at_most(state.threads);
  return state.rerun_values(team);
}

// Runs with the structure at hand, by appending, or with counting, in that order of preference.
support::Result<void> Execution::State::rerun_values(Team& team) {
  error = SCHAAS_OK;
  failure.reset();
  const auto last = static_cast<std::int32_t>(phases.size());
  if (!counts()) return run_stage({0, last, true, true}, team);
  if (is_copy) return take_copy();
  if (!structure.is_of(result.view())) structure.reset();
  numeric_only = structure.exists();
  support::Result<void> done;
  // An overflow makes no structure, and the run is made again with counts.
  if (appending && !structure.exists()) {
    done = run_appended(team);
    if (done.ok() && structure.exists()) return done;
  }
  if (done.ok() && structure.exists()) {
    done = run_stage({0, last, true, false}, team);
  } else if (done.ok()) {
    done = run_stage({0, counted_phases, false, true}, team);
    if (done.ok()) done = make_structure(team);
    if (done.ok()) done = run_stage({counted_phases, last, true, true}, team);
  }
  if (done.ok()) return done;
  // The result has been moved away: an empty tensor replaces it.
  structure.reset();
  SCHAAS_RETURN_IF_ERROR(ResultStorage::clear(result, result_name));
  arguments.view_result_again();
  return done;
}

// A binding can be moved to other arrays when all that it holds is addresses and borders of pieces. Copies,
// lists of coordinates, and arrays of reductions depend on contents. Entries of a result are counted anew.
bool Execution::State::is_rebindable() const {
  const auto holds_more = [](const DividedPhase& phase) {
    return phase.reduction || phase.partial_results || phase.splits_iterations();
  };
  const auto lists = [this](std::int32_t slot) {
    return descriptor().shared[slot].start == SCHAAS_SHARED_MET;
  };
  for (std::int32_t s = 0; descriptor().shared != nullptr && s < descriptor().shared_count; ++s)
    if (lists(s)) return false;
  return !update && arguments.copied().empty() && std::none_of(phases.begin(), phases.end(), holds_more);
}

bool Execution::State::rebind() {
  arguments.view_again();
  if (!shared.suit(descriptor(), arguments.data()) || !scratch.suit() || !divide_phases().ok() ||
      !is_rebindable())
    return false;
  // Arrays of another result may lie where those of the last one did.
  structure.reset();
  appending.reset();
  if (options.may_append) prepare_appending();
  ResultStorage::set_fill_value(result, descriptor().result_fill);
  return true;
}

bool Execution::is_rebindable() const { return state_->is_rebindable(); }
bool Execution::rebind() { return state_->rebind(); }

int Execution::threads() const { return state_->threads; }

std::int64_t Execution::scratch_bytes() const {
  return state_->scratch.bytes() + (state_->appending ? state_->appending->bytes() : 0);
}

std::int64_t Execution::shared_bytes() const { return state_->shared.bytes(); }

std::int64_t Execution::folding_bytes() const {
  std::int64_t bytes = 0;
  for (const DividedPhase& phase : state_->phases) bytes += phase.bytes();
  return bytes;
}

std::vector<CopiedOperand> Execution::copies() const { return state_->arguments.copied(); }

}  // namespace schaas::client
