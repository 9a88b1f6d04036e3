#include "compiler/lower/lower.h"

#include <algorithm>

#include "compiler/concrete_notation/match.h"
#include "compiler/lower/analysis/nest.h"
#include "compiler/lower/analysis/numbering.h"
#include "compiler/lower/description.h"
#include "compiler/lower/emit/facts/kernel_builder.h"
#include "compiler/lower/emit/facts/thread_mapping.h"
#include "compiler/lower/emit/phases.h"

// The stages of lowering in order: numbering, passes on the tree, emission, passes on the kernel. Trees that
// cannot be lowered are refused before emission; what fails later is a bug.
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

support::Result<Lowered> lower_tree(const concrete_notation::StatementPtr& statement,
                                    const problem::Problem& problem, const PassOptions& options) {
  SCHAAS_RETURN_IF_ERROR(check_result(statement, problem));
  SCHAAS_ASSIGN_OR_RETURN(NestTree tree, number(statement, problem));
  const bool for_gpu = is_for_gpu(tree);
  if (const auto type = problem::type_not_on_gpu(problem); for_gpu && type)
    return support::unsupported(
        "value-type",
        std::string("kernels for GPUs compute with f64, f32, bf16 and f16, the values are ") + name(*type));
  if (for_gpu) SCHAAS_RETURN_IF_ERROR(check_mapped_loops(tree));
  // Passes and emission then see a dense result with an element for each entry.
  const int entries_of = for_gpu ? keep_result_by_entries(tree) : -1;
  run_passes(tree, for_gpu ? Machine::gpu : Machine::cpu, options);
  KernelBuilder builder(problem, tree);
  emit_phases(tree, builder);
  builder.extents.declare_fixed();
  auto kernel = std::move(builder.kernel);
  kernel.result_entries_of = entries_of;
  SCHAAS_ASSIGN_OR_RETURN(kernel, run_passes(std::move(kernel), builder.names, options));
  return Lowered{std::move(tree), std::move(kernel), builder.variables};
}

}  // namespace

support::Result<loop_ir::Kernel> lower(const concrete_notation::StatementPtr& statement,
                                       const problem::Problem& problem, const PassOptions& options) {
  SCHAAS_ASSIGN_OR_RETURN(Lowered lowered, lower_tree(statement, problem, options));
  return std::move(lowered.kernel);
}

support::Result<std::vector<concrete_notation::LeafCode>> describe(
    const concrete_notation::StatementPtr& statement, const problem::Problem& problem) {
  SCHAAS_ASSIGN_OR_RETURN(const Lowered lowered, lower_tree(statement, problem, {}));
  return describe(statement, lowered);
}

}  // namespace schaas::lower
