#include "compiler/concrete_notation/result_workspace.h"

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/concrete_notation/tree_checks.h"
#include "compiler/support/contains.h"

// Recognises the workspace of a sparse result by its shape. The consumer's loops are the temporary's indices,
// in the order of the result's last levels; its leaf adds the temporary to the result. Lowering, costs and
// verification ask here, so that all of them mean the same branches.
namespace schaas::concrete_notation {

using index_notation::Access;

namespace {

/// Nothing is summed in the term.
bool adds_elements(const StatementPtr& term) {
  const auto* loop = std::get_if<Forall>(&term->node);
  if (loop == nullptr) return std::holds_alternative<Assign>(term->node);
  return support::contains(leaf_of(term).target.indices, loop->index) && adds_elements(loop->body);
}

}  // namespace

std::optional<std::size_t> workspace_levels(const Where& branch, const problem::Problem& problem) {
  std::vector<std::string> loops;
  const StatementPtr* at = &branch.consumer;
  while (const auto* loop = std::get_if<Forall>(&(*at)->node)) {
    loops.push_back(loop->index);
    at = &loop->body;
  }
  const auto* append = std::get_if<Assign>(&(*at)->node);
  const auto* read = append == nullptr ? nullptr : std::get_if<Access>(&append->value.node);
  if (read == nullptr || read->tensor != leaf_of(branch.producer).target.tensor || read->indices != loops)
    return std::nullopt;
  if (append->monoid != problem.semiring->sum) return std::nullopt;
  const Access& result = problem.statement.result;
  if (append->target.tensor != result.tensor) return std::nullopt;
  const auto& format = problem.formats.at(result.tensor);
  const auto sparse = static_cast<std::size_t>(
      format.levels.rend() - std::find_if(format.levels.rbegin(), format.levels.rend(), format::is_sparse));
  if (loops.size() > format.levels.size()) return std::nullopt;
  const std::size_t above = format.levels.size() - loops.size();
  for (std::size_t n = 0; n < loops.size(); ++n) {
    if (append->target.indices[static_cast<std::size_t>(format.mode_order[above + n])] != loops[n])
      return std::nullopt;
  }
  // All levels in the workspace are dense: nothing is appended.
  if (sparse <= above) return std::nullopt;
  return sparse - above;
}

bool adds_terms(const StatementPtr& producer) {
  const auto& kept = leaf_of(producer).target.indices;
  const StatementPtr* at = &producer;
  while (const auto* loop = std::get_if<Forall>(&(*at)->node)) {
    if (!support::contains(kept, loop->index)) return false;
    at = &loop->body;
  }
  const auto* sum = std::get_if<Terms>(&(*at)->node);
  return sum != nullptr && std::all_of(sum->terms.begin(), sum->terms.end(), adds_elements);
}

support::Result<void> check_hashed(const Where& branch, bool inside_loop, const problem::Problem& problem) {
  if (branch.storage == Storage::dense) return {};
  const Access& temporary = leaf_of(branch.producer).target;
  const auto levels = workspace_levels(branch, problem);
  if (!levels)
    return illegal("temporary " + quoted(temporary) +
                   " is in a hash table, which is for what a sparse result is gathered in");
  if (!inside_loop)
    return illegal("temporary " + quoted(temporary) +
                   " is in a hash table and stands in no loop: one that all threads write is an array");
  if (*levels == 1) return {};
  return illegal("temporary " + quoted(temporary) + " is in a hash table and gathers " +
                 std::to_string(*levels) + " levels of " + quoted(problem.statement.result) +
                 "; a table holds the coordinates of one: loops further out append the others in order");
}

}  // namespace schaas::concrete_notation
