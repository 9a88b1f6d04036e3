#include "compiler/schedule/directives/sequence.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/index_notation/printer.h"
#include "compiler/schedule/illegal.h"
#include "compiler/schedule/nests.h"

// Topological reordering of the nests: any order in which temporaries are computed before they are read.
// Sharing is dropped altogether, since the neighbours change; `share` fuses the new ones.
namespace schaas::schedule {
namespace {

support::Result<void> check_permutation(const std::vector<int>& order, std::size_t nests) {
  std::vector<int> sorted = order, all(nests);
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  if (sorted == all) return {};
  return illegal("order is no permutation of the tree's nests, 0 to " + std::to_string(nests - 1));
}

/// Checks that a nest reads only computed temporaries, and that the result's nest stays last.
support::Result<void> check_dependences(const Nests& before, const std::vector<int>& order) {
  for (std::size_t n = 0; n < order.size(); ++n) {
    const Nest& nest = before[static_cast<std::size_t>(order[n])];
    const std::string& computed = nest.leaf().target.tensor;
    // No nest that runs earlier may read the target of this one.
    for (std::size_t m = 0; m < n; ++m) {
      const Nest& earlier = before[static_cast<std::size_t>(order[m])];
      for (const auto& read : concrete_notation::reads(earlier.assignment)) {
        if (read.tensor != computed) continue;
        return illegal("the nest of `" + index_notation::print(earlier.leaf().target) + "` reads `" +
                       computed + "` and must run after its nest");
      }
    }
  }
  if (static_cast<std::size_t>(order.back()) + 1 != before.size())
    return illegal("the result's nest must be the last one");
  return {};
}

}  // namespace

support::Result<concrete_notation::StatementPtr> apply_sequence(const concrete_notation::StatementPtr& tree,
                                                                const Sequence& directive) {
  SCHAAS_ASSIGN_OR_RETURN(const Nests nests, nests_of(tree));
  SCHAAS_RETURN_IF_ERROR(check_permutation(directive.order, nests.size()));
  SCHAAS_RETURN_IF_ERROR(check_dependences(nests, directive.order));
  Nests after;
  for (const int number : directive.order) {
    after.push_back(nests[static_cast<std::size_t>(number)]);
    after.back().shared = 0;
  }
  return tree_of(after);
}

}  // namespace schaas::schedule
