#include "compiler/schedule/directives/unroll.h"

#include <string>

#include "compiler/schedule/illegal.h"
#include "compiler/schedule/loop_annotation.h"

namespace schaas::schedule {

support::Result<concrete_notation::StatementPtr> apply_unroll(const concrete_notation::StatementPtr& tree,
                                                              const Unroll& directive) {
  if (directive.factor < 2) {
    return illegal("factor is " + std::to_string(directive.factor) +
                   "; at least 2 iterations are written one after the other");
  }
  return with_annotation(
      tree, directive.path, directive.loop,
      [&](concrete_notation::LoopAnnotation& annotation) { annotation.unroll = directive.factor; });
}

}  // namespace schaas::schedule
