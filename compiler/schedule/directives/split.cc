#include "compiler/schedule/directives/split.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compiler/schedule/illegal.h"
#include "compiler/schedule/section.h"

// Strip-mining, and tiling with `outer`: the loop over blocks of the index is moved outside other loops of
// the section. The loop itself stays and runs over the present block. Legality is checked by the verifier, on
// the whole tree. Blocks of entries stand inside the outer levels of their operand. No temporary may be
// summed over a single block.
namespace schaas::schedule {

using concrete_notation::Blocks;
using concrete_notation::Forall;
using concrete_notation::StatementPtr;
using support::Result;

Result<StatementPtr> with_blocks(const StatementPtr& tree, const Path& path, const std::string& loop,
                                 const std::string& outer,
                                 const std::function<StatementPtr(StatementPtr)>& around) {
  SCHAAS_ASSIGN_OR_RETURN(StatementPtr at, find_statement(tree, path));
  std::vector<std::string> loops;
  for (const Forall* own = std::get_if<Forall>(&at->node); own; own = std::get_if<Forall>(&at->node)) {
    loops.push_back(own->index);
    const StatementPtr body = own->body;
    at = body;
  }
  const std::string section = "the section at path " + print(path);
  if (std::holds_alternative<Blocks>(at->node)) return illegal(section + " runs in blocks already");
  // The border is the outermost loop that moves into the blocks; it may be the loop itself, not one inside
  // it.
  const auto inner = std::find(loops.begin(), loops.end(), loop);
  if (inner == loops.end())
    return illegal(section + " has no loop `" + loop + "` of its own above its branches");
  const auto border = outer.empty() ? inner : std::find(loops.begin(), inner + 1, outer);
  if (border == inner + 1) {
    return illegal("outer is `" + outer + "`, but the blocks of `" + loop + "` can stand around `" + loop +
                   "` or a loop outside it in " + section);
  }
  const auto body = concrete_notation::forall(std::vector<std::string>(border, loops.end()), at);
  return replace_section(
      tree, path, concrete_notation::forall(std::vector<std::string>(loops.begin(), border), around(body)));
}

Result<StatementPtr> apply_split(const StatementPtr& tree, const Split& directive) {
  if (directive.factor < 2) {
    return illegal("factor is " + std::to_string(directive.factor) + "; a block holds at least 2 values");
  }
  return with_blocks(tree, directive.path, directive.loop, directive.outer, [&](StatementPtr body) {
    return concrete_notation::blocks(directive.loop, directive.factor, std::move(body));
  });
}

}  // namespace schaas::schedule
