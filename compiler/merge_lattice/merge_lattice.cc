#include "compiler/merge_lattice/merge_lattice.h"

namespace schaas::merge_lattice {

MergePoint intersect(const std::vector<LevelAccess>& factors) {
  MergePoint point;
  for (const auto& factor : factors) {
    switch (factor.format) {
      case format::LevelFormat::compressed:
        point.iterated.push_back(factor);
        break;
      case format::LevelFormat::dense:
        point.located.push_back(factor);
        break;
    }
  }
  return point;
}

}  // namespace schaas::merge_lattice
