#include "compiler/frontier/programs.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/concrete_notation/copies/locating_copies.h"
#include "compiler/concrete_notation/copies/needed_copies.h"
#include "compiler/frontier/copied.h"
#include "compiler/frontier/dense_walks.h"
#include "compiler/frontier/listed.h"
#include "compiler/frontier/stopwatch.h"
#include "compiler/problem/precomputed.h"
#include "compiler/problem/rewrites/factors.h"
#include "compiler/schedule/nests.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/schedule/section.h"
#include "compiler/space/listed/program.h"
#include "compiler/space/listed/result_entries.h"

// The search of programs: the lists of several beginnings are joined and pruned as one. These are the default
// copies and masks, the copies alone, and copies that let all nests share the loop over a sparse result's
// rows. Products inside are split as on their own frontiers (split_products.h). With copies by rows,
// schedules may append different entries; those that append more are no schedules of the result.
namespace schaas::frontier {
namespace {

/// Says nothing of the tree: the empty trace would stand for the default masks.
schedule::Reorder as_it_is(const concrete_notation::StatementPtr& tree) {
  schedule::Reorder out;
  while (!schedule::find_section(tree, out.path).ok()) out.path.push_back(1);
  out.order = schedule::find_section(tree, out.path).value().loops;
  return out;
}

constexpr const char* ended_while_listed = "the time for the search ended while schedules were listed";

/// Ways to share loops that a part of a search tries for each operand order.
constexpr std::size_t tries_of_part = 16;

/// The schedules that begin with these directives on the problem.
struct Beginning {
  schedule::Trace directives;
  bool alone = false;    ///< there are no other schedules
  std::size_t part = 0;  ///< Options::operand_orders
  const support::Cancellation& budget;
};

/// Lists these schedules, those of a part of the space first where only a part is wanted.
support::Result<space::ListedMembers> list_program(const Beginning& beginning, const problem::Problem& asked,
                                                   const ComputeContraction& contraction,
                                                   const support::Cancellation& cancellation) {
  const auto& [begin, alone, part, budget] = beginning;
  problem::Problem problem = asked;
  if (!begin.directives.empty()) {
    SCHAAS_ASSIGN_OR_RETURN(problem, schedule::problem_of(begin, asked));
  }
  space::ProgramOptions listing;
  listing.budget = &budget;
  if (part != 0) {
    listing.max_tries = part * tries_of_part;
    // Products are split in nests that share nothing.
    listing.apart_first = true;
  }
  SCHAAS_ASSIGN_OR_RETURN(space::ListedMembers found, space::program_members(schedule::default_nest(problem),
                                                                             problem, listing, cancellation));
  for (space::ListedMember& member : found.members) {
    auto& directives = member.trace.directives;
    // An empty trace would mean the default copies and masks.
    if (directives.empty() && begin.directives.empty() && !alone)
      directives.emplace_back(as_it_is(schedule::default_nest(problem)));
    directives.insert(directives.begin(), begin.directives.begin(), begin.directives.end());
  }
  const Splits splits = part == 0 ? Splits() : Splits{part, part, /*chains=*/true};
  SCHAAS_RETURN_IF_ERROR(
      add_split_products(found, asked, problem, contraction, splits, budget, cancellation));
  return found;
}

/// Leaves out schedules that give the sparse result more entries than others do, and those whose entries are
/// not known when the budget ends.
support::Result<void> keep_fewest_entries(space::ListedMembers& found, const problem::Problem& asked,
                                          const support::Cancellation& budget) {
  std::vector<space::ResultEntries> entries;
  for (const space::ListedMember& member : found.members) {
    if (!entries.empty() && !budget.check("counting entries").ok()) {
      found.limited = ended_while_listed;
      break;
    }
    SCHAAS_ASSIGN_OR_RETURN(entries.emplace_back(), space::result_entries(member.trace, asked));
  }
  found.members.erase(found.members.begin() + static_cast<std::ptrdiff_t>(entries.size()),
                      found.members.end());
  space::keep_fewest_entries(found, entries);
  return {};
}

/// The same beginning with the coordinates that loops look for located (locating_copies.h).
schedule::Trace locating(const schedule::Trace& begin, const problem::Problem& asked) {
  std::vector<problem::CopyRequest> copies;
  schedule::Trace others;
  for (const schedule::Directive& directive : begin.directives) {
    if (const auto* store = std::get_if<schedule::Store>(&directive))
      copies.push_back(*store);
    else
      others.directives.push_back(directive);
  }
  schedule::Trace out = trace_of(concrete_notation::with_locating_copies(copies, asked));
  out.directives.insert(out.directives.end(), others.directives.begin(), others.directives.end());
  return out;
}

/// The same beginning with all calls precomputed that may be (problem/precomputed.h); nothing when none may.
std::optional<schedule::Trace> precomputing(const schedule::Trace& begin, const problem::Problem& asked) {
  const auto problem = schedule::problem_of(begin, asked);
  if (!problem.ok()) return std::nullopt;
  auto request = problem::possible_precomputes(*problem);
  if (request.calls.empty() || !problem::with_precomputed(*problem, request).ok()) return std::nullopt;
  schedule::Trace out = begin;
  out.directives.emplace_back(std::move(request));
  return out;
}

void append(space::ListedMembers list, space::ListedMembers& all) {
  all.members.insert(all.members.end(), std::make_move_iterator(list.members.begin()),
                     std::make_move_iterator(list.members.end()));
  all.schedules += list.schedules;
  all.steps += list.steps;
  if (all.limited.empty()) all.limited = std::move(list.limited);
}

}  // namespace

bool has_parts(const problem::Problem& problem) {
  if (problem.profile != problem::Profile::standard) return false;
  return problem::is_one_product(problem) || problem.formats.at(problem.statement.result.tensor).all_dense();
}

support::Result<Frontier> compute_program(const problem::Problem& asked, const Options& options,
                                          const ComputeContraction& contraction, const Progress& progress,
                                          const support::Cancellation& cancellation) {
  if (asked.profile == problem::Profile::sparseauto) {
    return support::noting(
        support::unsupported("program-profile",
                             "profile `sparseauto` searches single products only, as the system "
                             "of the papers does"),
        "leave the profile out: the default one searches programs and every expression");
  }
  const Stopwatch watch;
  const schedule::Trace all = schedule::default_trace(asked);
  schedule::Trace copies = all;
  std::erase_if(copies.directives, [](const schedule::Directive& directive) {
    return std::holds_alternative<schedule::Mask>(directive);
  });
  std::vector<schedule::Trace> first = {all};
  if (copies != all) first.push_back(copies);
  const bool part = options.operand_orders != 0;
  if (part) first = {locating(precomputing(all, asked).value_or(all), asked)};
  const std::size_t without_more = first.size();
  const auto add = [&](schedule::Trace more) {
    const bool known = std::find(first.begin(), first.end(), more) != first.end();
    if (!part && !more.directives.empty() && !known) first.push_back(std::move(more));
  };
  add(trace_of(concrete_notation::row_copies(asked)));
  add(trace_of(concrete_notation::counting_copies(asked)));
  for (std::size_t n = first.size(); n-- > 0;) {
    if (auto once = precomputing(first[n], asked)) add(*std::move(once));
  }
  for (std::size_t n = first.size(); n-- > 0;) add(locating(first[n], asked));
  SCHAAS_ASSIGN_OR_RETURN(const problem::Problem problem, schedule::problem_of(copies, asked));
  const auto list = [&]() -> support::Result<space::ListedMembers> {
    space::ListedMembers found;
    const support::Cancellation budget(cancellation, watch.end_of(0.5, options.search_seconds));
    for (const schedule::Trace& begin : first) {
      if (!found.members.empty() && !budget.check("listing schedules").ok()) {
        found.limited = ended_while_listed;
        break;
      }
      const Beginning beginning{begin, first.size() == 1, options.operand_orders, budget};
      SCHAAS_ASSIGN_OR_RETURN(auto members, list_program(beginning, asked, contraction, cancellation));
      append(std::move(members), found);
    }
    if (first.size() > without_more && !asked.formats.at(asked.statement.result.tensor).all_dense())
      SCHAAS_RETURN_IF_ERROR(keep_fewest_entries(found, asked, budget));
    return found;
  };
  // A part is small by its number of schedules: programs store intermediates whatever their order.
  Options pruning = options;
  pruning.stage1 = options.stage1 && !part;
  auto found = compute_listed(problem, list, pruning, progress, cancellation);
  if (!found.ok()) return found;
  if (part) {
    found->complete = false;
    return found;
  }
  const std::size_t before = first.size();
  schedule::Trace walking = trace_of(concrete_notation::walking_copies(asked));
  add(locating(walking, asked));
  add(std::move(walking));
  if (first.size() == before || !walks_all_elements(*found, problem)) return found;
  return compute_listed(problem, list, pruning, progress, cancellation);
}

}  // namespace schaas::frontier
