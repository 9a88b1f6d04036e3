#include "compiler/lower/emit/facts/temporaries.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "compiler/loop_ir/nodes.h"
#include "compiler/lower/analysis/iteration_space.h"

// Proofs about the writes of a nest, by its loops alone. Each follows consumers down to the leaf that writes
// the target. When loops over all indices of the target come first, all writes of an element happen below
// its own iteration. So an element is written once, as long as no such loop repeats a coordinate; all are,
// as long as none skips one.
namespace schaas::lower {
namespace {

using loop_ir::Match;

/// The loop leaves out values of its index that `temporary` has elements for.
bool skips(const Loop& loop, const NestTree& tree, int temporary) {
  if ((!loop.block || !loop.entries) && is_sparse(loop, tree)) return true;
  if (!loop.block) return false;
  // A block has an element for each of its values; temporaries without blocks may be walked sparsely.
  return tree.tensors[static_cast<std::size_t>(temporary)].blocks.count(loop.index) == 0;
}

/// The walked list of coordinates may repeat one.
bool repeats(const Loop& loop, const NestTree& tree) {
  for (const int number : factors_below(loop.body, tree)) {
    const int level = level_of(operand(tree, number), loop.index);
    const auto& levels = tree.tensors[static_cast<std::size_t>(operand(tree, number).tensor)].levels;
    if (level >= 0 && !format::is_unique(levels[static_cast<std::size_t>(level)])) return true;
  }
  return false;
}

/// Loops over the indices in `open` come first, and none of them is `bad`.
bool once(const NestPtr& nest, const std::function<bool(const Loop&)>& bad, std::set<int> open) {
  if (open.empty()) return true;
  return std::visit(
      Match{
          [&](const Loop& loop) {
            if (open.erase(loop.index) == 0 || bad(loop)) return false;
            return once(loop.body, bad, open);
          },
          [&](const Blocks& blocks) { return open.count(blocks.index) > 0 && once(blocks.body, bad, open); },
          [&](const Branch& branch) { return once(branch.consumer, bad, open); },
          // Several terms write each element.
          [](const Terms&) { return false; },
          [&](const Leaf&) { return false; },
      },
      nest->node);
}

/// Tells whether the loops over the temporary's indices above its uses all run over whole extents; nothing
/// when no leaf below uses it.
std::optional<bool> walks_all(const NestPtr& nest, const NestTree& tree, int temporary) {
  return std::visit(
      Match{
          [&](const Loop& loop) {
            auto below = walks_all(loop.body, tree, temporary);
            if (below.value_or(false) && skips(loop, tree, temporary)) {
              for (const auto& use : tree.operands) {
                if (use.tensor == temporary && level_of(use, loop.index) >= 0)
                  return std::optional<bool>(false);
              }
            }
            return below;
          },
          [&](const Blocks& blocks) { return walks_all(blocks.body, tree, temporary); },
          [&](const Branch& branch) {
            const auto found = walks_all(branch.producer, tree, temporary);
            return found ? found : walks_all(branch.consumer, tree, temporary);
          },
          [&](const Terms& sum) {
            std::optional<bool> any;
            for (const auto& term : sum.terms) {
              const auto found = walks_all(term, tree, temporary);
              if (found) any = *found || any.value_or(false);
            }
            return any;
          },
          [&](const Leaf& leaf) {
            const auto uses = [&](int number) { return operand(tree, number).tensor == temporary; };
            const bool found =
                uses(leaf.target) || std::any_of(leaf.factors.begin(), leaf.factors.end(), uses);
            return found ? std::optional<bool>(true) : std::nullopt;
          },
      },
      nest->node);
}

}  // namespace

bool is_sparse(const Loop& loop, const NestTree& tree) {
  for (const int number : factors_below(loop.body, tree)) {
    const int occupancy_levels =
        tree.tensors[static_cast<std::size_t>(operand(tree, number).tensor)].occupancy_levels;
    if (occupancy_levels > 0 && level_of(operand(tree, number), loop.index) == occupancy_levels - 1)
      return true;
  }
  return loop_space(loop.body, loop.index, tree).skips();
}

bool writes_each_once(const NestPtr& producer, const NestTree& tree) {
  const auto& target = operand(tree, target_of(producer));
  return once(producer, [&](const Loop& loop) { return skips(loop, tree, target.tensor); },
              {target.indices.begin(), target.indices.end()});
}

bool writes_entries_once(const NestPtr& nest, const NestTree& tree) {
  const auto& target = operand(tree, target_of(nest));
  const auto& levels = tree.tensors[static_cast<std::size_t>(target.tensor)].levels;
  const auto last_sparse =
      std::find_if(levels.rbegin(), levels.rend(), [](auto level) { return format::is_sparse(level); });
  if (last_sparse == levels.rend()) return false;
  const std::set<int> inside(target.indices.begin() + (levels.rend() - last_sparse), target.indices.end());
  return once(
      nest,
      [&](const Loop& loop) { return inside.count(loop.index) > 0 && skips(loop, tree, target.tensor); },
      {target.indices.begin(), target.indices.end()});
}

bool writes_rows_once(const Loop& rows, int target, const NestTree& tree) {
  return writes_rows_once(rows, target, tree, rows.body);
}

bool writes_rows_once(const Loop& rows, int target, const NestTree& tree, const NestPtr& inside) {
  const auto& written = operand(tree, target);
  std::set<int> others(written.indices.begin(), written.indices.end());
  others.erase(rows.index);
  return once(
      inside, [&](const Loop& loop) { return skips(loop, tree, written.tensor); }, others);
}

bool writes_none_twice(const NestPtr& nest, const NestTree& tree) {
  const auto& target = operand(tree, target_of(nest));
  return once(nest, [&](const Loop& loop) { return repeats(loop, tree); },
              {target.indices.begin(), target.indices.end()});
}

bool may_overwrite(const NestPtr& producer, const NestTree& tree) {
  const auto& target = operand(tree, target_of(producer));
  return writes_each_once(producer, tree) ||
         (tree.tensors[static_cast<std::size_t>(target.tensor)].masked && writes_none_twice(producer, tree));
}

Reset reset_of(const Branch& branch, const NestTree& tree) {
  if (may_overwrite(branch.producer, tree)) return Reset::overwrite;
  const bool producer = walks_all(branch.producer, tree, branch.temporary).value_or(false);
  const bool consumer = walks_all(branch.consumer, tree, branch.temporary).value_or(false);
  // Scratch is zero at first; other start values are written each time.
  const bool zero = tree.tensors[static_cast<std::size_t>(branch.temporary)].fill == 0;
  return producer || consumer || !zero ? Reset::before : Reset::after;
}

}  // namespace schaas::lower
