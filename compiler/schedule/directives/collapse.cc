#include "compiler/schedule/directives/collapse.h"

#include "compiler/schedule/loop_annotation.h"

namespace schaas::schedule {

support::Result<concrete_notation::StatementPtr> apply_collapse(const concrete_notation::StatementPtr& tree,
                                                                const Collapse& directive) {
  return with_annotation(tree, directive.path, directive.loop,
                         [](concrete_notation::LoopAnnotation& annotation) { annotation.collapsed = true; });
}

}  // namespace schaas::schedule
