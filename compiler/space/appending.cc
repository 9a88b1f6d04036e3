#include "compiler/space/appending.h"

#include <algorithm>

#include "compiler/schedule/apply.h"
#include "compiler/space/space.h"

namespace schaas::space {

bool appends(const problem::Problem& problem) {
  return problem::is_contraction(problem) && !problem.formats.at(problem.statement.result.tensor).all_dense();
}

problem::Problem with_dense_result(const problem::Problem& problem) {
  problem::Problem dense = problem;
  auto& levels = dense.formats.at(problem.statement.result.tensor).levels;
  std::fill(levels.begin(), levels.end(), format::LevelFormat::dense);
  return dense;
}

ListedMembers listed(const std::vector<schedule::Trace>& traces, const problem::Problem& problem) {
  ListedMembers found;
  for (const schedule::Trace& trace : traces) {
    ++found.steps;
    const auto tree = schedule::apply(trace, problem);
    if (tree.ok()) found.members.push_back({trace, cost::of(*tree, problem), 1});
  }
  found.schedules = found.members.size();
  return found;
}

support::Result<std::optional<ListedMembers>> appending_members(const problem::Problem& problem,
                                                                std::size_t most,
                                                                const support::Cancellation& cancellation) {
  const std::optional<ListedMembers> too_many;
  Space space(with_dense_result(problem), {});
  SCHAAS_ASSIGN_OR_RETURN(const mpz_class members, space.count(cancellation));
  if (members > most) return too_many;
  std::vector<schedule::Trace> traces;
  SCHAAS_RETURN_IF_ERROR(space.for_each(
      [&](const schedule::Trace& trace) {
        traces.push_back(trace);
        return true;
      },
      cancellation));
  return std::optional(listed(traces, problem));
}

}  // namespace schaas::space
