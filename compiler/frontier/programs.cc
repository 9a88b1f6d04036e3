#include "compiler/frontier/programs.h"

#include <iterator>
#include <utility>
#include <vector>

#include "compiler/frontier/listed.h"
#include "compiler/schedule/apply.h"
#include "compiler/schedule/section.h"
#include "compiler/space/program.h"

namespace schaas::frontier {
namespace {

/// Says nothing of the tree: the empty trace would stand for the default masks.
schedule::Reorder as_it_is(const concrete_notation::StatementPtr& tree) {
  schedule::Reorder out;
  while (!schedule::find_section(tree, out.path).ok()) out.path.push_back(1);
  out.order = schedule::find_section(tree, out.path).value().loops;
  return out;
}

/// The schedules that begin with each of these lists of directives on the problem.
support::Result<space::ListedMembers> list_program(const std::vector<schedule::Trace>& first,
                                                   const problem::Problem& asked,
                                                   const ComputeContraction& contraction,
                                                   const support::Cancellation& cancellation) {
  space::ListedMembers all;
  for (const schedule::Trace& begin : first) {
    problem::Problem problem = asked;
    if (!begin.directives.empty()) {
      SCHAAS_ASSIGN_OR_RETURN(problem, schedule::problem_of(begin, asked));
    }
    SCHAAS_ASSIGN_OR_RETURN(
        space::ListedMembers found,
        space::program_members(schedule::default_nest(problem), problem, {}, cancellation));
    for (space::ListedMember& member : found.members) {
      auto& directives = member.trace.directives;
      if (directives.empty() && begin.directives.empty() && first.size() > 1)
        directives.emplace_back(as_it_is(schedule::default_nest(problem)));
      directives.insert(directives.begin(), begin.directives.begin(), begin.directives.end());
    }
    SCHAAS_RETURN_IF_ERROR(add_split_products(found, asked, problem, contraction, cancellation));
    all.members.insert(all.members.end(), std::make_move_iterator(found.members.begin()),
                       std::make_move_iterator(found.members.end()));
    all.schedules += found.schedules;
    all.steps += found.steps;
    if (all.limited.empty()) all.limited = std::move(found.limited);
  }
  return all;
}

}  // namespace

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
  const schedule::Trace all = schedule::default_trace(asked);
  schedule::Trace copies = all;
  std::erase_if(copies.directives, [](const schedule::Directive& directive) {
    return std::holds_alternative<schedule::Mask>(directive);
  });
  std::vector<schedule::Trace> first = {all};
  if (copies != all) first.push_back(copies);
  SCHAAS_ASSIGN_OR_RETURN(const problem::Problem problem, schedule::problem_of(copies, asked));
  const auto list = [&] { return list_program(first, asked, contraction, cancellation); };
  return compute_listed(problem, list, options, progress, cancellation);
}

}  // namespace schaas::frontier
