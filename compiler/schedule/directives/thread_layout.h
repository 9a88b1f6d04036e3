#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

/// Directives that add to the thread mapping of a loop. Errors of all: invalid [illegal-directive]: a loop
/// that `threads` has not mapped.
namespace schaas::schedule {

/// Sets the threads that reduce together.
support::Result<concrete_notation::StatementPtr> apply_group(const concrete_notation::StatementPtr& tree,
                                                             const Group& directive);
/// Sets the threads of a block, and which of them are adjacent.
support::Result<concrete_notation::StatementPtr> apply_launch(const concrete_notation::StatementPtr& tree,
                                                              const Launch& directive);
/// Sets the threads that stage the entries of a row together.
support::Result<concrete_notation::StatementPtr> apply_stage(const concrete_notation::StatementPtr& tree,
                                                             const Stage& directive);
/// Lets threads take rows and entries together.
support::Result<concrete_notation::StatementPtr> apply_merge_path(const concrete_notation::StatementPtr& tree,
                                                                  const MergePath& directive);

}  // namespace schaas::schedule
