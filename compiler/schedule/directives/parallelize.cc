#include "compiler/schedule/directives/parallelize.h"

#include "compiler/schedule/loop_annotation.h"

namespace schaas::schedule {

support::Result<concrete_notation::StatementPtr> apply_parallelize(
    const concrete_notation::StatementPtr& tree, const Parallelize& directive) {
  return with_annotation(
      tree, directive.path, directive.loop,
      [&](concrete_notation::LoopAnnotation& annotation) { annotation.parallel = directive.races; });
}

}  // namespace schaas::schedule
