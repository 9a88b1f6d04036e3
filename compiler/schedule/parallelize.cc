#include "compiler/schedule/parallelize.h"

#include "compiler/schedule/loop_manner.h"

namespace schaas::schedule {

support::Result<concrete_notation::StatementPtr> apply_parallelize(
    const concrete_notation::StatementPtr& tree, const Parallelize& directive) {
  return with_manner(tree, directive.path, directive.loop,
                     [&](concrete_notation::Manner& manner) { manner.parallel = directive.races; });
}

}  // namespace schaas::schedule
