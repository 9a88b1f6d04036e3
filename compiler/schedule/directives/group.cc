#include "compiler/schedule/directives/group.h"

#include <string>

#include "compiler/schedule/illegal.h"
#include "compiler/schedule/loop_annotation.h"

namespace schaas::schedule {

support::Result<concrete_notation::StatementPtr> apply_group(const concrete_notation::StatementPtr& tree,
                                                             const Group& directive) {
  bool shared_out = false;
  auto out = with_annotation(tree, directive.path, directive.loop,
                             [&](concrete_notation::LoopAnnotation& annotation) {
                               shared_out = annotation.mapping.has_value();
                               if (!shared_out) return;
                               annotation.mapping->group_size = directive.width;
                               annotation.mapping->reduce = directive.reduce;
                             });
  if (!out.ok() || shared_out) return out;
  return illegal("loop `" + directive.loop + "` is not shared out among threads of a GPU; `threads` does it");
}

}  // namespace schaas::schedule
