#pragma once
#include "compiler/loop_ir/nodes.h"
#include "compiler/lower/analysis/nest.h"
#include "compiler/lower/emit/levels/scope.h"

namespace schaas::lower {

/// A loop of a sum over the range of an index.
struct SummedLoop {
  int index = 0;
  loop_ir::Range all;
  bool multiplies = true;  ///< products of the semiring are those of numbers
};

/// Returns the values of the loop's index at which the value of a leaf may differ from zero. Comparisons of
/// coordinates that are factors of the value tell:
///     for j in 0 .. n_j { s += (j <= i) * B[..] }       j in 0 .. max(0, min(n_j, i + 1))
///     for p in 0 .. n_p { s += B[p] * (p == i + k) }    one value of p at most
/// Compared are sums of coordinates, of whole multiples of them and of whole numbers, in which the index
/// stands once. Coordinates of other indices are known in the scope.
loop_ir::Range bounded_by_coordinates(const ValuePtr& value, const SummedLoop& loop, const Scope& scope);

}  // namespace schaas::lower
