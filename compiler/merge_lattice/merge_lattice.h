#pragma once
#include <vector>

#include "compiler/format/tensor_format.h"

/// Coiteration of the levels that one loop index binds (Kjolstad et al., OOPSLA 2017, section 5).
///
/// The lattice of an expression says which levels must be walked together until which of them is exhausted. A
/// product is zero as soon as one factor is, so its lattice is a single merge point: the intersection of
/// everything that skips zeros. A dense level holds every coordinate and is the neutral element of the
/// intersection: it is located, never walked, unless nothing else is there to walk.
namespace schaas::merge_lattice {

/// Level `level` of operand `operand` (the caller's number) is bound by the index.
struct LevelAccess {
  int operand = 0;
  int level = 0;
  format::LevelFormat format = format::LevelFormat::dense;
  bool operator==(const LevelAccess&) const = default;
};

/// Coordinates common to all `iterated` levels; each `located` level is reached by arithmetic. With no
/// `iterated` level the loop runs over the whole extent of the index.
struct MergePoint {
  std::vector<LevelAccess> iterated;
  std::vector<LevelAccess> located;
  bool operator==(const MergePoint&) const = default;
};

/// The only merge point of a product's lattice; keeps the order of `factors`.
MergePoint intersect(const std::vector<LevelAccess>& factors);

}  // namespace schaas::merge_lattice
