#include "client/cpp/runtime/execution_state.h"

#include <algorithm>
#include <chrono>

#include "client/cpp/platform/allocate.h"
#include "client/cpp/platform/scan.h"
#include "client/cpp/platform/share.h"
#include "client/cpp/platform/shared_object.h"
#include "client/cpp/runtime/argument_check.h"
#include "client/cpp/runtime/entry_bound.h"
#include "client/cpp/runtime/kernel_problem.h"
#include "client/cpp/runtime/stored_coordinates.h"
#include "client/cpp/runtime/streaming.h"
#include "client/cpp/tensor/packed_tensor_builder.h"
#include "client/cpp/tensor/result_storage.h"
#include "schaas/host.h"

// One kernel bound to tensors. prepare() does all that depends on structure alone: it checks arguments, makes
// copies, allocates scratch and shared arrays, and divides each phase into pieces. A run then clears,
// executes the phases one after another, and folds; the team's barrier between phases makes their stores
// visible.
// A sparse result is made in one of three ways. If its structure is there, numeric phases fill it again. If
// the kernel may append, one pass makes it. Otherwise symbolic phases count, a scan turns counts into
// positions, and numeric phases fill.
// Errors of threads meet in one atomic; pieces that did not begin are skipped. After an error a sparse result
// is emptied: no half of a structure is ever seen.
namespace schaas::client {

namespace {

/// A phase of more pieces is not cut finer inside its iterations because more threads run it.
constexpr std::int64_t deterministic_ranges = 96;
/// Entries for which a call of their own is worth it.
constexpr std::int64_t min_entries_of_a_call = 256;

// Returns the level whose entries weigh the iterations of a phase; null: all weigh alike. Only levels with
// positions by parent can weigh, and at least as many parents as iterations.
const schaas_level* weights_of(const schaas_phase& phase, const std::vector<const schaas_tensor*>& arguments,
                               std::int64_t range) {
  if (phase.balance_arg < 0) return nullptr;
  const schaas_tensor& tensor = *arguments[phase.balance_arg];
  if (phase.balance_level < 0 || phase.balance_level >= tensor.order) return nullptr;
  const schaas_level& level = tensor.levels[phase.balance_level];
  const std::int64_t parents = phase.balance_level == 0 ? 1 : tensor.levels[phase.balance_level - 1].entries;
  const bool weighs = level.format == SCHAAS_LEVEL_COMPRESSED || level.format == SCHAAS_LEVEL_BANDED;
  return weighs && range <= parents ? &level : nullptr;
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
  // Views lie in a deque: `arguments` points at them while more are added.
  auto state = std::make_unique<State>(kernel, *arguments[0]);
  state->threads_named = options.threads > 0;
  state->threads = state->threads_named ? options.threads : host_threads();
  state->result_name = options.names.empty() ? problem.tensors[0] : options.names[0];
  state->update = problem.update;
  for (const PackedTensor* argument : arguments) {
    state->views.push_back(argument->view());
    state->arguments.push_back(&state->views.back());
  }
  state->tensors = arguments;
  state->options = options;
  state->operands_change = options.operands_change;
  SCHAAS_RETURN_IF_ERROR(state->make_copies(
      arguments, options.names.empty() ? problem.tensors : options.names, options.guard_copies));
  // Phases up to the last one that counts run before the result has arrays.
  for (std::int32_t p = 0; p < d.phase_count; ++p) {
    if (d.phases[p].step == SCHAAS_STEP_COUNT) state->counted_phases = p + 1;
  }
  SCHAAS_RETURN_IF_ERROR(state->check_counters());
  SCHAAS_RETURN_IF_ERROR(state->allocate_scratch());
  SCHAAS_RETURN_IF_ERROR(state->cut_phases(options));
  state->prepare_appending(options.may_append);
  ResultStorage::set_fill_value(state->result, d.result_fill);
  return Execution(std::move(state));
}

// Makes the copies in another mode order that the kernel reads in place of operands. Copies of operands that
// change keep a list of positions, so that each run can bring the values over.
support::Result<void> Execution::State::make_copies(const std::vector<PackedTensor*>& operands,
                                                    const std::vector<std::string>& names, bool guard) {
  using Clock = std::chrono::steady_clock;
  for (std::int32_t c = 0; c < descriptor().copy_count; ++c) {
    const schaas_copy& wanted = descriptor().copies[c];
    const auto at = static_cast<std::size_t>(wanted.argument);
    const PackedTensor& original = *operands[at];
    const std::vector<int> order(wanted.mode_order, wanted.mode_order + original.order());
    // A kernel from elsewhere may say anything.
    if (!std::is_permutation(order.begin(), order.end(), original.format().mode_order.begin()))
      return bad_binary("it wants a copy whose modes are no permutation");
    const format::TensorFormat format{original.format().levels, order};
    const auto start = Clock::now();
    const ConvertOptions converting{names[at], threads};
    std::int64_t bytes = 0;
    if (operands_change) {
      SCHAAS_ASSIGN_OR_RETURN(StoredCopy copy, StoredCopy::make(original, format, converting));
      if (guard) copy.guard();
      bytes = copy.bytes();
      copies.push_back(std::move(copy));
      views.push_back(copies.back().tensor().view());
    } else {
      SCHAAS_ASSIGN_OR_RETURN(PackedTensor copy, convert(original, format, converting));
      bytes = static_cast<std::int64_t>(copy.bytes());
      fixed_copies.push_back(guard ? guarded(copy) : std::move(copy));
      views.push_back(fixed_copies.back().view());
    }
    const std::chrono::duration<double> took = Clock::now() - start;
    copied.push_back({wanted.argument, format::print(format), bytes, took.count()});
    arguments.push_back(&views.back());
  }
  return {};
}

void Execution::State::refresh_copies(int part, int parts) {
  for (StoredCopy& copy : copies) copy.refresh(part, parts);
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

support::Result<void> Execution::State::allocate_scratch() {
  const schaas_kernel_descriptor& d = descriptor();
  for (std::int32_t s = 0; s < d.shared_count; ++s) {
    const schaas_shared starts =
        d.shared == nullptr ? schaas_shared{SCHAAS_SHARED_ZERO, -1, -1} : d.shared[s];
    begins_zero.push_back(starts.start == SCHAAS_SHARED_ZERO);
    // Lists of stored coordinates are made once, as the operands' structure stays.
    met.push_back(0);
    Buffer buffer;
    if (starts.start == SCHAAS_SHARED_MET) {
      SCHAAS_ASSIGN_OR_RETURN(
          StoredCoordinates found,
          stored_coordinates(*arguments[static_cast<std::size_t>(starts.argument)], starts.level));
      met.back() = found.count;
      buffer = std::move(found.coordinates);
    } else {
      SCHAAS_ASSIGN_OR_RETURN(buffer, allocate(d.shared_bytes(arguments.data(), s), 1,
                                               "a shared temporary of the kernel", Buffer::Contents::any));
    }
    shared_pointers.push_back(buffer.data());
    shared.push_back(std::move(buffer));
    is_counter.push_back(
        std::any_of(d.counters, d.counters + d.counter_count,
                    [s](const schaas_counter& counter) { return counter.shared_slot == s; }));
  }
  shared_pointers.push_back(&past_the_caches);
  SCHAAS_ASSIGN_OR_RETURN(scratch, Scratch::make(d, arguments, threads));
  return {};
}

// Arrays that phases fold into are stored as ever.
void Execution::State::choose_stores() {
  past_the_caches = descriptor().streams != 0 && streams(result) ? 1 : 0;
}

support::Result<void> Execution::State::cut_phases(const ExecutionOptions& options) {
  for (std::int32_t p = 0; p < descriptor().phase_count; ++p) {
    reductions.emplace_back();
    carries.emplace_back();
    SCHAAS_RETURN_IF_ERROR(cut_phase(descriptor().phases[p], options));
  }
  return {};
}

// Divides a phase into tasks and those into pieces. Three kinds: exclusive writes (many pieces per thread),
// privatised reductions (a few, each with an array of its own), and one piece. Heavy iterations are split in
// addition.
support::Result<void> Execution::State::cut_phase(const schaas_phase& phase,
                                                  const ExecutionOptions& options) {
  const std::int64_t range =
      phase.over > 0 ? met[static_cast<std::size_t>(phase.over) - 1] : phase.range(arguments.data());
  const schaas_level* weights = weights_of(phase, arguments, range);
  std::int64_t count = 1;
  // Exclusive writes: pieces cost nothing but their call, and idle threads find some to take.
  if (phase.parallel != 0 && phase.fold == SCHAAS_FOLD_NONE) {
    const bool whole = threads == 1 && options.folding != ExecutionOptions::Folding::always;
    count = whole ? 1 : std::int64_t{threads} * std::max(options.chunks_per_thread, 1);
  } else if (phase.parallel != 0) {
    count = folding_pieces(phase, options);
  }
  const bool folds = count > 1 && phase.fold != SCHAAS_FOLD_NONE;
  const std::int64_t ranges = folds ? 4 * count : count;  // a piece that folds is put together from several
  Pieces cut{{}, {0}};
  const auto borders = cut_range(range, ranges, weights);
  const std::int64_t most = max_entries(phase, weights, range, ranges, options);
  const bool always = options.folding == ExecutionOptions::Folding::always;
  // Tests split each iteration in three where they can; else parts are as many as the weight asks for.
  cut.tasks = tasks_between(borders, most > 0 ? weights : nullptr, most,
                            always ? 3 : range + total_weight(range, weights));
  if (folds) {
    cut.borders = group(cut.tasks, weights, count);
    if (cut.count() > 1) {
      SCHAAS_ASSIGN_OR_RETURN(
          reductions.back(),
          PrivatisedReduction::make(phase, result.value_type(), fold_elements(phase),
                                    static_cast<std::int64_t>(cut.count()), arguments, shared_pointers));
    }
  } else {
    for (std::size_t n = 0; n < cut.tasks.size(); ++n) cut.borders.push_back(n + 1);
    const bool parts =
        std::any_of(cut.tasks.begin(), cut.tasks.end(), [](const Task& task) { return task.is_part(); });
    if (parts && phase.carry_elements != nullptr) {
      SCHAAS_ASSIGN_OR_RETURN(carries.back(),
                              PartialResults::make(phase, result.value_type(),
                                                   phase.carry_elements(arguments.data()), cut.tasks));
    }
  }
  pieces.push_back(std::move(cut));
  return {};
}

// Iterations with more entries than this are cut; 0: none is.
std::int64_t Execution::State::max_entries(const schaas_phase& phase, const schaas_level* weights,
                                           std::int64_t range, std::int64_t ranges,
                                           const ExecutionOptions& options) const {
  if (weights == nullptr || phase.part == nullptr || ranges == 1) return 0;
  if (options.folding == ExecutionOptions::Folding::never) return 0;
  if (options.folding == ExecutionOptions::Folding::always) return 1;
  if (threads == 1 && !options.deterministic) return 0;
  // Whatever the threads: the order in which a long row is summed.
  const std::int64_t count = options.deterministic ? deterministic_ranges : ranges;
  const std::int64_t most =
      std::max<std::int64_t>(total_weight(range, weights) / count, min_entries_of_a_call);
  // Parts that write where the phase does need no memory; those with partial results are limited by it.
  if (phase.carry_elements == nullptr || phase.fold != SCHAAS_FOLD_NONE) return most;
  const std::int64_t elements = phase.carry_elements(arguments.data());
  const double bytes = static_cast<double>(elements) * 8 * static_cast<double>(count);
  return elements <= most && bytes <= static_cast<double>(options.folding_bytes) ? most : 0;
}

std::int64_t Execution::State::fold_elements(const schaas_phase& phase) const {
  if (phase.fold_target < 0) return result.stored();
  const auto slot = static_cast<std::size_t>(phase.fold_target);
  return static_cast<std::int64_t>(shared[slot].bytes() / bytes_of(result.value_type()));
}

std::int64_t Execution::State::folding_pieces(const schaas_phase& phase,
                                              const ExecutionOptions& options) const {
  const auto size = static_cast<std::int64_t>(bytes_of(result.value_type()));
  return std::max<std::int64_t>(
      PrivatisedReduction::pieces(phase, arguments.data(), fold_elements(phase), size, threads, options), 1);
}

void Execution::State::start_result(int part, int parts) const {
  const std::int64_t size = result.stored();
  constexpr std::int64_t line = 16;
  fill_values(result.values().data(), result.value_type(), share(size, line, part, parts),
              share(size, line, part + 1, parts), result.fill_value());
}

void Execution::State::start_shared(int part, int parts, bool with_counters) {
  for (std::size_t s = 0; s < shared.size(); ++s) {
    if (begins_zero[s] && (with_counters || !is_counter[s])) zero_share(shared[s], part, parts);
  }
}

// Runs the pieces of a phase in any order: they write different elements, or arrays of their own.
// `work(piece, thread)` gives an error code; after one that is not SCHAAS_OK no further piece begins.
template <class Work>
void Execution::State::run_pieces(std::int32_t phase, Team& team, const Work& work) {
  team.run(static_cast<std::int64_t>(pieces[phase].count()), [&](std::int64_t piece, int thread) {
    if (error.load(std::memory_order_relaxed) == SCHAAS_OK)
      note(work(static_cast<std::size_t>(piece), thread));
  });
}

std::int32_t Execution::State::run_piece(std::int32_t phase, std::size_t piece, int thread) {
  const std::vector<std::size_t>& borders = pieces[phase].borders;
  std::optional<PrivatisedReduction>& folding = reductions[phase];
  if (!folding)
    return run_tasks(phase, borders[piece], borders[piece + 1], {arguments.data(), shared_pointers.data()},
                     thread);
  folding->start(piece);
  return run_tasks(phase, borders[piece], borders[piece + 1],
                   {folding->arguments(piece), folding->shared(piece)}, thread);
}

// Runs [first, last); those that follow each other in one call.
std::int32_t Execution::State::run_tasks(std::int32_t phase, std::size_t first, std::size_t last,
                                         const Arrays& arrays, int thread) {
  const std::vector<Task>& tasks = pieces[phase].tasks;
  for (std::size_t n = first; n < last; ++n) {
    Task task = tasks[n];
    // Adjacent tasks are one call for a thread that has both: fewer calls, the same order of additions.
    while (!task.is_part() && n + 1 < last && !tasks[n + 1].is_part()) task.end = tasks[++n].end;
    std::int32_t code = run_task(phase, task, arrays, scratch.of(thread));
    if (code == SCHAAS_TABLES_FULL && descriptor().phases[phase].step == SCHAAS_STEP_COUNT)
      code = run_grown(phase, task, thread);
    if (code != SCHAAS_OK) return code;
  }
  return SCHAAS_OK;
}

void Execution::State::note(std::int32_t code) {
  if (code != SCHAAS_OK) error.store(code, std::memory_order_relaxed);
}

std::int32_t Execution::State::run_task(std::int32_t number, const Task& task, const Arrays& arrays,
                                        void* workspace) {
  const schaas_phase& phase = descriptor().phases[number];
  if (!task.is_part()) {
    const auto whole = numeric_only && phase.values != nullptr ? phase.values : phase.run;
    return whole(arrays.arguments, arrays.shared, workspace, task.begin, task.end);
  }
  void* carry = task.carry < 0 ? nullptr : carries[number]->start(task.carry);
  return phase.part(arrays.arguments, arrays.shared, workspace, task.begin, task.first, task.last, carry);
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
    code = run_task(number, task, {arguments.data(), shared_pointers.data()}, scratch.of(thread));
  }
  return code;
}

// Without a team one thread runs all tasks as one piece, and calls as long as they can be.
void Execution::State::run_phase(std::int32_t phase, Team& team) {
  if (error.load(std::memory_order_relaxed) != SCHAAS_OK) return;
  if (team.threads() == 1 && !reductions[phase]) {
    note(run_tasks(phase, 0, pieces[phase].tasks.size(), {arguments.data(), shared_pointers.data()}, 0));
  } else {
    run_pieces(phase, team, [&](std::size_t piece, int thread) { return run_piece(phase, piece, thread); });
  }
  // Each thread folds a share of the elements, all pieces in order: the rounding does not depend on the team.
  if (reductions[phase]) team.run_shares([&](int part, int parts) { reductions[phase]->fold(part, parts); });
  if (!carries[phase] || error.load(std::memory_order_relaxed) != SCHAAS_OK) return;
  team.run_shares([&](int part, int parts) {
    note(carries[phase]->combine(descriptor().phases[phase], arguments.data(), shared_pointers.data(), part,
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

// Something is copied or cleared before the first phase.
bool Execution::State::has_starts() const {
  return !copies.empty() || std::find(begins_zero.begin(), begins_zero.end(), true) != begins_zero.end();
}

// A phase without units stores nothing.
bool Execution::State::writes_all() const {
  const auto is_empty = [](const Pieces& phase) { return phase.tasks.empty(); };
  return descriptor().writes_all != 0 && std::none_of(pieces.begin(), pieces.end(), is_empty);
}

// Runs some phases. Before the first one results and shared arrays begin as the kernel expects them: results
// with their fill value, unless all is written or updated.
support::Result<void> Execution::State::run_stage(const Stage& stage, Team& team) {
  if (stage.fills) choose_stores();
  const bool starts_result = stage.fills && !update && !writes_all();
  const bool starts_shared = stage.first == 0 && has_starts();
  if (starts_result || starts_shared) {
    team.run_shares([&](int part, int parts) {
      if (starts_result) start_result(part, parts);
      if (!starts_shared) return;
      refresh_copies(part, parts);
      start_shared(part, parts, stage.counts);
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
    auto* counts = static_cast<std::int64_t*>(shared_pointers[descriptor().counters[c].shared_slot]);
    totals.push_back(exclusive_scan(counts, units(), team));
  }
  SCHAAS_RETURN_IF_ERROR(ResultStorage::resize(result, totals, result_name));
  note_structure();
  return scratch.grow_all();
}

// Appending takes one numeric phase whose tasks are whole iterations.
void Execution::State::prepare_appending(bool allowed) {
  if (!allowed || !counts() || counted_phases >= descriptor().phase_count) return;
  const std::vector<Task>& tasks = pieces[static_cast<std::size_t>(counted_phases)].tasks;
  if (!Appending::suits(descriptor(), counted_phases, result, tasks)) return;
  auto* counter = static_cast<std::int64_t*>(shared_pointers[descriptor().counters[0].shared_slot]);
  // Traces may store temporaries that are read where nothing is stored.
  const bool is_default_nest = std::string_view(descriptor().schedule) == "linear";
  const auto bound = is_default_nest ? entry_bound(*problem_of(kernel), arguments) : std::nullopt;
  // Several threads copy what they append, which takes longer than counting in such kernels.
  if (descriptor().appends == SCHAAS_APPENDS_ALONE && (threads > 1 || !bound)) return;
  appending.emplace(descriptor().phases[counted_phases], result, arguments, counter, tasks, threads, bound,
                    result_name);
}

// The structure is there afterwards, unless the entries have to be counted.
support::Result<void> Execution::State::run_appended(Team& team) {
  SCHAAS_RETURN_IF_ERROR(run_stage({0, counted_phases, false, false}, team));
  SCHAAS_RETURN_IF_ERROR(appending->start());
  run_pieces(counted_phases, team, [&](std::size_t piece, int thread) {
    return appending->run(piece, thread, shared_pointers.data(), scratch.of(thread));
  });
  SCHAAS_RETURN_IF_ERROR(outcome());
  SCHAAS_ASSIGN_OR_RETURN(const bool made_it, appending->finish(team));
  if (made_it) note_structure();
  return {};
}

void Execution::State::note_structure() {
  views[0] = result.view();
  made.assign(views[0].levels, views[0].levels + views[0].order);
  made_values = views[0].values;
  has_structure = true;
}

// The arrays are those of the last run: none was taken away or replaced. Addresses are compared, not
// contents: who writes into them breaks the promise of rerun_values().
bool Execution::State::holds_structure() const {
  const schaas_tensor now = result.view();
  return now.values == made_values &&
         std::equal(made.begin(), made.end(), now.levels, [](const auto& a, const auto& b) {
           return a.pos == b.pos && a.crd == b.crd && a.entries == b.entries;
         });
}

support::Result<void> Execution::run() {
  State& state = *state_;
  state.has_structure = false;
  return rerun_values();
}

support::Result<void> Execution::rerun_values() {
  State& state = *state_;
  Team team = state.threads_named ? Team::exactly(state.threads) : Team::at_most(state.threads);
  return state.rerun_values(team);
}

// Runs with the structure at hand, by appending, or with counting, in that order of preference.
support::Result<void> Execution::State::rerun_values(Team& team) {
  error = SCHAAS_OK;
  failure.reset();
  const auto phases = static_cast<std::int32_t>(pieces.size());
  if (!counts()) return run_stage({0, phases, true, true}, team);
  has_structure = has_structure && holds_structure();
  numeric_only = has_structure;
  support::Result<void> done;
  // An overflow leaves `has_structure` false, and the run is made again with counts.
  if (appending && !has_structure) {
    done = run_appended(team);
    if (done.ok() && has_structure) return done;
  }
  if (done.ok() && has_structure) {
    done = run_stage({0, phases, true, false}, team);
  } else if (done.ok()) {
    done = run_stage({0, counted_phases, false, true}, team);
    if (done.ok()) done = make_structure(team);
    if (done.ok()) done = run_stage({counted_phases, phases, true, true}, team);
  }
  if (done.ok()) return done;
  // The result has been moved away: an empty tensor replaces it.
  has_structure = false;
  SCHAAS_RETURN_IF_ERROR(ResultStorage::clear(result, result_name));
  views[0] = result.view();
  return done;
}

// A binding can be moved to other arrays when all that it holds is addresses and borders of pieces. Counts,
// copies, lists of coordinates, and arrays of reductions depend on contents.
bool Execution::State::is_rebindable() const {
  const auto none = [](const auto& list) {
    return std::none_of(list.begin(), list.end(), [](const auto& one) { return one.has_value(); });
  };
  const auto is_cut_inside = [](const Pieces& phase) {
    return std::any_of(phase.tasks.begin(), phase.tasks.end(),
                       [](const Task& task) { return task.is_part(); });
  };
  const auto lists = [this](std::int32_t slot) {
    return descriptor().shared[slot].start == SCHAAS_SHARED_MET;
  };
  for (std::int32_t s = 0; descriptor().shared != nullptr && s < descriptor().shared_count; ++s)
    if (lists(s)) return false;
  return !counts() && !update && copied.empty() && none(reductions) && none(carries) &&
         std::none_of(pieces.begin(), pieces.end(), is_cut_inside);
}

bool Execution::State::rebind() {
  for (std::size_t a = 0; a < tensors.size(); ++a) views[a] = tensors[a]->view();
  for (std::int32_t s = 0; s < descriptor().shared_count; ++s) {
    const auto bytes = static_cast<std::int64_t>(shared[static_cast<std::size_t>(s)].bytes());
    if (descriptor().shared_bytes(arguments.data(), s) != bytes) return false;
  }
  reductions.clear(), carries.clear(), pieces.clear();
  return scratch.suit() && cut_phases(options).ok() && is_rebindable();
}

bool Execution::is_rebindable() const { return state_->is_rebindable(); }
bool Execution::rebind() { return state_->rebind(); }

int Execution::threads() const { return state_->threads; }

std::int64_t Execution::scratch_bytes() const {
  return state_->scratch.bytes() + (state_->appending ? state_->appending->bytes() : 0);
}

std::int64_t Execution::shared_bytes() const {
  std::int64_t bytes = 0;
  for (const Buffer& buffer : state_->shared) bytes += static_cast<std::int64_t>(buffer.bytes());
  return bytes;
}

std::int64_t Execution::folding_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& folding : state_->reductions) bytes += folding ? folding->bytes() : 0;
  for (const auto& carries : state_->carries) bytes += carries ? carries->bytes() : 0;
  return bytes;
}

std::vector<CopiedOperand> Execution::copies() const { return state_->copied; }

}  // namespace schaas::client
