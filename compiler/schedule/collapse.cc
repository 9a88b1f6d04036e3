#include "compiler/schedule/collapse.h"

#include "compiler/schedule/loop_manner.h"

namespace schaas::schedule {

support::Result<concrete_notation::StatementPtr> apply_collapse(const concrete_notation::StatementPtr& tree,
                                                                const Collapse& directive) {
  return with_manner(tree, directive.path, directive.loop,
                     [](concrete_notation::Manner& manner) { manner.collapsed = true; });
}

}  // namespace schaas::schedule
