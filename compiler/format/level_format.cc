#include "compiler/format/level_format.h"

#include "compiler/support/result.h"

// Properties of level formats as a table (Chou, Kjolstad, Amarasinghe, OOPSLA 2018, section 3). Other stages
// ask for properties: code that a new level format must join names none.
namespace schaas::format {

const std::vector<LevelProperties>& all_levels() {
  using enum LevelFormat;
  static const std::vector<LevelProperties> levels = {
      {.format = dense, .name = "dense", .coordinates = Coordinates::none, .unique = true},
      {.format = compressed, .name = "compressed", .coordinates = Coordinates::list, .unique = true},
      {.format = compressed_nonunique, .name = "compressed(nonunique)", .coordinates = Coordinates::list},
      {.format = singleton,
       .name = "singleton",
       .coordinates = Coordinates::list,
       .unique = true,
       .branchless = true},
      {.format = singleton_nonunique,
       .name = "singleton(nonunique)",
       .coordinates = Coordinates::list,
       .branchless = true},
      {.format = bitmap, .name = "bitmap", .coordinates = Coordinates::presence, .unique = true},
      {.format = banded, .name = "banded", .coordinates = Coordinates::first, .unique = true},
      {.format = hashed, .name = "hashed", .coordinates = Coordinates::slots, .unique = true},
      {.format = compressed_unordered,
       .name = "compressed(unordered)",
       .coordinates = Coordinates::list,
       .unique = true}};
  return levels;
}

const LevelProperties& properties(LevelFormat level) {
  const auto number = static_cast<std::size_t>(level);
  SCHAAS_CHECK(number < all_levels().size() && all_levels()[number].format == level,
               "a level format without properties");
  return all_levels()[number];
}

std::optional<LevelFormat> level_of(std::int32_t number) {
  if (number < 0 || static_cast<std::size_t>(number) >= all_levels().size()) return std::nullopt;
  return static_cast<LevelFormat>(number);
}

}  // namespace schaas::format
