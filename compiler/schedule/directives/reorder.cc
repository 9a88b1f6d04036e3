#include "compiler/schedule/directives/reorder.h"

#include <algorithm>

#include "compiler/schedule/illegal.h"
#include "compiler/schedule/index_list.h"
#include "compiler/schedule/section.h"
#include "compiler/support/nearest_name.h"

// A permutation of the section's loops. The verifier decides whether storage orders allow it, on the tree
// that results.
namespace schaas::schedule {
namespace {

// Checks that every loop is named once, and names the first that is unknown, repeated or missing.
support::Result<void> check_permutation(const std::vector<std::string>& order,
                                        const std::vector<std::string>& loops) {
  for (auto index = order.begin(); index != order.end(); ++index) {
    if (std::find(loops.begin(), loops.end(), *index) == loops.end()) {
      return illegal("the section has no loop `" + *index + "`; its loops are " + index_list(loops) +
                     support::did_you_mean(*index, loops));
    }
    if (std::find(order.begin(), index, *index) != index) {
      return illegal("order " + index_list(order) + " names loop `" + *index + "` twice");
    }
  }
  for (const auto& index : loops) {
    if (std::find(order.begin(), order.end(), index) == order.end()) {
      return illegal("order " + index_list(order) + " leaves out loop `" + index +
                     "`; the section's loops are " + index_list(loops));
    }
  }
  return {};
}

}  // namespace

support::Result<concrete_notation::StatementPtr> apply_reorder(const concrete_notation::StatementPtr& tree,
                                                               const Reorder& directive) {
  SCHAAS_ASSIGN_OR_RETURN(Section section, find_section(tree, directive.path));
  SCHAAS_RETURN_IF_ERROR(check_permutation(directive.order, section.loops));
  section.loops = directive.order;
  return replace_section(tree, directive.path, statement_of(section));
}

}  // namespace schaas::schedule
