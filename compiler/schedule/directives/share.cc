#include "compiler/schedule/directives/share.h"

#include <algorithm>
#include <utility>

#include "compiler/index_notation/printer.h"
#include "compiler/schedule/illegal.h"
#include "compiler/schedule/nests.h"

// Trie-like fusion (ReACT, section 4.3) as a change of two neighbours in the list of nests (nests.h). Only
// the arguments are checked here; tree_of checks the sharing, because it concerns all nests up to the last
// reader.
namespace schaas::schedule {
namespace {

using Names = std::vector<std::string>;

support::Result<void> check_loops(const Nest& nest, const Names& loops) {
  for (auto index = loops.begin(); index != loops.end(); ++index) {
    if (std::find(nest.loops.begin(), nest.loops.end(), *index) == nest.loops.end()) {
      return illegal("the nest of `" + index_notation::print(nest.leaf().target) + "` has no loop `" +
                     *index + "`");
    }
    if (std::find(loops.begin(), index, *index) != index)
      return illegal("loop `" + *index + "` is listed twice");
  }
  return {};
}

}  // namespace

support::Result<concrete_notation::StatementPtr> apply_share(const concrete_notation::StatementPtr& tree,
                                                             const Share& directive) {
  SCHAAS_ASSIGN_OR_RETURN(Nests nests, nests_of(tree));
  if (directive.nest < 0 || static_cast<std::size_t>(directive.nest) + 1 >= nests.size()) {
    return illegal("nest is " + std::to_string(directive.nest) + ", but the tree has " +
                   std::to_string(nests.size()) + (nests.size() == 1 ? " nest" : " nests") +
                   ", counted from 0 in the order in which they run, and one that shares needs a next one");
  }
  const auto at = static_cast<std::size_t>(directive.nest);
  SCHAAS_RETURN_IF_ERROR(check_loops(nests[at], directive.loops));
  SCHAAS_RETURN_IF_ERROR(check_loops(nests[at + 1], directive.loops));
  share(nests, at, directive.loops);
  return tree_of(nests);
}

}  // namespace schaas::schedule
