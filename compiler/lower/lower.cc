#include "compiler/lower/lower.h"

#include <algorithm>

#include "compiler/lower/emitter.h"
#include "compiler/lower/kernel_builder.h"
#include "compiler/lower/lanes.h"
#include "compiler/lower/nest.h"

namespace schaas::lower {

namespace {

support::Result<void> check_levels(const problem::Problem& problem) {
  for (const auto& [tensor, format] : problem.formats) {
    if (std::none_of(format.levels.begin(), format.levels.end(), format::is_singleton)) continue;
    return support::unsupported("level-format",
                                "`" + tensor + "` is stored as " + format::print(format) +
                                    ", whose singleton levels no kernel walks yet: declare it "
                                    "csr, csc or csf");
  }
  return {};
}

}  // namespace

support::Result<loop_ir::Kernel> lower(const concrete_notation::StatementPtr& statement,
                                       const problem::Problem& problem) {
  SCHAAS_RETURN_IF_ERROR(check_levels(problem));
  const std::string& result = problem.statement.result.tensor;
  if (!problem.formats.at(result).all_dense()) {
    return support::unsupported("sparse-result", "the result `" + result + "` has the sparse format " +
                                                     format::print(problem.formats.at(result)) +
                                                     "; sparse results are not implemented yet: declare `" +
                                                     result + "` dense");
  }
  SCHAAS_ASSIGN_OR_RETURN(NestTree tree, number(statement, problem));
  move_lanes_outwards(tree);
  KernelBuilder builder(problem, tree);
  Emitter(tree, builder).emit_phases(tree.root);
  return builder.take();
}

}  // namespace schaas::lower
