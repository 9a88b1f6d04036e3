#include "compiler/schedule/directives/apply_directive.h"

#include "compiler/concrete_notation/match.h"
#include "compiler/schedule/directives/block.h"
#include "compiler/schedule/directives/bound.h"
#include "compiler/schedule/directives/collapse.h"
#include "compiler/schedule/directives/distribute.h"
#include "compiler/schedule/directives/divide.h"
#include "compiler/schedule/directives/loopfuse.h"
#include "compiler/schedule/directives/parallelize.h"
#include "compiler/schedule/directives/permute.h"
#include "compiler/schedule/directives/pos.h"
#include "compiler/schedule/directives/reorder.h"
#include "compiler/schedule/directives/sequence.h"
#include "compiler/schedule/directives/share.h"
#include "compiler/schedule/directives/split.h"
#include "compiler/schedule/directives/thread_layout.h"
#include "compiler/schedule/directives/threads.h"
#include "compiler/schedule/directives/unroll.h"
#include "compiler/schedule/illegal.h"
#include "compiler/schedule/workspace_storage.h"

namespace schaas::schedule {

using concrete_notation::StatementPtr;
using support::Result;

Result<StatementPtr> apply_directive(const Directive& directive, const StatementPtr& tree,
                                     const problem::Problem& problem, TemporaryNames& names) {
  return concrete_notation::match(
      directive, [&](const Permute& permute) { return apply_permute(tree, permute); },
      [&](const Reorder& reorder) { return apply_reorder(tree, reorder); },
      [&](const LoopFuse& fuse) { return apply_loopfuse(tree, fuse, names.next()); },
      [&](const Block& block) { return apply_block(tree, block); },
      [&](const Share& share) { return apply_share(tree, share); },
      [&](const Sequence& sequence) { return apply_sequence(tree, sequence); },
      [&](const Distribute& distribute) { return apply_distribute(tree, distribute, problem); },
      [&](const Parallelize& parallelize) { return apply_parallelize(tree, parallelize); },
      [&](const Unroll& unroll) { return apply_unroll(tree, unroll); },
      [&](const Split& split) { return apply_split(tree, split); },
      [&](const Divide& divide) { return apply_divide(tree, divide); },
      [&](const Bound& bound) { return apply_bound(tree, bound); },
      [&](const Collapse& collapse) { return apply_collapse(tree, collapse); },
      [&](const Pos& pos) { return apply_pos(tree, pos); },
      [&](const Threads& threads) { return apply_threads(tree, threads); },
      [&](const Group& group) { return apply_group(tree, group); },
      [&](const Launch& launch) { return apply_launch(tree, launch); },
      [&](const Stage& stage) { return apply_stage(tree, stage); },
      [&](const MergePath& merge) { return apply_merge_path(tree, merge); },
      [&](const WorkspaceStorage& gather) { return apply_workspace_storage(tree, gather, problem); },
      [](const Store&) -> Result<StatementPtr> {
        return illegal("`store` stands before all other directives: they work on what it leads to");
      },
      [](const Mask&) -> Result<StatementPtr> {
        return illegal(
            "`mask` stands before all other directives but `store`: they work on what it leads to");
      },
      [](const Precompute&) -> Result<StatementPtr> {
        return illegal(
            "`precompute` stands before all other directives but `store` and `mask`: they work on what it "
            "leads to");
      });
}

}  // namespace schaas::schedule
