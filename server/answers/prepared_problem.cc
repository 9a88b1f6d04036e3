#include "server/answers/prepared_problem.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "compiler/concrete_notation/printer.h"
#include "compiler/frontier/proofs/contradiction.h"
#include "compiler/index_notation/printer.h"
#include "compiler/pipeline/check.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/support/nearest_name.h"
#include "compiler/support/schedule_id.h"
#include "server/answers/terms.h"
#include "server/storage/stored_frontier.h"

// From texts to a canonical problem, and from canonical answers back to texts. The order of checks on the way
// in bounds the work that a text can cause. Its size comes first, then parsing and contradictions, then the
// limits on what was parsed. On the way out nothing is replaced inside of texts. Traces are renamed as values
// and applied to the user's problem again; trees, costs and sentences are printed from that. Errors are found
// once more in the same way.
namespace schaas::server {
namespace {

using problem::Canonical;
using support::Result;

using concrete_notation::StatementPtr;

/// Describes a variant by the loop nests, their code, and the memory of its tree.
Result<answers::Variant> named_variant(const frontier::Variant& variant, const UserNames& names) {
  const schedule::Trace trace = names.to_user(variant.trace);
  SCHAAS_ASSIGN_OR_RETURN(const StatementPtr tree, schedule::apply(trace, names.as_written()));
  SCHAAS_ASSIGN_OR_RETURN(const problem::Problem with_copies, schedule::problem_of(trace, names.problem()));
  return answers::Variant{schedule::print(trace), concrete_notation::print_loop_tree(tree),
                          nests(cost::leaf_nests(tree, with_copies), names.variables(), variant.code),
                          memory_terms(cost::memory_terms(tree, with_copies), names.variables())};
}

/// Describes an entry of the frontier; its own trace is the first of its class.
Result<answers::Entry> named_entry(const frontier::Survivor& survivor, const UserNames& names) {
  answers::Entry entry;
  entry.id = survivor.id;
  const schedule::Trace trace = names.to_user(survivor.traces.front());
  entry.trace = schedule::print(trace);
  SCHAAS_ASSIGN_OR_RETURN(const StatementPtr tree, schedule::apply(trace, names.as_written()));
  entry.tree = concrete_notation::print_loop_tree(tree);
  entry.code = concrete_notation::print_indented(tree);
  for (const frontier::Variant& variant : survivor.variants) {
    auto made = named_variant(variant, names);
    if (made.ok()) entry.variants.push_back(std::move(made).value());
  }
  entry.time = cost::print_time(survivor.cost, names.variables());
  entry.memory = cost::print_memory(survivor.cost, names.variables());
  entry.members = survivor.members;
  entry.loop_trees = survivor.loop_trees;
  entry.time_terms = time_terms(survivor.cost, names.variables());
  SCHAAS_ASSIGN_OR_RETURN(const auto with_copies, schedule::problem_of(trace, names.problem()));
  entry.memory_terms = memory_terms(cost::memory_terms(tree, with_copies), names.variables());
  for (std::size_t t = 1; t < survivor.traces.size(); ++t) {
    entry.other_traces.push_back(schedule::print(names.to_user(survivor.traces[t])));
  }
  return entry;
}

std::string removal_id(std::size_t index) {
  return support::print(support::ScheduleId{support::ScheduleId::Kind::removal, index + 1});
}

/// Describes the winner of a removal in words where it has no single one: a limit excluded the class.
const char* excluding(frontier::Certificate::Kind kind) {
  switch (kind) {
    case frontier::Certificate::Kind::volume:
      return "every schedule that fits";
    case frontier::Certificate::Kind::depth:
      return "every schedule with smaller temporaries";
    default:
      return "none";
  }
}

/// Describes a removed class, or a summary of what a stage dropped without listing it.
answers::Removal named_removal(const frontier::Frontier& found, std::size_t index, const UserNames& names) {
  const frontier::Removal& removal = found.removals[index];
  const frontier::Certificate& certificate = removal.certificate;
  answers::Removal out;
  out.id = removal_id(index);
  out.kind = kind_name(certificate.kind);
  out.argument = names.print(certificate.argument);
  if (removal.summary()) return out;
  out.time = cost::print_time(removal.cost, names.variables());
  out.memory = cost::print_memory(removal.cost, names.variables());
  out.time_terms = time_terms(removal.cost, names.variables());
  out.memory_terms = memory_terms(removal.cost, names.variables());
  if (!certificate.winner) return out.by = excluding(certificate.kind), out;
  out.winner = class_id(*certificate.winner, found);
  out.by = "T = " + cost::print_time(*certificate.winner, names.variables()) +
           ", M = " + cost::print_memory(*certificate.winner, names.variables());
  return out;
}

answers::Counts counts_of(const frontier::Counts& from) {
  return {.space = from.space,
          .stage1 = from.stage1,
          .stage2 = from.stage2,
          .stage3 = from.stage3,
          .states = from.states,
          .classes_stage1 = from.classes_stage1,
          .classes_stage2 = from.classes_stage2,
          .classes_stage3 = from.classes_stage3,
          .solver_queries = from.solver_queries,
          .solver_unknown = from.solver_unknown,
          .log_proofs = from.log_proofs,
          .witnesses = from.witnesses,
          .solver_pairs = from.solver_pairs,
          .solver_milliseconds = from.solver_milliseconds,
          .solver_worst_milliseconds = from.solver_worst_milliseconds,
          .spaces = from.spaces};
}

/// Applies the bounds of a request to the options, whose time limit is the server's. Errors: invalid
/// [search-bounds].
Result<void> apply_bounds(const SearchBounds& bounds, const problem::Problem& problem,
                          frontier::Options& options) {
  if (bounds.memory_depth > 0) {
    options.stage1 = true;
    options.memory_depth = bounds.memory_depth;
  }
  if (bounds.max_temporary_bytes == 0 && bounds.seconds == 0) return {};
  if (problem.profile == problem::Profile::sparseauto) {
    return support::invalid("search-bounds",
                            "the search of profile sparseauto takes no limit in bytes or seconds; bound the "
                            "indices of temporaries, or use the default profile");
  }
  if (!(bounds.seconds >= 0 && bounds.seconds <= options.search_seconds)) {
    std::ostringstream message;
    message << "the seconds of a search must be 0, for the default, to " << options.search_seconds;
    return support::noting(support::invalid("search-bounds", message.str()),
                           "the server's operator sets the bound: schaasd --search-seconds");
  }
  if (bounds.seconds > 0) options.search_seconds = bounds.seconds;
  if (bounds.max_temporary_bytes > 0) {
    const std::uint64_t elements =
        bounds.max_temporary_bytes / operators::bytes_of(operators::arithmetic_type(problem.value_type));
    // Clamped to the positive range of the signed bound, where at least one element fits.
    options.max_temporary_elements =
        static_cast<std::int64_t>(std::clamp<std::uint64_t>(elements, 1, std::uint64_t{1} << 62));
  }
  return {};
}

}  // namespace

Result<PreparedProblem> prepare(const problem::ProblemText& text, const SearchBounds& bounds,
                                const SearchMeans& means, const support::Cancellation& cancellation) {
  SCHAAS_RETURN_IF_ERROR(check_text(text, means.problems));
  // Contradicting constraints are found here, so that the message quotes them as they were written.
  const auto here = frontier::make_solver(means.solver, cancellation);
  SCHAAS_ASSIGN_OR_RETURN(const problem::Problem problem,
                          frontier::build_consistent(text, *here, means.query_milliseconds));
  SCHAAS_RETURN_IF_ERROR(check_size(problem, means.problems));
  Canonical canonical = problem::canonicalize(problem, text.expression);
  UserNames names(canonical);
  frontier::Options options = frontier::options_for(problem.profile);
  options.solver = means.solver;
  options.search_seconds = means.seconds;
  options.solver_total_milliseconds = means.solver_milliseconds;
  options.solver_milliseconds = means.query_milliseconds;
  SCHAAS_RETURN_IF_ERROR(apply_bounds(bounds, problem, options));
  return PreparedProblem{std::move(canonical), std::move(names), std::move(options)};
}

Result<void> leave_out_stage2(PreparedProblem& prepared) {
  if (prepared.canonical.problem.profile != problem::Profile::sparseauto) {
    return support::invalid("no-stage2",
                            "stage 2 can only be left out with profile sparseauto; the default "
                            "profile has none");
  }
  prepared.options.stage2 = false;
  return {};
}

Result<FrontierAnswer> frontier_of(const PreparedProblem& prepared, KernelProvider& provider,
                                   const FrontierQuery& query, const frontier::Progress& progress,
                                   const support::Cancellation& cancellation) {
  auto answer = provider.frontier(query, progress, cancellation);
  if (answer.ok() || answer.error().code != frontier::contradiction_code) return answer;
  // The search quotes constraints in canonical names.
  const auto solver = frontier::make_solver(prepared.options.solver, cancellation);
  SCHAAS_RETURN_IF_ERROR(
      frontier::check_satisfiable(prepared.names.problem(), *solver, prepared.options.solver_milliseconds));
  return answer;
}

Result<KernelAnswer> kernel_of(const PreparedProblem& prepared, KernelProvider& provider,
                               const KernelQuery& query, const support::Cancellation& cancellation) {
  auto answer = provider.kernel(query, cancellation);
  if (answer.ok()) return answer;
  // Lowering fails for the user's problem as for the canonical one, and quotes the user's names then.
  SCHAAS_RETURN_IF_ERROR(pipeline::check(prepared.names.as_written(), prepared.names.to_user(query.trace)));
  return answer;
}

Result<schedule::Trace> canonical_trace(const std::string& text, const PreparedProblem& prepared) {
  SCHAAS_ASSIGN_OR_RETURN(schedule::Trace trace, schedule::parse(text));
  // The empty trace stands for the default of the product as written, which may differ from the canonical
  // one.
  if (trace.directives.empty()) trace = schedule::default_trace(prepared.names.as_written());
  SCHAAS_RETURN_IF_ERROR(schedule::apply(trace, prepared.names.as_written()));
  return prepared.names.to_canonical(trace);
}

Result<const frontier::Survivor*> survivor_named(const frontier::Frontier& found, const std::string& id) {
  std::vector<std::string> ids;
  for (const auto& survivor : found.survivors) {
    if (survivor.id == id) return &survivor;
    ids.push_back(survivor.id);
  }
  const std::string range = ids.empty() ? "it is empty" : "it has " + ids.front() + " to " + ids.back();
  return support::invalid("unknown-schedule", "there is no schedule `" + id + "` on the frontier; " + range +
                                                  support::did_you_mean(id, ids));
}

std::string class_id(const cost::Cost& cost, const frontier::Frontier& found) {
  for (const auto& survivor : found.survivors) {
    if (survivor.cost == cost) return survivor.id;
  }
  for (std::size_t r = 0; r < found.removals.size(); ++r) {
    if (!found.removals[r].summary() && found.removals[r].cost == cost) return removal_id(r);
  }
  return "";
}

answers::Frontier without_entries(const PreparedProblem& prepared) {
  answers::Frontier out;
  out.key = prepared.canonical.key;
  out.canonical = prepared.canonical.text;
  out.constraints = constraints(prepared.canonical.problem);
  out.statement = index_notation::print(prepared.names.as_written().program());
  out.arguments = prepared.names.arguments();
  out.user_tensors = prepared.canonical.user_tensor;
  out.user_indices = prepared.canonical.user_extent;
  out.complete = true;
  return out;
}

Result<answers::Frontier> named(const frontier::Frontier& found, const PreparedProblem& prepared) {
  answers::Frontier out = without_entries(prepared);
  for (const auto& survivor : found.survivors) {
    SCHAAS_ASSIGN_OR_RETURN(answers::Entry entry, named_entry(survivor, prepared.names));
    out.entries.push_back(std::move(entry));
  }
  out.removed = found.removals.size();
  for (std::size_t r = 0; r < std::min(found.removals.size(), RequestLimits::removals); ++r) {
    out.removals.push_back(named_removal(found, r, prepared.names));
  }
  out.counts = counts_of(found.counts);
  out.seconds = {found.seconds.space, found.seconds.stage1, found.seconds.stage2, found.seconds.stage3,
                 found.seconds.total};
  out.complete = found.complete;
  out.limited = found.limited;
  out.relaxed_from = found.relaxed_from;
  return out;
}

}  // namespace schaas::server
