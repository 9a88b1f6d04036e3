#include "server/answers/explanation.h"

#include <algorithm>
#include <utility>

#include "compiler/frontier/explain.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/schedule/replay/loop_tree.h"
#include "compiler/support/schedule_id.h"
#include "server/answers/prepared_problem.h"
#include "server/storage/stored_frontier.h"

// Explanations in the user's names. A name of schedules is resolved to costs first, because verdicts are
// about classes of equal cost. A loop tree may stand for several, and a trace that was never listed still has
// one. The proof itself is frontier::Explainer's. A trace whose copies the search does not know has other
// cost variables and cannot be compared; it is refused instead of being compared wrongly.
namespace schaas::server {
namespace {

using frontier::Explanation;
using support::Cancellation;
using support::Result;

/// Assignments of factors to one loop tree that are tried.
constexpr std::size_t max_assignments = 256;

/// One schedule in question; a cost class without `trace`.
struct Asked {
  std::optional<schedule::Trace> trace;  // canonical
  cost::Cost cost;
  const frontier::Removal* summary =
      nullptr;  // set for a summary of classes that a stage dropped without listing them
};

/// Returns the cost of a trace, with the copies that it reads.
Result<Asked> asked_of(const schedule::Trace& trace, const PreparedProblem& prepared) {
  const problem::Problem& problem = prepared.canonical.problem;
  SCHAAS_ASSIGN_OR_RETURN(const auto tree, schedule::apply(trace, problem));
  SCHAAS_ASSIGN_OR_RETURN(const auto with_copies, schedule::problem_of(trace, problem));
  if (cost::variables_of(with_copies).fibers.size() != cost::variables_of(problem).fibers.size()) {
    return support::unsupported("unknown-copies",
                                "the schedule stores copies that the search does not know, so it cannot be "
                                "compared with the frontier; `schaas run --schedule` runs it");
  }
  return Asked{trace, cost::of(tree, with_copies)};
}

/// Finds a removed class by its number; ids count from 1.
Result<Asked> removal_named(const std::string& id, std::uint64_t number, const frontier::Frontier& found) {
  if (number == 0 || number > found.removals.size()) {
    return support::invalid(
        "unknown-schedule",
        "there is no removed class `" + id + "`; " +
            (found.removals.empty() ? std::string("none was removed")
                                    : "there are r1 to r" + std::to_string(found.removals.size())));
  }
  const frontier::Removal& removal = found.removals[number - 1];
  return Asked{std::nullopt, removal.cost, removal.summary() ? &removal : nullptr};
}

/// Resolves a name of schedules: an id, a trace, or the short form of a loop tree, which may stand for
/// several costs.
Result<std::vector<Asked>> find(const std::string& text, const frontier::Frontier& found,
                                const PreparedProblem& prepared, const Cancellation& cancellation) {
  const auto id = support::parse_schedule_id(text);
  if (id && id->kind == support::ScheduleId::Kind::entry) {
    SCHAAS_ASSIGN_OR_RETURN(const frontier::Survivor* survivor, survivor_named(found, text));
    return std::vector{Asked{survivor->traces.front(), survivor->cost}};
  }
  if (id && id->kind == support::ScheduleId::Kind::removal) {
    SCHAAS_ASSIGN_OR_RETURN(Asked removal, removal_named(text, id->number, found));
    return std::vector{std::move(removal)};
  }
  if (text == "linear" || text.find('(') != std::string::npos) {
    SCHAAS_ASSIGN_OR_RETURN(const schedule::Trace trace, canonical_trace(text, prepared));
    SCHAAS_ASSIGN_OR_RETURN(Asked one, asked_of(trace, prepared));
    return std::vector{std::move(one)};
  }
  if (!problem::is_contraction(prepared.canonical.problem)) {
    return support::noting(
        support::unsupported("no-short-form",
                             "the short form of a loop tree names schedules of single products only"),
        "name a schedule by its id, as in `s1`, or by its trace");
  }
  SCHAAS_ASSIGN_OR_RETURN(const auto traces, schedule::traces_of_tree(text, prepared.names.as_written(),
                                                                      max_assignments, cancellation));
  std::vector<Asked> all;
  for (const schedule::Trace& trace : traces) {
    SCHAAS_ASSIGN_OR_RETURN(Asked one, asked_of(prepared.names.to_canonical(trace), prepared));
    // Assignments of factors with equal costs have one explanation.
    const auto same = [&](const Asked& other) { return other.cost == one.cost; };
    if (std::none_of(all.begin(), all.end(), same)) all.push_back(std::move(one));
  }
  return all;
}

/// Fills in what concerns the schedule itself; a removed class has no trace.
Result<answers::Explanation> described(const Asked& asked, const frontier::Frontier& found,
                                       const UserNames& names) {
  answers::Explanation out;
  out.id = class_id(asked.cost, found);
  out.time = cost::print_time(asked.cost, names.variables());
  out.memory = cost::print_memory(asked.cost, names.variables());
  if (!asked.trace) return out;
  out.trace = schedule::print(names.to_user(*asked.trace));
  SCHAAS_ASSIGN_OR_RETURN(out.tree, names.tree(*asked.trace));
  SCHAAS_ASSIGN_OR_RETURN(out.code, names.code(*asked.trace));
  return out;
}

answers::Competitor named_competitor(const frontier::Competitor& competitor, const frontier::Frontier& found,
                                     const UserNames& names) {
  answers::Competitor out;
  out.id = found.survivors[competitor.survivor].id;
  if (!competitor.witness) return out;
  out.sizes = names.print(competitor.witness->sizes);
  out.time = competitor.witness->time;
  out.memory = competitor.witness->memory;
  out.other_time = competitor.witness->other_time;
  out.other_memory = competitor.witness->other_memory;
  return out;
}

answers::Verdict verdict_of(Explanation::Verdict verdict) {
  switch (verdict) {
    case Explanation::Verdict::survivor:
      return answers::Verdict::survivor;
    case Explanation::Verdict::removed:
      return answers::Verdict::removed;
    case Explanation::Verdict::left_out:
      return answers::Verdict::left_out;
    case Explanation::Verdict::open:
      break;
  }
  return answers::Verdict::open;
}

/// Translates the verdict, its certificate and the competitors.
Result<answers::Explanation> explained(const Asked& asked, const frontier::Frontier& found,
                                       frontier::Explainer& explainer, const UserNames& names) {
  if (asked.summary != nullptr) {
    answers::Explanation summary;
    summary.verdict = answers::Verdict::left_out;
    summary.kind = kind_name(asked.summary->certificate.kind);
    summary.argument = names.print(asked.summary->certificate.argument);
    return summary;
  }
  SCHAAS_ASSIGN_OR_RETURN(answers::Explanation out, described(asked, found, names));
  SCHAAS_ASSIGN_OR_RETURN(const Explanation why, explainer.explain(asked.cost));
  out.verdict = verdict_of(why.verdict);
  const bool removed = why.verdict == Explanation::Verdict::removed;
  if (removed) out.by = found.survivors[why.survivor].id;
  if (removed || why.verdict == Explanation::Verdict::left_out) {
    out.kind = kind_name(why.certificate.kind);
    out.argument = names.print(why.certificate.argument);
  }
  for (const auto& competitor : why.competitors)
    out.competitors.push_back(named_competitor(competitor, found, names));
  return out;
}

/// Renders "fastest when j'*k < l*m (against s3), as at i = 12, ...".
std::string sentence(const frontier::Win& win, const frontier::Frontier& found, const UserNames& names) {
  if (win.sizes.empty()) return "";
  std::string out = win.fastest ? "fastest" : "fastest of those that need no more memory";
  if (!win.condition.empty()) out += " when " + names.print(win.condition);
  if (win.competitor) out += " (against " + found.survivors[*win.competitor].id + ")";
  return out + ", as at " + names.print(win.sizes);
}

}  // namespace

Result<std::vector<answers::Explanation>> explain(const ExplainQuery& query, KernelProvider& provider,
                                                  const SearchMeans& means,
                                                  const Cancellation& cancellation) {
  SCHAAS_ASSIGN_OR_RETURN(PreparedProblem prepared,
                          prepare(query.problem, query.bounds, means, cancellation));
  if (query.no_stage2) SCHAAS_RETURN_IF_ERROR(leave_out_stage2(prepared));
  const auto unheard = [](const frontier::Stage&) {};
  SCHAAS_ASSIGN_OR_RETURN(const FrontierAnswer answer, frontier_of(prepared, provider,
                                                                   {.canonical = prepared.canonical,
                                                                    .options = prepared.options,
                                                                    .requester = query.requester},
                                                                   unheard, cancellation));
  SCHAAS_ASSIGN_OR_RETURN(const auto asked, find(query.schedule, *answer.frontier, prepared, cancellation));
  frontier::Explainer explainer(prepared.canonical.problem, *answer.frontier, prepared.options, cancellation);
  std::vector<answers::Explanation> out;
  for (const Asked& one : asked) {
    SCHAAS_ASSIGN_OR_RETURN(answers::Explanation why,
                            explained(one, *answer.frontier, explainer, prepared.names));
    out.push_back(std::move(why));
  }
  return out;
}

void add_wins(answers::Frontier& named, const frontier::Frontier& found, const PreparedProblem& prepared,
              const Cancellation& budget) {
  const auto wins = frontier::wins(prepared.canonical.problem, found, budget);
  for (std::size_t s = 0; s < wins.size(); ++s)
    named.entries[s].wins = sentence(wins[s], found, prepared.names);
}

}  // namespace schaas::server
