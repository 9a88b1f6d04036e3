#include "compiler/format/level_format.h"

#include <algorithm>

#include "compiler/support/result.h"

namespace schaas::format {

const std::vector<LevelProperties>& all_levels() {
  using enum LevelFormat;
  static const std::vector<LevelProperties> levels = {
      // format, name, full, unique, branchless, compact, locate, append, insert
      {dense, "dense", true, true, false, true, true, false, true},
      {compressed, "compressed", false, true, false, true, false, true, false},
      {compressed_nonunique, "compressed(nonunique)", false, false, false, true, false, true, false},
      {singleton, "singleton", false, true, true, true, false, true, false},
      {singleton_nonunique, "singleton(nonunique)", false, false, true, true, false, true, false},
      {compressed_unordered, "compressed(unordered)", false, true, false, true, false, true, false},
      {bitmap, "bitmap", false, true, false, false, true, false, false},
      {banded, "banded", false, true, false, true, true, false, false},
      {hashed, "hashed", false, true, false, false, true, false, false}};
  return levels;
}

const LevelProperties& properties(LevelFormat level) {
  const auto& all = all_levels();
  const auto at = std::find_if(all.begin(), all.end(),
                               [level](const LevelProperties& row) { return row.format == level; });
  SCHAAS_CHECK(at != all.end(), "a level format without properties");
  return *at;
}

}  // namespace schaas::format
