#include "compiler/lower/emit/levels/merge_loops.h"

#include <utility>

#include "compiler/lower/emit/levels/block_loops.h"

// A merge in a block takes its bounds from the block. The outermost merge of a phase takes them from the
// range of the task. That range begins at an entry of the first list, or at a coordinate.
namespace schaas::lower {

using loop_ir::ExpressionPtr;
using loop_ir::make;
using merge_lattice::Formula;

namespace {

Formula any_held(const std::vector<merge_lattice::LevelAccess>& levels) {
  std::vector<Formula> parts;
  for (const auto& level : levels) parts.push_back(merge_lattice::held(level));
  return merge_lattice::united(parts);
}

/// Returns the first range of equal coordinates that begins at or after a bound of the phase's range. It
/// belongs to the task in which it begins.
ExpressionPtr first_range(const std::string& border, const loop_ir::Cursor& list) {
  const auto at = loop_ir::name(border);
  const auto before = loop_ir::load(list.coordinates, loop_ir::add(at, loop_ir::integer(-1)));
  const auto next =
      loop_ir::search(list.coordinates, at, list.end, loop_ir::add(before, loop_ir::integer(1)));
  return loop_ir::choose(loop_ir::apply(operators::Function::less, {loop_ir::integer(0), at}), next, at);
}

}  // namespace

/// Limits of the coordinates that a merge visits.
struct MergeLoops::Bounds {
  std::string letter;
  bool ranged = false;               ///< by the range of the phase
  const OpenBlock* block = nullptr;  ///< by a block
};

/// Cuts the list to the block, or to the range of the phase.
void MergeLoops::cut(const merge_lattice::LevelAccess& walked, const Bounds& bounds,
                     const loop_ir::Merge& merge, loop_ir::Cursor& walk, Scope& inner) const {
  const bool intersects = merge.kind == loop_ir::MergeKind::all;
  if (bounds.block != nullptr) {
    walk.begin = loop_ir::search(walk.coordinates, walk.begin, walk.end, loop_ir::name(bounds.block->begin));
    // The range of a union ends it; lists end an intersection.
    if (intersects)
      walk.end = loop_ir::search(walk.coordinates, walk.begin, walk.end, loop_ir::name(bounds.block->end));
  } else if (bounds.ranged && intersects && merge.cursors.empty()) {
    const bool unique = format::is_unique(facts_.level_format(walked));
    walk.begin = unique ? loop_ir::range_begin() : first_range(loop_ir::range_names[0], walk);
    walk.end = unique ? loop_ir::range_end() : first_range(loop_ir::range_names[1], walk);
    inner.iteration = walk.position;
  } else if (bounds.ranged) {
    // The other lists begin where the first one does, or at the first coordinate of the range.
    const auto from = intersects ? loop_ir::load(merge.cursors.front().coordinates, loop_ir::range_begin())
                                 : loop_ir::range_begin();
    walk.begin = walk.coordinates.empty() ? loop_ir::apply(operators::Function::maximum, {walk.begin, from})
                                          : loop_ir::search(walk.coordinates, walk.begin, walk.end, from);
  }
}

/// Returns the next cursor of the merge, bound in the scope of its body.
loop_ir::Cursor MergeLoops::open_cursor(const merge_lattice::LevelAccess& walked, const Bounds& bounds,
                                        const loop_ir::Merge& merge, Scope& inner) const {
  auto walk = levels_.cursor(walked, bounds.letter, inner);
  cut(walked, bounds, merge, walk, inner);
  auto& position = inner.positions[static_cast<std::size_t>(walked.operand)];
  if (walk.coordinates.empty())
    position.shift[static_cast<std::size_t>(walked.level)] =
        inner.bands.at({walked.operand, walked.level}).shift;
  position.bound[static_cast<std::size_t>(walked.level)] = loop_ir::name(walk.position);
  if (!format::is_unique(facts_.level_format(walked))) {
    walk.until = facts_.fresh("o");
    position.until[static_cast<std::size_t>(walked.level)] = loop_ir::name(walk.until);
  }
  if (merge.kind == loop_ir::MergeKind::any) {
    walk.present = facts_.fresh("has");
    position.present = loop_ir::name(walk.present);
  }
  return walk;
}

void MergeLoops::emit(const Loop& loop, const LoopSpace& space, const Scope& scope, Statements& out,
                      const Body& body) const {
  const bool intersects = space.kind != LoopSpace::Kind::merge;
  const Bounds bounds{facts_.letter_of(loop.index), &loop == facts_.outermost,
                      loop.block ? &scope.blocks.at(loop.index) : nullptr};
  loop_ir::Merge merge;
  merge.kind = intersects ? loop_ir::MergeKind::all : loop_ir::MergeKind::any;
  Scope inner = scope;
  levels_.open_bands(space, inner, out);
  for (const auto& walked : space.cursors) merge.cursors.push_back(open_cursor(walked, bounds, merge, inner));
  merge.variable = facts_.fresh(bounds.letter);
  if (bounds.block != nullptr) {
    bind_block(loop, offset_in(*bounds.block, merge.variable), facts_.tree, inner);
    if (!intersects)
      merge.over = loop_ir::Range{loop_ir::name(bounds.block->begin), loop_ir::name(bounds.block->end)};
  } else if (!intersects && bounds.ranged) {
    inner.iteration = merge.variable;
    merge.over = loop_ir::Range{loop_ir::range_begin(), loop_ir::range_end()};
  } else if (space.whole) {
    merge.over = loop_ir::Range{loop_ir::integer(0), facts_.builder.extents.of(loop.index)};
  }
  LoopSpace guarded = space;
  // A range also visits coordinates that no list holds.
  if ((bounds.ranged || bounds.block != nullptr) && !intersects && !space.whole && !guarded.condition)
    guarded.condition = any_held(space.cursors);
  merge.body = levels_.loop_body(loop, guarded, std::move(inner), merge.variable, {}, body);
  out.push_back(make(std::move(merge)));
}

}  // namespace schaas::lower
