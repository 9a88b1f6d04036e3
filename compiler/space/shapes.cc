#include "compiler/space/shapes.h"

#include <algorithm>
#include <bit>

// Shapes of operands, stored once. The rest of an operand below loops is found once for each subset of its
// indices, in a table by the subset's rank. A rest that is read like a temporary needs no shape: its set of
// indices says all, so that more states are equal.
namespace schaas::space {
namespace {

constexpr Slot unknown = 0xffffffffU;

/// `shape` without the indices that are not in `loops`.
AccessShape cut(AccessShape shape, IndexSet loops) {
  shape.indices &= loops;
  shape.repeated &= loops;
  for (std::size_t x = 0; x < max_indices; ++x) {
    const bool left = ((shape.indices >> x) & 1U) != 0;
    shape.before[x] = left ? shape.before[x] & loops : 0;
    shape.stored_before[x] = left ? shape.stored_before[x] & loops : 0;
    if (left) continue;
    shape.touch[x] = cost::Touch::absent;
    shape.fiber[x] = 0;
    shape.list[x] = 0;
  }
  return shape;
}

AccessShape plain_shape(IndexSet indices) {
  AccessShape shape;
  shape.indices = indices;
  for (std::size_t x = 0; x < max_indices; ++x) {
    shape.touch[x] = (indices >> x) & 1U ? cost::Touch::adjacent : cost::Touch::absent;
  }
  return shape;
}

/// The bits of `set` at the positions of `of`, moved together.
std::size_t rank(IndexSet set, IndexSet of) {
  std::size_t result = 0;
  for (std::size_t position = 1; of != 0; of &= of - 1, position <<= 1) {
    if (set & of & (~of + 1)) result |= position;
  }
  return result;
}

}  // namespace

Shapes::Shapes(const Contraction& contraction) {
  for (const AccessShape& operand : contraction.operands) originals_.push_back(intern(operand));
}

Slot Shapes::intern(const AccessShape& shape) {
  if (shape == plain_shape(shape.indices)) return plain(shape.indices);
  const auto found = std::find(shapes_.begin(), shapes_.end(), shape);
  const auto number = static_cast<Slot>(found - shapes_.begin());
  if (found == shapes_.end()) {
    const auto any = [](const auto& values) {
      return std::any_of(values.begin(), values.end(), [](auto value) { return value != 0; });
    };
    shapes_.push_back(shape);
    speaks_.push_back(any(shape.before) || any(shape.fiber));
    restricted_.emplace_back(std::size_t{1} << std::popcount(shape.indices), unknown);
  }
  return first_bound_slot + number;
}

Slot Shapes::restricted(Slot slot, IndexSet loops) {
  if (is_plain(slot)) return slot & loops;
  const std::size_t number = slot - first_bound_slot;
  const IndexSet indices = shapes_[number].indices;
  const std::size_t left = rank(loops, indices);
  if (restricted_[number][left] == unknown) {
    // Interning may move the tables.
    const Slot result = intern(cut(shapes_[number], loops));
    restricted_[number][left] = result;
  }
  return restricted_[number][left];
}

}  // namespace schaas::space
