#include "compiler/format/level_format.h"

#include <algorithm>
#include <initializer_list>

#include "compiler/support/result.h"

// Capabilities of level formats as a table (Chou, Kjolstad, Amarasinghe, OOPSLA 2018, section 3). Later
// stages ask for capabilities instead of names.
namespace schaas::format {

namespace {

using Capabilities = std::initializer_list<bool LevelProperties::*>;

// Makes a row with these capabilities and no others.
LevelProperties row(LevelFormat format, std::string_view name, Capabilities capabilities) {
  LevelProperties out{format, name, false, false, false, false, false, false, false};
  for (const auto capability : capabilities) out.*capability = true;
  return out;
}

}  // namespace

const std::vector<LevelProperties>& all_levels() {
  using enum LevelFormat;
  using L = LevelProperties;
  static const std::vector<LevelProperties> levels = {
      row(dense, "dense", {&L::full, &L::unique, &L::compact, &L::locate, &L::insert}),
      row(compressed, "compressed", {&L::unique, &L::compact, &L::append}),
      row(compressed_nonunique, "compressed(nonunique)", {&L::compact, &L::append}),
      row(singleton, "singleton", {&L::unique, &L::branchless, &L::compact, &L::append}),
      row(singleton_nonunique, "singleton(nonunique)", {&L::branchless, &L::compact, &L::append}),
      row(compressed_unordered, "compressed(unordered)", {&L::unique, &L::compact, &L::append}),
      row(bitmap, "bitmap", {&L::unique, &L::locate}),
      row(banded, "banded", {&L::unique, &L::compact, &L::locate}),
      row(hashed, "hashed", {&L::unique, &L::locate})};
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
