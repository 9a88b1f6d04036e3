#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "compiler/frontier/explain.h"
#include "compiler/pipeline/pipeline.h"
#include "compiler/problem/problem.h"
#include "compiler/support/instruction_set.h"
#include "kernels_cache/schedule_store.h"
#include "proto/answers.h"
#include "server/answers/problem_limits.h"
#include "server/answers/user_names.h"
#include "server/providers/kernel_provider.h"

/// Requests in domain terms: text in, events out. Independent of gRPC and of how answers are stored.
namespace schaas::server {

/// Bounds of the search beyond the profile's; zero: none.
struct SearchBounds {
  int memory_depth = 0;                   ///< largest number of indices of a temporary
  std::uint64_t max_temporary_bytes = 0;  ///< limit on all temporaries of a schedule; 0: 64 GiB
  double seconds = 0;  ///< time limit of the recursion; then parts of the space stand for the whole
};

struct ScheduleQuery {
  problem::ProblemText problem;
  SearchBounds bounds;
  std::string isa = support::default_isa;
  std::size_t kernels = 6;  ///< largest number of frontier schedules to compile
  std::vector<std::string>
      traces;  ///< additional schedules: "linear", a frontier id ("s2") or a trace in the user's names
  bool search_only = false;
  bool no_cache = false;
  bool no_stage2 = false;      ///< only with profile sparseauto
  bool traces_only = false;    ///< no search unless `traces` names a frontier id
  bool wins = false;           ///< include the optimality region of each schedule
  std::string host;            ///< class of hosts whose timings to include; "": none
  bool gpu = false;            ///< include GPU schedules; with isa "cuda" these alone
  bool deterministic = false;  ///< only GPU schedules whose results are the same each time
  /// Compiles one kernel of the schedules that `traces` do not name: a baseline kernel, or a full one that is
  /// stored. Parts of the space that are searched before the whole are compiled all the same.
  bool first_kernel_only = false;
  bool interactive = true;  ///< false: no client waits, so no baseline kernel is compiled
  Requester requester = {};
};

struct ReportQuery {
  problem::ProblemText problem;
  std::string host;  ///< as in ScheduleQuery
  std::vector<answers::Measurement> measurements;
};

/// Limits of one request beside those of support::Limits and of SchedulingOptions.
struct RequestLimits {
  static constexpr std::size_t traces = 64;
  static constexpr std::size_t measurements = 64;
  static constexpr std::size_t removals = 500;  ///< sent with a frontier; further ones are counted only
};

using StageProgress = frontier::Stage;
struct KernelFailure {
  std::string id, trace, isa;
  support::Diagnostic diagnostic;
};
struct Finished {
  bool hit = false;
  std::uint32_t compiled = 0, failed = 0;
  double seconds = 0, compile_seconds = 0;
};
using Event = std::variant<StageProgress, answers::Frontier, answers::Kernel, KernelFailure, Finished>;
/// Receives the events of one request, one at a time; returns false when the client has gone.
using Sink = std::function<bool(const Event&)>;

struct EmitQuery {
  problem::ProblemText problem;
  SearchBounds bounds;
  std::string schedule =
      "auto";  ///< "auto" (the one representatives() wants most), "linear", a frontier id, or a trace
  std::string language = "c";
  std::string isa = support::default_isa;
  std::string passes, last_pass;  ///< see pipeline::parse_passes
  Requester requester = {};
};
struct EmitAnswer {
  std::string text;
  std::vector<pipeline::PassRemark> remarks;  ///< none of a trace or tree
};

struct ExplainQuery {
  problem::ProblemText problem;
  SearchBounds bounds;
  /// "s2", "r17" (a removed class), "linear", a trace, or the short form of a loop tree: "i<j<k,l>,lm>".
  std::string schedule;
  bool no_stage2 = false;  ///< only with profile sparseauto
  Requester requester = {};
};
/// Returns the instruction sets of processors that a request may name.
std::vector<std::string> processor_isas();
/// Checks the name of an instruction set. Errors: invalid [isa].
support::Result<void> check_isa(const std::string& isa);

/// Resources of a search; the budgets are those of frontier::Options.
struct SearchMeans {
  frontier::SolverFactory solver;                       ///< none: Z3 in this process
  double seconds = frontier::Options().search_seconds;  ///< limit and default of a request's limit
  int solver_milliseconds =
      frontier::Options().solver_total_milliseconds;                 ///< budget for all queries of a search
  int query_milliseconds = frontier::Options().solver_milliseconds;  ///< budget for one query
  ProblemLimits problems;                                            ///< limits on accepted problems
};

struct SchedulingOptions {
  std::size_t compile_threads = 2;  ///< concurrent compilations of one request
  /// A search that takes longer is preceded by frontiers of small parts of the space.
  std::chrono::milliseconds partial_search_delay{40};
  /// Returns true while other requests wait; then a request has a first kernel and its full answer, and
  /// nothing between them. None: never.
  std::function<bool()> overloaded;
  /// Returns how many requests of a client wait for their first kernel. While some do, parts are searched a
  /// little later, and its request that has a first kernel lets them go before its full ones. While
  /// max_waiting_first_kernels do, its request has its full answer alone. None: no one waits.
  std::function<std::size_t(const std::string& client)> waiting_first_kernels;
  /// A first kernel behind so many others would come after seconds, and keep their whole answers back.
  std::size_t max_waiting_first_kernels = 32;
  std::chrono::milliseconds max_delay_for_others{2000};  ///< a full kernel waits no longer
  std::size_t max_kernels = 64;                          ///< limit on kernels compiled from one frontier
  /// Time for finding the sizes at which the last few schedules win; a stored answer waits no longer for it.
  std::chrono::milliseconds win_budget{20};
  SearchMeans search;  ///< for searches, proofs and explanations
  std::shared_ptr<kernels_cache::ScheduleStore>
      measurements;  ///< stores clients' timings; null: they are dropped
};

/// Answers schedule requests through a stack of providers. Thread-safe.
class Scheduling {
 public:
  Scheduling(std::shared_ptr<KernelProvider> provider, std::shared_ptr<const toolchain::Toolchain> toolchain,
             SchedulingOptions options = {});

  /// Searches, compiles and sends the events of one request. Errors: those of problem::build; invalid [isa],
  /// [kernels], [traces], [no-stage2], [unknown-schedule] and the trace errors of schedule::parse and apply
  /// (before any work); those of the provider; the first failure when no kernel could be compiled. Cancels
  /// `cancellation` when the sink returns false.
  support::Result<Finished> schedule(const ScheduleQuery& query, const Sink& sink,
                                     support::Cancellation& cancellation);
  /// Validates a query without doing its work: returns the errors that `schedule` finds first.
  support::Result<void> check(const ScheduleQuery& query, const support::Cancellation& cancellation);
  /// Returns the stored frontier; invalid [not-stored].
  support::Result<answers::Frontier> lookup(const problem::ProblemText& text, const SearchBounds& bounds,
                                            const support::Cancellation& cancellation);
  /// Explains why the named schedules are, or are not, on the frontier, one explanation for each cost
  /// `schedule` stands for. Errors: those of problem::build and of the provider; invalid [unknown-schedule],
  /// [no-stage2]; those of schedule::parse, apply and traces_of_tree.
  support::Result<std::vector<answers::Explanation>> explain(const ExplainQuery& query,
                                                             const support::Cancellation& cancellation);
  /// Stores a client's timings. Errors: those of problem::build and of server::keep.
  support::Result<void> report(const ReportQuery& query, const support::Cancellation& cancellation);
  /// Prints one schedule; searches (and stores) when `schedule` is "auto" or a frontier id.
  support::Result<EmitAnswer> emit(const EmitQuery& query, const support::Cancellation& cancellation);

 private:
  std::shared_ptr<KernelProvider> provider_;
  std::shared_ptr<const toolchain::Toolchain> toolchain_;
  SchedulingOptions options_;
};

}  // namespace schaas::server
