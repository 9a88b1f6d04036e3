#include "compiler/schedule/group.h"

#include <string>

#include "compiler/schedule/illegal.h"
#include "compiler/schedule/loop_manner.h"

namespace schaas::schedule {

support::Result<concrete_notation::StatementPtr> apply_group(const concrete_notation::StatementPtr& tree,
                                                             const Group& directive) {
  bool shared_out = false;
  auto out = with_manner(tree, directive.path, directive.loop, [&](concrete_notation::Manner& manner) {
    shared_out = manner.units.has_value();
    if (!shared_out) return;
    manner.units->width = directive.width;
    manner.units->reduce = directive.reduce;
  });
  if (!out.ok() || shared_out) return out;
  return illegal("loop `" + directive.loop + "` is not shared out among threads of a GPU; `threads` does it");
}

}  // namespace schaas::schedule
