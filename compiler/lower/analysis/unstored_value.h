#pragma once
#include <optional>

#include "compiler/lower/analysis/nest.h"
#include "compiler/merge_lattice/merge_lattice.h"

namespace schaas::lower {

/// The value of a leaf along an index: `value` at all coordinates that the levels of `visited` do not hold.
/// It does not read the index.
struct UnstoredValue {
  merge_lattice::Formula visited;
  ValuePtr value;
};

/// Returns the value of the leaf where no list along the index holds a coordinate. Nothing where it changes
/// along the index there, too, as that of `exp(B(i,j)) * x(j)`.
std::optional<UnstoredValue> unstored_value(const Leaf& leaf, int index, const NestTree& tree);

/// Returns the number that the value is; nothing when it reads something.
std::optional<double> number_of(const ValuePtr& value);

}  // namespace schaas::lower
