#include "compiler/cost/counted_loops.h"

#include <algorithm>

#include "compiler/support/contains.h"

// The question of the pass count-unstored, asked of a tree. From the innermost loop outwards, each must leave
// the value of what is not stored unchanged. Around a loop that is counted this value must be a number, since
// nothing is read for it.
namespace schaas::cost {
namespace {

/// Returns where the leaf differs from a value that the reduction folds by its number along the index.
std::optional<StoredSpace> counted_along(const concrete_notation::Assign& leaf, const std::string& index,
                                         const Operands& operands) {
  if (support::contains(leaf.target.indices, index)) return std::nullopt;
  auto stored = stored_space(leaf.value, index, operands);
  const bool folds = stored && operators::folding_of_equal_values(leaf.monoid, stored->background) !=
                                   operators::EqualValues::one_by_one;
  return folds ? stored : std::nullopt;
}

}  // namespace

std::optional<CountedLoops> counted_loops(const concrete_notation::Assign& leaf,
                                          const std::vector<std::string>& indices, const Operands& operands,
                                          const std::function<bool(OperandSet, const std::string&)>& bounds) {
  CountedLoops out;
  for (const std::string& index : indices) {
    auto stored = counted_along(leaf, index, operands);
    if (!stored || (out.loops > 0 && (!stored->background || stored->space.empty())) ||
        !std::all_of(stored->space.begin(), stored->space.end(),
                     [&](OperandSet way) { return bounds(way, index); }))
      break;
    if (out.loops == 0) out.stored = std::move(stored->space);
    ++out.loops;
  }
  return out.loops > 0 ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace schaas::cost
