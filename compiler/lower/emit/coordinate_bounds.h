#pragma once
#include "compiler/loop_ir/nodes.h"
#include "compiler/lower/analysis/nest.h"
#include "compiler/lower/emit/levels/scope.h"

namespace schaas::lower {

/// Returns the values in `all` of the index at which the value of a leaf may differ from zero. Comparisons of
/// coordinates that are factors of the value tell:
///     for j in 0 .. n_j { s += (j <= i) * B[..] }       j in 0 .. max(0, min(n_j, i + 1))
///     for p in 0 .. n_p { s += B[p] * (p == i + k) }    one value of p at most
/// Compared are sums of coordinates and whole numbers, in which the index stands once. Coordinates of other
/// indices are known in the scope.
loop_ir::Range bounded_by_coordinates(const ValuePtr& value, int index, const Scope& scope,
                                      const loop_ir::Range& all);

}  // namespace schaas::lower
