#include "compiler/concrete_notation/masked_elements.h"

#include <algorithm>
#include <set>
#include <string>

#include "compiler/concrete_notation/loop_order.h"
#include "compiler/concrete_notation/match.h"

// An operand beside the mask may be absent at an entry of the mask. The loops of the producer skip such an
// element, which then holds a value of another row. Formats tell: an index is skipped only by a
// sparse level. The mask's own operand skips nothing more.
namespace schaas::concrete_notation {
namespace {

using index_notation::Access;

/// Loops over the indices in `open` come before all others.
bool come_first(const StatementPtr& statement, std::set<std::string> open) {
  if (open.empty()) return true;
  return match(
      statement->node,
      [&](const Forall& loop) { return open.erase(loop.index) > 0 && come_first(loop.body, open); },
      [&](const Blocks& blocks) { return open.count(blocks.index) > 0 && come_first(blocks.body, open); },
      [&](const Where& branch) { return come_first(branch.consumer, open); },
      [&](const Terms&) { return false; }, [&](const Assign&) { return false; });
}

}  // namespace

bool writes_whole_mask(const Where& branch, const problem::Problem& problem) {
  const Assign& leaf = leaf_of(branch.producer);
  const problem::Mask* mask = problem.mask_of(leaf.target.tensor);
  if (mask == nullptr ||
      !come_first(branch.producer, {leaf.target.indices.begin(), leaf.target.indices.end()}))
    return false;
  std::set<std::string> indices;
  std::vector<Access> patterns, others;
  for (const Access& read : reads(branch.producer)) {
    const bool is_pattern =
        std::find(mask->patterns.begin(), mask->patterns.end(), read.tensor) != mask->patterns.end();
    if (is_pattern) indices.insert(read.indices.begin(), read.indices.end());
    (is_pattern ? patterns : others).push_back(read);
  }
  return std::none_of(others.begin(), others.end(), [&](const Access& read) {
    const bool is_mask = patterns.size() == 1 && read.indices == patterns.front().indices &&
                         problem.pattern_named(patterns.front().tensor)->tensor == read.tensor;
    return !is_mask && std::any_of(indices.begin(), indices.end(),
                                   [&](const std::string& index) { return is_walked(read, index, problem); });
  });
}

}  // namespace schaas::concrete_notation
