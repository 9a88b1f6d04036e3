#include "compiler/schedule/share.h"

#include <algorithm>
#include <utility>

#include "compiler/index_notation/printer.h"
#include "compiler/schedule/nests.h"

namespace schaas::schedule {
namespace {

using Names = std::vector<std::string>;

support::Diagnostic illegal(std::string message) {
  return support::invalid("illegal-directive", std::move(message));
}

bool has(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The nest's loops with `first` at the front.
support::Result<Names> reordered(const Nest& nest, const Names& first) {
  for (std::size_t n = 0; n < first.size(); ++n) {
    if (!has(nest.loops, first[n])) {
      return illegal("the nest of `" + index_notation::print(nest.leaf().target) + "` has no loop `" +
                     first[n] + "`");
    }
    if (has(Names(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(n)), first[n]))
      return illegal("loop `" + first[n] + "` is listed twice");
  }
  Names loops = first;
  for (const std::string& index : nest.loops) {
    if (!has(first, index)) loops.push_back(index);
  }
  return loops;
}

/// What two nests may go on sharing after their loops were reordered.
void keep_common(Nest& nest, const Nest& next) {
  const std::size_t most = std::min({nest.shared, nest.loops.size(), next.loops.size()});
  std::size_t common = 0;
  while (common < most && nest.loops[common] == next.loops[common]) ++common;
  nest.shared = common;
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
  SCHAAS_ASSIGN_OR_RETURN(nests[at].loops, reordered(nests[at], directive.loops));
  SCHAAS_ASSIGN_OR_RETURN(nests[at + 1].loops, reordered(nests[at + 1], directive.loops));
  nests[at].shared = directive.loops.size();
  if (at > 0) keep_common(nests[at - 1], nests[at]);
  if (at + 2 < nests.size()) keep_common(nests[at + 1], nests[at + 2]);
  return tree_of(nests);
}

}  // namespace schaas::schedule
