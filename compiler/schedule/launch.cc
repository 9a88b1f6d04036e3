#include "compiler/schedule/launch.h"

#include <string>

#include "compiler/schedule/illegal.h"
#include "compiler/schedule/loop_manner.h"

namespace schaas::schedule {

support::Result<concrete_notation::StatementPtr> apply_launch(const concrete_notation::StatementPtr& tree,
                                                              const Launch& directive) {
  bool shared_out = false;
  auto out = with_manner(tree, directive.path, directive.loop, [&](concrete_notation::Manner& manner) {
    shared_out = manner.units.has_value();
    if (!shared_out) return;
    manner.units->block = directive.block;
    manner.units->tile = directive.warp;
  });
  if (!out.ok() || shared_out) return out;
  return illegal("loop `" + directive.loop + "` is not shared out among threads of a GPU; `threads` does it");
}

}  // namespace schaas::schedule
