#include "compiler/schedule/directives/pos.h"

#include "compiler/schedule/illegal.h"
#include "compiler/schedule/loop_annotation.h"
#include "compiler/schedule/section.h"

// Position loops (Senanayake et al., OOPSLA 2020) as an annotation: the outermost of the loops is given their
// number. Threads then share the entries that these loops walk together.
namespace schaas::schedule {

using concrete_notation::Forall;
using concrete_notation::StatementPtr;

support::Result<StatementPtr> apply_pos(const StatementPtr& tree, const Pos& directive) {
  SCHAAS_ASSIGN_OR_RETURN(StatementPtr at, find_statement(tree, directive.path));
  const std::string section = "the section at path " + print(directive.path);
  std::string outermost;
  int loops = 0;
  for (const Forall* loop = std::get_if<Forall>(&at->node); loop; loop = std::get_if<Forall>(&at->node)) {
    // Counting begins at `from`, or at the first loop of the section.
    const bool counts = loops > 0 || directive.from.empty() || loop->index == directive.from;
    if (counts && loops++ == 0) outermost = loop->index;
    if (loop->index == directive.loop && counts) {
      return with_annotation(
          tree, directive.path, outermost,
          [&](concrete_notation::LoopAnnotation& annotation) { annotation.positions = loops; });
    }
    const StatementPtr body = loop->body;
    at = body;
  }
  if (loops == 0 && !directive.from.empty())
    return illegal(section + " has no loop `" + directive.from + "` of its own outside loop `" +
                   directive.loop + "`");
  return illegal(section + " has no loop `" + directive.loop + "` of its own above its branches");
}

}  // namespace schaas::schedule
