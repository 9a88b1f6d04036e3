#include "compiler/schedule/directives/merge_path.h"

#include <string>

#include "compiler/schedule/illegal.h"
#include "compiler/schedule/loop_annotation.h"

namespace schaas::schedule {

support::Result<concrete_notation::StatementPtr> apply_merge_path(const concrete_notation::StatementPtr& tree,
                                                             const MergePath& directive) {
  bool shared_out = false;
  auto out = with_annotation(tree, directive.path, directive.loop,
                             [&](concrete_notation::LoopAnnotation& annotation) {
                               shared_out = annotation.mapping.has_value();
                               if (shared_out) annotation.mapping->merge_path = true;
                             });
  if (!out.ok() || shared_out) return out;
  return illegal("loop `" + directive.loop + "` is not shared out among threads of a GPU; `threads` does it");
}

}  // namespace schaas::schedule
