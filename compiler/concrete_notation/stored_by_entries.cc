#include "compiler/concrete_notation/stored_by_entries.h"

#include <algorithm>

#include "compiler/concrete_notation/match.h"

// Masked intermediates kept by entries (ReACT, section 4.5): the position of the mask's entry numbers the
// element. The producer has one pattern with all indices of the target. Each assignment that reads an element
// reads the mask's operand there, too, so the position is at hand. Levels are dense or compressed, whose
// entries have positions without gaps.
namespace schaas::concrete_notation {
namespace {

using index_notation::Access;

/// Returns the access of the pattern's operand with the indices of `pattern` where `target` is read as
/// `read`.
Access mask_at(const Access& pattern, const Access& target, const Access& read, const std::string& operand) {
  Access out{operand, {}};
  for (const auto& index : pattern.indices) {
    const auto mode = std::find(target.indices.begin(), target.indices.end(), index) - target.indices.begin();
    out.indices.push_back(read.indices[static_cast<std::size_t>(mode)]);
  }
  return out;
}

/// Every assignment that reads the temporary has the mask as a factor.
bool reads_at_mask(const StatementPtr& statement, const Access& pattern, const Access& target,
                   const std::string& operand) {
  const auto each = [&](const StatementPtr& part) { return reads_at_mask(part, pattern, target, operand); };
  return match(
      statement->node, [&](const Forall& loop) { return each(loop.body); },
      [&](const Blocks& blocks) { return each(blocks.body); },
      [&](const Where& branch) { return each(branch.producer) && each(branch.consumer); },
      [&](const Terms& sum) { return std::all_of(sum.terms.begin(), sum.terms.end(), each); },
      [&](const Assign& leaf) {
        const auto operands = index_notation::operands(leaf.value);
        return std::all_of(operands.begin(), operands.end(), [&](const Access& read) {
          if (read.tensor != target.tensor) return true;
          return read.indices.size() == target.indices.size() &&
                 std::find(operands.begin(), operands.end(), mask_at(pattern, target, read, operand)) !=
                     operands.end();
        });
      });
}

}  // namespace

std::optional<Access> stored_by_entries(const Where& branch, const problem::Problem& problem) {
  const Assign& leaf = leaf_of(branch.producer);
  const problem::Mask* mask = problem.mask_of(leaf.target.tensor);
  if (mask == nullptr || mask->patterns.size() != 1) return std::nullopt;
  for (const Access& pattern : index_notation::operands(leaf.value)) {
    if (pattern.tensor != mask->patterns.front()) continue;
    const auto& format = problem.formats.at(pattern.tensor);
    const bool plain = std::all_of(format.levels.begin(), format.levels.end(), [](format::LevelFormat level) {
      return level == format::LevelFormat::dense || level == format::LevelFormat::compressed;
    });
    const auto has = [&](const std::string& index) {
      return std::count(leaf.target.indices.begin(), leaf.target.indices.end(), index) == 1;
    };
    if (!plain || pattern.indices.size() != leaf.target.indices.size() ||
        !std::all_of(pattern.indices.begin(), pattern.indices.end(), has))
      continue;
    if (reads_at_mask(branch.consumer, pattern, leaf.target, problem.pattern_named(pattern.tensor)->tensor))
      return pattern;
  }
  return std::nullopt;
}

}  // namespace schaas::concrete_notation
