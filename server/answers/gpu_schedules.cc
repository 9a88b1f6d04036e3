#include "server/answers/gpu_schedules.h"

#include <algorithm>
#include <utility>

#include "compiler/concrete_notation/match.h"
#include "compiler/concrete_notation/printer.h"
#include "compiler/concrete_notation/thread_mapping.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/support/nearest_name.h"
#include "server/answers/terms.h"

// GPU schedules are computed anew for each answer, since the frontier determines them. All of them are
// numbered, so that ids are the same whatever a request leaves out. A client predicts the time of each phase
// from its thread mapping, so the tree is read phase by phase.
namespace schaas::server {
namespace {

using concrete_notation::Forall;
using concrete_notation::StatementPtr;
using support::Result;

void set_mapping(answers::GpuPhase& phase, const concrete_notation::ThreadMapping& mapping) {
  phase.take = mapping.grain;
  phase.share = mapping.threads_per_item;
  phase.width = mapping.group_size;
  phase.segments = mapping.group_size > 1 && mapping.reduce == concrete_notation::GroupReduction::segment;
  phase.side_by_side = concrete_notation::adjacent_iterations(mapping);
  phase.block = mapping.block;
  phase.stage = mapping.stage;
  phase.merge_path = mapping.merge_path;
}

// Reads the mapping of a phase off the annotations of its outermost loops.
answers::GpuPhase phase_of(const Forall& outermost) {
  const auto loops = concrete_notation::mapped_loops(outermost);
  answers::GpuPhase phase;
  phase.columns = loops.columns != nullptr;
  phase.columns_take = loops.columns_grain;
  phase.rows = std::max(loops.rows->annotation.positions, 1);
  set_mapping(phase, loops.mapping);
  phase.exclusive_writes = concrete_notation::writes_exclusively(outermost);
  return phase;
}

// Adds the phases in execution order: producers before consumers, terms one after another.
void add_phases(const StatementPtr& statement, std::vector<answers::GpuPhase>& out) {
  concrete_notation::match(
      statement->node, [&](const Forall& loop) { out.push_back(phase_of(loop)); },
      [&](const concrete_notation::Where& branch) {
        add_phases(branch.producer, out);
        add_phases(branch.consumer, out);
      },
      [&](const concrete_notation::Terms& sum) {
        for (const auto& term : sum.terms) add_phases(term, out);
      },
      // Phases without a loop over threads run on one thread.
      [&](const concrete_notation::Blocks&) { set_mapping(out.emplace_back(), {}); },
      [&](const concrete_notation::Assign&) { set_mapping(out.emplace_back(), {}); });
}

bool is_wanted(const pipeline::GpuSchedule& schedule, bool deterministic) {
  return !deterministic || !schedule.point.nondeterministic;
}

}  // namespace

GpuSchedules::GpuSchedules(const frontier::Frontier& found, const PreparedProblem& prepared,
                           bool deterministic)
    : found_(found),
      prepared_(prepared),
      deterministic_(deterministic),
      all_(pipeline::gpu_schedules(found, prepared.canonical.problem)) {}

bool GpuSchedules::empty() const {
  return std::none_of(all_.begin(), all_.end(),
                      [&](const auto& schedule) { return is_wanted(schedule, deterministic_); });
}

Result<std::vector<answers::GpuSchedule>> GpuSchedules::named() const {
  std::vector<answers::GpuSchedule> out;
  const UserNames& names = prepared_.names;
  for (const auto& schedule : all_) {
    if (!is_wanted(schedule, deterministic_)) continue;
    const frontier::Survivor& survivor = found_.survivors[schedule.survivor];
    const schedule::Trace trace = names.to_user(schedule.point.trace);
    SCHAAS_ASSIGN_OR_RETURN(const StatementPtr tree, schedule::apply(trace, names.as_written()));
    answers::GpuSchedule& to = out.emplace_back();
    to.id = schedule.id;
    to.entry = survivor.id;
    to.trace = schedule::print(trace);
    to.tree = concrete_notation::print_loop_tree(tree);
    to.point = schedule.point.text;
    to.nondeterministic = schedule.point.nondeterministic;
    add_phases(tree, to.phases);
    to.nests = nests(cost::leaf_nests(tree, names.problem()), names.variables());
    to.memory_terms = memory_terms(cost::memory_terms(tree, names.problem()), names.variables());
  }
  return out;
}

std::vector<pipeline::GpuSchedule> GpuSchedules::likeliest(std::size_t most) const {
  std::vector<pipeline::GpuSchedule> out;
  for (const auto& schedule : all_) {
    if (out.size() < most && is_wanted(schedule, deterministic_)) out.push_back(schedule);
  }
  return out;
}

// Finds a schedule; one that `deterministic` leaves out is told apart from one that does not exist.
Result<pipeline::GpuSchedule> GpuSchedules::schedule(const std::string& id) const {
  std::vector<std::string> ids;
  for (const auto& schedule : all_) {
    if (schedule.id == id && is_wanted(schedule, deterministic_)) return schedule;
    if (schedule.id == id)
      return support::invalid("unknown-schedule",
                              "`" + id + "` is " + schedule.point.text +
                                  ", whose threads write sums in the order in which they come: " +
                                  "it is left out where an answer must be the same each time");
    ids.push_back(schedule.id);
  }
  if (ids.empty()) return no_gpu_schedule(prepared_.canonical.problem);
  return support::invalid("unknown-schedule", "there is no schedule `" + id + "` for GPUs; there are " +
                                                  ids.front() + " to " + ids.back() +
                                                  support::did_you_mean(id, ids));
}

support::Diagnostic no_gpu_schedule(const problem::Problem& problem) {
  if (const auto type = problem::type_not_on_gpu(problem))
    return support::unsupported(
        "no-gpu-schedule",
        std::string("kernels for GPUs compute with f64, f32, bf16 and f16, the values are ") + name(*type) +
            "; `--target cpu` computes them");
  return support::unsupported(
      "no-gpu-schedule",
      "none of the schedules of the frontier runs on a GPU: they append to a sparse result, "
      "read copies of operands, or walk lists side by side; `--target cpu` computes it");
}

}  // namespace schaas::server
