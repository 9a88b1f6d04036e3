#include "compiler/schedule/directives/permute.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/schedule/illegal.h"
#include "compiler/schedule/section.h"

// Order of the factors of a product. By itself it changes rounding at most; it decides which factors a
// following `loopfuse` separates.
namespace schaas::schedule {

support::Result<concrete_notation::StatementPtr> apply_permute(const concrete_notation::StatementPtr& tree,
                                                               const Permute& directive) {
  SCHAAS_ASSIGN_OR_RETURN(Section section, find_section(tree, directive.path));
  SCHAAS_ASSIGN_OR_RETURN(const auto present, factors_of(section));
  std::vector<int> sorted = directive.factors;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int> all(present.size());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all) {
    return illegal("factors " + print(directive.factors) + " is no permutation of the section's factors " +
                   print(all));
  }
  std::vector<index_notation::Access> factors;
  for (const int factor : directive.factors) factors.push_back(present[static_cast<std::size_t>(factor)]);
  section.value = index_notation::product_of(std::move(factors));
  return replace_section(tree, directive.path, statement_of(section));
}

}  // namespace schaas::schedule
