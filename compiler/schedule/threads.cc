#include "compiler/schedule/threads.h"

#include <string>

#include "compiler/schedule/illegal.h"
#include "compiler/schedule/loop_manner.h"

namespace schaas::schedule {

support::Result<concrete_notation::StatementPtr> apply_threads(const concrete_notation::StatementPtr& tree,
                                                               const Threads& directive) {
  if (directive.take < 1 || directive.share < 1)
    return illegal("a thread gets no iteration of loop `" + directive.loop + "`; the least is 1/32 of one");
  return with_manner(tree, directive.path, directive.loop, [&](concrete_notation::Manner& manner) {
    auto units = manner.units.value_or(concrete_notation::Units{});
    units.take = directive.take;
    units.share = directive.share;
    manner.units = units;
  });
}

}  // namespace schaas::schedule
