#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "compiler/space/contraction.h"

/// Rest of an operand below the loops already placed. Operands of which the same is left are
/// interchangeable: C(i,k) below a loop over i, D(j,k) below a loop over j and a temporary over k are one.
namespace schaas::space {

/// A shape. Below 2^16 it is *plain*: the set of the remaining indices of a temporary, or of an original that
/// is read like one. Above, the number of a shape with an access order, fibers or strides.
using Slot = std::uint32_t;
constexpr Slot first_bound_slot = Slot{1} << max_indices;
constexpr Slot plain(IndexSet indices) { return indices; }
constexpr bool is_plain(Slot slot) { return slot < first_bound_slot; }

/// The shapes of one contraction. Reading is thread-safe; `restricted` adds shapes and is not.
class Shapes {
 public:
  explicit Shapes(const Contraction& contraction);

  /// An operand with all its indices.
  Slot original(std::size_t operand) const { return originals_[operand]; }
  /// Returns what is left below loops over everything but `loops`.
  Slot restricted(Slot slot, IndexSet loops);

  IndexSet indices(Slot slot) const { return is_plain(slot) ? slot : bound(slot).indices; }
  cost::Touch touch(Slot slot, int index) const {
    if (!is_plain(slot)) return bound(slot).touch[static_cast<std::size_t>(index)];
    return (slot >> index) & 1U ? cost::Touch::adjacent : cost::Touch::absent;
  }
  /// The shape of a slot that is not plain.
  const AccessShape& bound(Slot slot) const { return shapes_[slot - first_bound_slot]; }
  /// True when the slot says something about the order of loops or what they count.
  bool speaks(Slot slot) const { return !is_plain(slot) && speaks_[slot - first_bound_slot]; }

 private:
  Slot intern(const AccessShape& shape);

  std::vector<AccessShape> shapes_;
  std::vector<bool> speaks_;
  std::vector<std::vector<Slot>> restricted_;  ///< per bound shape, by the rank of the subset that is left
  std::vector<Slot> originals_;
};

}  // namespace schaas::space
