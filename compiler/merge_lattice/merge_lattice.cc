#include "compiler/merge_lattice/merge_lattice.h"

namespace schaas::merge_lattice {

MergePoint intersect(const std::vector<LevelAccess>& factors) {
  MergePoint point;
  for (const auto& factor : factors) {
    (format::is_sparse(factor.format) ? point.iterated : point.located).push_back(factor);
  }
  return point;
}

}  // namespace schaas::merge_lattice
