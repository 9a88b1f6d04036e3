#pragma once
#include "compiler/loop_ir/nodes.h"
#include "compiler/lower/emit/facts/kernel_builder.h"
#include "compiler/lower/emit/levels/scope.h"

namespace schaas::lower {

/// Returns the values of a loop's index at which the chain of loops and the leaf below may add something.
/// Comparisons that hold there and loops with one value tell:
///     for j in 0 .. n_j { s += (j <= i) * B[..] }         j in 0 .. max(0, min(n_j, i + 1))
///     for j in 0 .. n_j { let p = i + j; s += B[p] }      j in max(0, -i) .. max(.., min(n_j, n_p - i))
/// Coordinates of loops around are known in the scope; of loops below, the extents. `certain`: the loops with
/// one value below whose value is a coordinate of their index inside these bounds.
struct CoordinateRange {
  loop_ir::Range range;
  std::vector<int> certain{};
};
CoordinateRange bounded_by_coordinates(const Loop& loop, const loop_ir::Range& all, const Scope& scope,
                                       KernelBuilder& builder);

/// Returns the part of the range, which may be empty, in which every loop with one value below has it. Other
/// coordinates below may be anything; loops that do not follow the index are left out.
CoordinateRange with_all_values(const Loop& loop, const loop_ir::Range& all, const Scope& scope,
                                KernelBuilder& builder);

/// Returns the value of a form whose coordinates are known in the scope.
loop_ir::ExpressionPtr evaluated(const LinearForm& form, const Scope& scope);

}  // namespace schaas::lower
