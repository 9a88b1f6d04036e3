#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/cost/leaf_nests.h"
#include "compiler/problem/problem.h"
#include "kernels_cache/schedule_store.h"
#include "server/kernel_provider.h"
#include "server/problem_limits.h"
#include "server/user_names.h"

/// What a request means, in domain terms: text in, events out. Knows neither gRPC nor how answers are stored.
namespace schaas::server {

/// How the search is bounded beyond what the profile says; zero: not at all.
struct SearchBounds {
  int memory_depth = 0;                   ///< indices of a temporary
  std::uint64_t max_temporary_bytes = 0;  ///< of all temporaries of a schedule; 0: 64 GiB
  double seconds = 0;                     ///< of the recursion, before parts of the space stand for the whole
};

struct ScheduleQuery {
  problem::ProblemText problem;
  SearchBounds bounds;
  std::string isa = "x86-64-v3";
  std::size_t kernels = 6;  ///< at most this many of the frontier are compiled
  std::vector<std::string>
      traces;  ///< further ones: "linear", a frontier id ("s2") or a trace in the user's names
  bool search_only = false;
  bool no_cache = false;
  bool no_stage2 = false;      ///< only with profile sparseauto
  bool traces_only = false;    ///< no search unless `traces` names a frontier id
  bool wins = false;           ///< also tell at which sizes each schedule wins
  std::string host;            ///< whose measurements to tell; "": none
  bool gpu = false;            ///< also how the schedules run on a GPU; with isa "cuda" these alone
  bool deterministic = false;  ///< of these only those that round the same way each time
  bool awaited = true;         ///< false: nobody waits, so no draft comes first
};

/// Seconds of one run of a schedule, measured by a client.
struct NamedMeasurement {
  std::string trace;  ///< in the user's names
  std::string sizes;  ///< the class of sizes, as the client makes it; compared, never read
  std::string isa;
  int threads = 1;
  double seconds = 0;
};
struct ReportQuery {
  problem::ProblemText problem;
  std::string host;  ///< as in ScheduleQuery
  std::vector<NamedMeasurement> measurements;
};

/// Limits of one request beside those of support::Limits and of SchedulingOptions.
struct RequestLimits {
  static constexpr std::size_t traces = 64;
  static constexpr std::size_t measurements = 64;
  static constexpr int search_seconds = 3600;
  static constexpr std::size_t removals = 500;  ///< sent with a frontier; the rest is counted only
};

/// A frontier entry in the user's names.
/// A way to run an entry, and what its nests touch.
struct NamedVariant {
  std::string trace, tree;
  std::vector<cost::LeafNest> nests;
};
struct NamedEntry {
  std::string id, trace, tree, code, time, memory, members;
  std::uint64_t loop_trees = 0;
  cost::Cost cost;
  std::vector<std::string> other_traces;
  std::string wins;                    ///< at which sizes; "" when not asked for, or not known
  std::vector<NamedVariant> variants;  ///< its own trace first
};
/// An entry as it runs on a GPU.
struct NamedGpuPhase {
  bool columns = false;
  int columns_take = 1;
  int rows = 0;  ///< loops that are shared out, as one; 0: the phase has none
  concrete_notation::ThreadMapping units;
  bool one_writer = true;
};
struct NamedGpuSchedule {
  std::string id, entry, trace, tree, point;
  bool order_is_chance = false;
  std::vector<NamedGpuPhase> phases;  ///< in the order in which they run
  std::vector<cost::LeafNest> nests;  ///< those of a phase follow each other; its first one shares no loops
  cost::Cost cost;                    ///< the entry's
};
struct NamedRemoval {
  std::string id;  ///< "r1", "r2", ... in stored order
  std::string time, memory, by, kind, argument;
  cost::Cost cost;
};
struct NamedFrontier {
  std::string key, canonical, statement;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> user_tensors, user_indices;
  cost::Variables variables;  ///< of the costs, in the user's names
  std::vector<NamedEntry> entries;
  std::vector<NamedGpuSchedule> gpu;
  std::vector<NamedRemoval> removals;
  std::uint64_t removed = 0;
  frontier::Counts counts;
  frontier::Seconds seconds;
  bool complete = true;
  std::string limited;  ///< which budget ended what, in a sentence; "" when complete
  std::string looser;   ///< key of the looser problem whose answer it was derived from; "": searched
  bool hit = false;
  bool partial = false;                        ///< of a small part of the space: a better one follows
  std::vector<NamedMeasurement> measurements;  ///< on hosts like the client's, newest first
};
struct NamedKernel {
  std::string id, kernel_key, trace, isa, tree, time, memory;
  cost::Cost cost;
  cost::Variables variables;
  support::Digest digest;
  double compile_seconds = 0;
  bool hit = false;
  bool draft = false;  ///< the full kernel of the same schedule follows
  std::string signature;
};
using StageProgress = frontier::Stage;
struct KernelFailure {
  std::string id, trace;
  support::Diagnostic diagnostic;
};
struct Finished {
  bool hit = false;
  std::uint32_t compiled = 0, failed = 0;
  double seconds = 0, compile_seconds = 0;
};
using Event = std::variant<StageProgress, NamedFrontier, NamedKernel, KernelFailure, Finished>;
/// Takes the events of one request, one at a time. False: nobody listens any more.
using Sink = std::function<bool(const Event&)>;

struct EmitQuery {
  problem::ProblemText problem;
  SearchBounds bounds;
  std::string schedule =
      "auto";  ///< "auto" (the one representatives() wants most), "linear", a frontier id, or a trace
  std::string language = "c";
  std::string isa = "x86-64-v3";
};

struct ExplainQuery {
  problem::ProblemText problem;
  SearchBounds bounds;
  /// "s2", "r17" (a removed class), "linear", a trace, or the short form of a loop tree: "i<j<k,l>,lm>".
  std::string schedule;
  bool no_stage2 = false;  ///< only with profile sparseauto
};
/// Sizes at which the schedule needs less time or less memory than a survivor; without sizes when none are
/// known.
struct NamedRival {
  std::string id, sizes;
  double time = 0, memory = 0, other_time = 0, other_memory = 0;
};
struct NamedExplanation {
  std::string verdict;  ///< "survivor", "removed", "left-out", "open"
  std::string id;       ///< of the survivor or removal of the same cost, if there is one
  std::string trace, tree, code, time, memory;
  std::string by, kind, argument;  ///< removed: by which survivor, and why; left out: why
  std::vector<NamedRival> rivals;
};

/// Instruction sets a request may name.
const std::vector<std::string>& known_isas();
/// Errors: invalid [isa].
support::Result<void> check_isa(const std::string& isa);

/// What a search has to work with. The budgets are those of frontier::Options.
struct SearchMeans {
  frontier::SolverFactory solver;                                           ///< none: Z3 in this process
  double seconds = frontier::Options().search_seconds;                      ///< when the request does not say
  int solver_milliseconds = frontier::Options().solver_total_milliseconds;  ///< all questions of a search
  int query_milliseconds = frontier::Options().solver_milliseconds;         ///< one of them
  ProblemLimits problems;                                                   ///< what is searched at all
};

struct SchedulingOptions {
  std::size_t compile_threads = 2;  ///< compilations of one request side by side
  /// A search that takes longer is answered in advance: first with schedules of small parts of the space.
  std::chrono::milliseconds head_start{40};
  /// Whether others wait for their turn: then a request is answered once, in full. None: nobody ever does.
  std::function<bool()> crowded;
  std::size_t most_kernels = 64;  ///< compiled of one frontier
  SearchMeans search;             ///< of searches, proofs and explanations
  std::shared_ptr<kernels_cache::ScheduleStore>
      measurements;  ///< keeps what clients measured; null: nobody does
};

/// Thread-safe.
class Scheduling {
 public:
  Scheduling(std::shared_ptr<KernelProvider> provider, std::shared_ptr<const toolchain::Toolchain> toolchain,
             SchedulingOptions options = {});

  /// Errors: those of problem::build; invalid [isa], [kernels], [traces], [no-stage2], [unknown-schedule] and
  /// the trace errors of schedule::parse and apply (before any work); those of the provider; when no kernel
  /// at all could be made, the first failure. `cancellation` is also fired when the sink says nobody listens.
  support::Result<Finished> schedule(const ScheduleQuery& query, const Sink& sink,
                                     support::Cancellation& cancellation);
  /// What would be wrong with a query before any work: the errors of `schedule` up to there.
  support::Result<void> check(const ScheduleQuery& query, const support::Cancellation& cancellation);
  /// The stored frontier; invalid [not-stored].
  support::Result<NamedFrontier> lookup(const problem::ProblemText& text, const SearchBounds& bounds,
                                        const support::Cancellation& cancellation);
  /// Why the named schedules are, or are not, on the frontier: one for each cost that `schedule` may stand
  /// for. Errors: those of problem::build and of the provider; invalid [unknown-schedule], [no-stage2]; those
  /// of schedule::parse, apply and traces_of_tree.
  support::Result<std::vector<NamedExplanation>> explain(const ExplainQuery& query,
                                                         const support::Cancellation& cancellation);
  /// Keeps what a client measured. Errors: those of problem::build and of server::keep.
  support::Result<void> report(const ReportQuery& query, const support::Cancellation& cancellation);
  /// One schedule as text; searches (and stores) when `schedule` is "auto" or a frontier id.
  support::Result<std::string> emit(const EmitQuery& query, const support::Cancellation& cancellation);

 private:
  std::shared_ptr<KernelProvider> provider_;
  std::shared_ptr<const toolchain::Toolchain> toolchain_;
  SchedulingOptions options_;
};

}  // namespace schaas::server
