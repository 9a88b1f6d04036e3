#include "compiler/schedule/workspace_storage.h"

#include "compiler/concrete_notation/match.h"
#include "compiler/concrete_notation/result_workspace.h"
#include "compiler/index_notation/printer.h"
#include "compiler/schedule/illegal.h"

// The workspace is found by its position: the first branch on the way of consumers from the root that the
// result is appended from (concrete_notation/result_workspace.h). Producers are not searched, because only
// the last consumer writes the result. The directive is an annotation: it follows the step that adds the
// workspace.
namespace schaas::schedule {
namespace {

using concrete_notation::Assign;
using concrete_notation::Blocks;
using concrete_notation::Forall;
using concrete_notation::StatementPtr;
using concrete_notation::Storage;
using concrete_notation::Terms;
using concrete_notation::Where;

/// Returns null where no workspace is on the path to the result's assignment.
StatementPtr with_storage(const StatementPtr& statement, Storage storage, const problem::Problem& problem) {
  return concrete_notation::match(
      statement->node,
      [&](const Forall& loop) -> StatementPtr {
        auto body = with_storage(loop.body, storage, problem);
        return body ? concrete_notation::with_body(loop, std::move(body)) : nullptr;
      },
      [&](const Blocks& blocks) -> StatementPtr {
        auto body = with_storage(blocks.body, storage, problem);
        return body ? concrete_notation::with_body(blocks, std::move(body)) : nullptr;
      },
      [&](const Where& branch) -> StatementPtr {
        if (concrete_notation::workspace_levels(branch, problem))
          return concrete_notation::where(branch.consumer, branch.producer, storage);
        auto consumer = with_storage(branch.consumer, storage, problem);
        if (!consumer) return nullptr;
        return concrete_notation::where(std::move(consumer), branch.producer, branch.storage);
      },
      // A workspace stands above the terms of its sum, so none is left below them.
      [](const Terms&) -> StatementPtr { return nullptr; },
      [](const Assign&) -> StatementPtr { return nullptr; });
}

}  // namespace

support::Result<StatementPtr> apply_workspace_storage(const StatementPtr& tree,
                                                      const WorkspaceStorage& directive,
                                                      const problem::Problem& problem) {
  auto gathered = with_storage(tree, directive.storage, problem);
  if (gathered) return gathered;
  const auto& result = problem.statement.result;
  const bool dense = problem.formats.at(result.tensor).all_dense();
  return illegal("`" + index_notation::print(result) + "` is " +
                 (dense ? "dense: its elements are written where they belong"
                        : "appended to in the order of its entries") +
                 ", and nothing is gathered");
}

}  // namespace schaas::schedule
