#pragma once
#include <vector>

#include "compiler/loop_ir/nodes.h"
#include "compiler/lower/analysis/nest.h"
#include "compiler/lower/emit/facts/kernel_builder.h"

namespace schaas::lower {

/// Position of an operand in its storage, as far as the loops entered so far determine it.
///
/// Levels form segments: dense levels between compressed ones. Inside a segment the position is the sum
/// parent * size(segment) + coordinate * stride, in any order of the coordinates. Each is added at the
/// outermost loop that knows it. The unit-stride coordinate is kept apart and added last, which leaves an
/// index of the form `invariant + k` for the innermost loop. A sparse level gives the next parent: a
/// position, or of a nonunique level the first of a range that the singleton level below walks. Strides use
/// extents of dense levels only. The position of a band is its shift plus the coordinate; a last band is
/// `invariant + k` again.
struct Position {
  std::vector<loop_ir::ExpressionPtr>
      bound;                ///< by level: coordinate (dense, banded) or position, null: not bound
  int segment = 0;          ///< first level of the present segment
  bool entered = false;     ///< the parent's share of the position is in `base`
  std::vector<bool> added;  ///< by level: the coordinate is in `base` or `unit`
  std::vector<loop_ir::ExpressionPtr>
      shift;  ///< by level: of a band that is bound, its first position minus its first coordinate
  std::vector<loop_ir::ExpressionPtr>
      until;  ///< by level: of a nonunique level that is bound, one past the entries with its coordinate
  loop_ir::ExpressionPtr parent;  ///< position of level segment - 1; null at the root
  loop_ir::ExpressionPtr base;    ///< null: 0
  loop_ir::ExpressionPtr row;     ///< `base` is this times the length of the last level; null: another sum
  loop_ir::ExpressionPtr unit;
  loop_ir::ExpressionPtr present;  ///< 1 where the operand has the coordinates bound so far; null: always
};

Position start_position(const Operand& operand);

/// Adds coordinates that have become known; appends the `let`s this needs to `out`.
void resolve(Position& position, const Operand& operand, const Tensor& tensor, KernelBuilder& builder,
             std::vector<loop_ir::StatementPtr>& out);

/// All levels are known: the operand's value is at `location`.
bool complete(const Position& position, const Tensor& tensor);
/// The levels before `level` are known: `location` is the parent's position of that compressed level.
bool reached(const Position& position, const Tensor& tensor, int level);
/// Returns the position of the present segment: an element of values, or the parent of the next compressed
/// level.
loop_ir::ExpressionPtr location(const Position& position);

}  // namespace schaas::lower
