#include "compiler/lower/lower.h"

#include <algorithm>

#include "compiler/concrete_notation/match.h"
#include "compiler/lower/emitter.h"
#include "compiler/lower/expand.h"
#include "compiler/lower/kernel_builder.h"
#include "compiler/lower/loop_flattening.h"
#include "compiler/lower/nest.h"
#include "compiler/lower/numeric_phase.h"
#include "compiler/lower/packed_panels.h"
#include "compiler/lower/prefetch_gathers.h"
#include "compiler/lower/prefetch_rows.h"
#include "compiler/lower/register_blocking.h"
#include "compiler/lower/row_registers.h"
#include "compiler/lower/row_splitting.h"
#include "compiler/lower/specialisation.h"
#include "compiler/lower/supernodes.h"
#include "compiler/lower/thread_coarsening.h"
#include "compiler/lower/thread_mapping.h"
#include "compiler/lower/unroll_and_jam.h"
#include "compiler/lower/unstored.h"
#include "compiler/lower/vector_loads.h"

namespace schaas::lower {

namespace {

bool has_blocks(const concrete_notation::StatementPtr& statement) {
  return concrete_notation::match(
      statement->node, [](const concrete_notation::Forall& loop) { return has_blocks(loop.body); },
      [](const concrete_notation::Blocks&) { return true; },
      [](const concrete_notation::Where& branch) {
        return has_blocks(branch.producer) || has_blocks(branch.consumer);
      },
      [](const concrete_notation::Terms& sum) {
        return std::any_of(sum.terms.begin(), sum.terms.end(), has_blocks);
      },
      [](const concrete_notation::Assign&) { return false; });
}

/// Rejects results that kernels cannot append to.
support::Result<void> check_result(const concrete_notation::StatementPtr& statement,
                                   const problem::Problem& problem) {
  const std::string& result = problem.statement.result.tensor;
  const auto& format = problem.formats.at(result);
  if (format.all_dense()) return {};
  const auto located = std::find_if(format.levels.begin(), format.levels.end(), format::is_located);
  if (located != format.levels.end()) {
    return support::unsupported(
        "level-format", "the result `" + result + "` is stored as " + format::print(format) +
                            ", and no kernel writes " + std::string(format::properties(*located).name) +
                            " levels: declare `" + result + "` dense, csr or csf and convert it");
  }
  const std::string found = "the result `" + result + "` has the sparse format " + format::print(format);
  if (problem.statement.update) {
    return support::unsupported("sparse-result", found +
                                                     " and is updated; only dense results are: declare `" +
                                                     result + "` dense, or write `=` and add `" + result +
                                                     "` of before as an operand with a name of its own");
  }
  if (has_blocks(statement)) {
    return support::unsupported("sparse-result", found +
                                                     " and the schedule runs in blocks; take a schedule "
                                                     "without `block`, or declare `" +
                                                     result + "` dense");
  }
  return {};
}

}  // namespace

support::Result<loop_ir::Kernel> lower(const concrete_notation::StatementPtr& statement,
                                       const problem::Problem& problem, Effort effort) {
  SCHAAS_RETURN_IF_ERROR(check_result(statement, problem));
  SCHAAS_ASSIGN_OR_RETURN(NestTree tree, number(statement, problem));
  const bool for_gpu = is_for_gpu(tree);
  int entries_of = -1;
  if (for_gpu) {
    SCHAAS_RETURN_IF_ERROR(check_mapped_loops(tree));
    entries_of = keep_result_by_entries(tree);
  } else {
    count_unstored(tree);
    block_registers(tree);
    if (effort.split_rows) split_rows(tree);
  }
  KernelBuilder builder(problem, tree);
  Emitter(tree, builder).emit_phases(tree.root);
  if (for_gpu) {
    Names& names = builder.names();
    auto kernel = keep_rows_in_registers(coarsen_threads(builder.take(), names), names);
    kernel = vectorize_loads(std::move(kernel), names);
    kernel.result_entries_of = entries_of;
    return kernel;
  }
  auto kernel = builder.take();
  if (effort.prefetch) kernel = prefetch_gathers(std::move(kernel));
  if (effort.unroll_and_jam) kernel = unroll_and_jam(std::move(kernel));
  if (effort.unroll_and_jam && effort.prefetch) kernel = prefetch_next_rows(std::move(kernel));
  // After prefetching, which runs beside the products, not where factors are packed.
  if (effort.unroll_and_jam) kernel = pack_panels(std::move(kernel), builder.names());
  if (effort.sparse_rows) kernel = expand_rows(add_supernodes(std::move(kernel)), builder.names());
  if (effort.numeric_phases) kernel = add_numeric_phases(std::move(kernel));
  if (effort.unroll_and_jam && effort.sparse_rows) kernel = flatten_loops(std::move(kernel), builder.names());
  if (effort.specialise) kernel = specialise(std::move(kernel), problem);
  return kernel;
}

}  // namespace schaas::lower
