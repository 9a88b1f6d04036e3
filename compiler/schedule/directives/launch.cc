#include "compiler/schedule/directives/launch.h"

#include <string>

#include "compiler/schedule/illegal.h"
#include "compiler/schedule/loop_annotation.h"

namespace schaas::schedule {

support::Result<concrete_notation::StatementPtr> apply_launch(const concrete_notation::StatementPtr& tree,
                                                              const Launch& directive) {
  bool shared_out = false;
  auto out = with_annotation(tree, directive.path, directive.loop,
                             [&](concrete_notation::LoopAnnotation& annotation) {
                               shared_out = annotation.mapping.has_value();
                               if (!shared_out) return;
                               annotation.mapping->block = directive.block;
                               annotation.mapping->tile = directive.warp;
                             });
  if (!out.ok() || shared_out) return out;
  return illegal("loop `" + directive.loop + "` is not shared out among threads of a GPU; `threads` does it");
}

}  // namespace schaas::schedule
