#include "compiler/schedule/directives/threads.h"

#include <string>

#include "compiler/schedule/illegal.h"
#include "compiler/schedule/loop_annotation.h"

namespace schaas::schedule {

support::Result<concrete_notation::StatementPtr> apply_threads(const concrete_notation::StatementPtr& tree,
                                                               const Threads& directive) {
  if (directive.take < 1 || directive.share < 1)
    return illegal("a thread gets no iteration of loop `" + directive.loop + "`; the least is 1/32 of one");
  return with_annotation(tree, directive.path, directive.loop,
                         [&](concrete_notation::LoopAnnotation& annotation) {
                           auto mapping = annotation.mapping.value_or(concrete_notation::ThreadMapping{});
                           mapping.grain = directive.take;
                           mapping.threads_per_item = directive.share;
                           annotation.mapping = mapping;
                         });
}

}  // namespace schaas::schedule
