#pragma once
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/concrete_notation/leaf_code.h"
#include "compiler/cost/cost.h"
#include "compiler/frontier/proofs/argument.h"
#include "compiler/frontier/proofs/solver.h"
#include "compiler/problem/problem.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/cancellation.h"
#include "compiler/support/result.h"
#include "compiler/support/schedule_id.h"

/// The Pareto frontier of time and auxiliary memory under the problem's constraints. docs/cost_model.md.
namespace schaas::frontier {

struct Options {
  bool stage1 = false;  ///< keep only members of memory depth <= memory_depth (sparseauto: on)
  int memory_depth = 2;
  /// A schedule whose temporaries provably hold more elements at every allowed size is dropped; 0: none is.
  /// The default, 64 GiB as f64, is beyond the memory of the machines a kernel of one process runs on.
  std::int64_t max_temporary_elements = std::int64_t{1} << 33;
  /// Limits of the recursion before it falls back on parts of the space (docs/cost_model.md): seconds (0:
  /// until the deadline), bytes of its states and classes.
  double search_seconds = 150;
  std::size_t search_bytes = std::size_t{1} << 30;
  bool stage2 = false;  ///< depth poset (sparseauto: on): a heuristic, drops true Pareto points
  /// Limits of questions, counted in steps (proofs/solver.h): per query, after which both classes are kept,
  /// and for all queries, after which everything is kept.
  int solver_milliseconds = 300;
  int solver_total_milliseconds = 60'000;
  std::size_t members_per_class = 16;  ///< traces stored per surviving class
  /// 0: every operand order. Else only so many, the likeliest first (space::Options): the frontier of a part
  /// of the space, marked incomplete. Of a program: a few ways to share loops for each, without splits of its
  /// products.
  std::size_t operand_orders = 0;
  SolverFactory solver;  ///< not part of the answer; none: Z3 in this process
};
/// Returns the limit of one query; 0 when none may be asked.
inline int milliseconds_per_query(const Options& options) {
  return std::min(options.solver_milliseconds, options.solver_total_milliseconds);
}
/// The options a profile stands for.
Options options_for(problem::Profile profile);

/// Why a class is not on the frontier, or why it is.
struct Certificate {
  enum class Kind { depth, depth_poset, termwise, log_proof, solver, published, volume } kind = Kind::solver;
  std::optional<cost::Cost> winner;  ///< cost of the class that dominates it; none: a limit excludes it
  Argument argument;                 ///< one sentence with the figures
};

/// Returns the id of a survivor by its index.
inline std::string entry_id(std::size_t index) {
  return support::print(support::ScheduleId{support::ScheduleId::Kind::entry, index + 1});
}
/// One way to run the schedules of a class, and the code of each leaf of its tree.
struct Variant {
  schedule::Trace trace;
  std::vector<concrete_notation::LeafCode> code;  ///< empty where the schedule cannot be lowered
};
/// One cost class of the frontier.
struct Survivor {
  std::string id;  ///< "s1", "s2", ... in order of the frontier
  cost::Cost cost;
  std::string members;                  ///< exact number of members of the class, decimal
  std::uint64_t loop_trees = 0;         ///< distinct loop trees among them; at least, beyond 200,000
  std::vector<schedule::Trace> traces;  ///< at least one; the first is the representative
  std::vector<Variant> variants{};      ///< the representative first; made by pipeline::add_variants
};

/// A class that was removed; or, first in the list, a summary of the many that a stage dropped unseen.
struct Removal {
  cost::Cost cost;  ///< empty in a summary
  Certificate certificate;
  bool summary() const { return cost.time.empty(); }
};

/// Exact counts as decimal strings. `space`: members (of the part that was searched, when the frontier is not
/// complete because the product has too many operand orders); `stage1`, `stage2`: loop trees (sparseauto) or
/// classes (default) left after the stage; `stage3`: loop trees of the survivors. "": more than are counted.
/// `classes_*` count, under sparseauto, the papers' pairs (space::Space::published_pairs).
struct Counts {
  /// Members left, decimal; "" where a stage knows only classes (the recursion drops parts of schedules).
  std::string space, stage1, stage2, stage3;
  std::uint64_t states = 0, classes_stage1 = 0, classes_stage2 = 0, classes_stage3 = 0;
  /// Queries of the solver and those it did not decide; of stage 3's pairs of classes those proven without
  /// the solver, told apart by a sample, left to the solver (two queries each at most); milliseconds of
  /// all queries and of the slowest.
  std::uint64_t solver_queries = 0, solver_unknown = 0, log_proofs = 0, witnesses = 0, solver_pairs = 0;
  double solver_milliseconds = 0, solver_worst_milliseconds = 0;
  std::int64_t solver_steps = 0;  ///< steps of all queries; not part of the answer
  /// For a problem with space options: members of the plain space, "plain", and with each option alone.
  std::vector<std::pair<std::string, std::string>> spaces;
};
struct Seconds {
  double space = 0, stage1 = 0, stage2 = 0, stage3 = 0, total = 0;
};

struct Frontier {
  std::vector<Survivor> survivors;  ///< sorted by memory, then time at a reference point
  std::vector<Removal> removals;
  Counts counts;
  Seconds seconds;
  bool complete = true;  ///< false: a budget ended a stage early; schedules may be missing, or too many kept
  std::string limited;   ///< which budget ended what and what to do, in a sentence; "" when complete
  /// Proofs of the recursion's removals: sums of the winner and of the loser without common terms and
  /// factors, each pair once. At most 20,000; `more_proofs` counts the others.
  struct Proof {
    Certificate::Kind kind = Certificate::Kind::termwise;
    std::vector<cost::Term> winner, loser;
  };
  std::vector<Proof> proofs;
  std::uint64_t more_proofs = 0;
  std::string relaxed_from;  ///< key of the problem with relaxed constraints whose answer it was derived
                             ///< from; "": searched
  int code_version = 0;      ///< pipeline::code_version of the variants' code; 0: there are no variants
};

/// Progress of a search. A stage leaves what it does not know 0 or "".
struct Stage {
  std::string stage;
  std::uint64_t done = 0, of = 0;
  std::uint64_t states = 0;   ///< states of the recursion, so far
  std::uint64_t classes = 0;  ///< kept so far
  std::string members = {};   ///< schedules covered so far, decimal
};
/// Called between stages and now and then within.
using Progress = std::function<void(const Stage&)>;

/// Profile::sparseauto: the papers' stages (published.h). Else the sound test: a class s is removed only if
/// at every allowed assignment some kept class c needs no more time and memory. That is, the constraints and
/// (T_s < T_c or M_s < M_c) are unsatisfiable. Among classes with equal cost one entry stays. Errors:
/// exhausted (cancelled, or at the deadline of `cancellation`; a search that a budget of `options` ends
/// before it found any schedule tells one that needs no search); invalid [contradiction] when no assignment
/// is allowed.
support::Result<Frontier> compute(const problem::Problem& problem, const Options& options,
                                  const Progress& progress, const support::Cancellation& cancellation);

/// Tells whether Options::operand_orders makes the search of the problem shorter. Programs with a sparse
/// result have no parts: a part of their schedules may give it more entries than others do.
bool has_parts(const problem::Problem& problem);

/// The last stages of `compute` alone, for a problem whose space is folded (tighten.h): the frontier of these
/// classes. A class that no schedule has is left out. Errors: those of `compute`.
support::Result<Frontier> compute_among(const problem::Problem& problem, std::vector<cost::Cost> classes,
                                        const Options& options, const Progress& progress,
                                        const support::Cancellation& cancellation);

}  // namespace schaas::frontier
