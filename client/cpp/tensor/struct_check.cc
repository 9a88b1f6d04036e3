#include "client/cpp/tensor/struct_check.h"

#include <cstdint>
#include <limits>

#include "client/cpp/tensor/tensor_checks.h"

// Checks of the struct of a tensor that comes from elsewhere, in constant time: no array is read. Each check
// relies on those before it. Modes are a permutation before extents are looked up by level. Counts are
// bounded before they are multiplied. A level is checked with the entries of the level above, which were
// checked then.
namespace schaas::client {
namespace {

// No array of eight-byte elements has more bytes than an int64_t counts.
constexpr std::int64_t max_countable_elements = std::numeric_limits<std::int64_t>::max() / 8;

bool is_aligned(const void* array, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(array) % bytes == 0;
}

support::Result<void> check_modes(const schaas_tensor& tensor, const std::string& name) {
  // A bit per mode: max_order is the width of the set.
  std::uint64_t seen = 0;
  for (std::int32_t l = 0; l < tensor.order; ++l) {
    const std::int32_t mode = tensor.mode_order[l];
    const bool inside = mode >= 0 && mode < tensor.order;
    if (!inside || (seen >> mode & 1) != 0) return broken(name, "mode order is not a permutation");
    seen |= std::uint64_t{1} << mode;
    if (tensor.extents[mode] < 0)
      return broken(name, "has the negative extent " + std::to_string(tensor.extents[mode]) + " in mode " +
                              std::to_string(mode + 1));
  }
  return {};
}

// Levels with a slot for each coordinate have parents times extent entries, whatever is stored in them.
support::Result<void> check_slots(const schaas_tensor& tensor, std::int32_t l, std::int64_t parents,
                                  const std::string& name) {
  const std::int64_t extent = tensor.extents[tensor.mode_order[l]], entries = tensor.levels[l].entries;
  std::int64_t slots = 0;
  if (!__builtin_mul_overflow(parents, extent, &slots) && slots == entries) return {};
  return broken_level(name, l,
                      std::to_string(entries) + " entries, but " + std::to_string(parents) +
                          " parents of extent " + std::to_string(extent));
}

/// The level above is nonunique where a level is a singleton, and there alone.
support::Result<void> check_pair(const schaas_tensor& tensor, std::int32_t l, const std::string& name) {
  // A nonunique level needs a singleton below it, and a singleton a nonunique level above it.
  const bool is_below_nonunique = l > 0 && !format::is_unique(level_format(tensor.levels[l - 1]));
  const bool is_last = l + 1 == tensor.order;
  const format::LevelFormat kind = level_format(tensor.levels[l]);
  if (is_below_nonunique == format::is_singleton(kind) && !(is_last && !format::is_unique(kind))) return {};
  return broken_level(name, l, "singleton levels and nonunique levels above them do not pair");
}

support::Result<void> check_width(const schaas_level& level, std::int32_t l, const std::string& name) {
  const bool is_bitmap = format::coordinates(level_format(level)) == format::Coordinates::presence;
  if (is_bitmap ? level.index_bits == 8 : level.index_bits == 32 || level.index_bits == 64) return {};
  return broken_level(
      name, l, (is_bitmap ? "bitmap of " : "positions of ") + std::to_string(level.index_bits) + " bits");
}

// A singleton has one coordinate per entry of the level above. check_pair() rules out a singleton on top.
support::Result<void> check_singleton(const schaas_level& level, const schaas_level& above, std::int32_t l,
                                      const std::string& name) {
  if (level.entries == above.entries && level.index_bits == above.index_bits) return {};
  return broken_level(name, l,
                      std::to_string(level.entries) + " coordinates of " + std::to_string(level.index_bits) +
                          " bits, but the level above has " + std::to_string(above.entries) + " of " +
                          std::to_string(above.index_bits) + " bits");
}

// Empty arrays may be null and misaligned, but positions are never empty: they begin with a 0.
support::Result<void> check_arrays(const schaas_level& level, std::int32_t l, std::int64_t parents,
                                   const std::string& name) {
  const format::LevelFormat kind = level_format(level);
  const bool has_coordinates =
      (format::coordinates(kind) == format::Coordinates::first ? parents : level.entries) > 0;
  const bool has_positions = !format::computes_positions(kind) && !format::is_singleton(kind);
  if ((has_coordinates && level.crd == nullptr) || (has_positions && level.pos == nullptr))
    return broken_level(name, l, "arrays are missing");
  const auto width = static_cast<std::size_t>(level.index_bits / 8);
  if ((!has_coordinates || is_aligned(level.crd, width)) && (!has_positions || is_aligned(level.pos, width)))
    return {};
  return broken_level(name, l, "an array at an address that is no multiple of " + std::to_string(width));
}

support::Result<void> check_level(const schaas_tensor& tensor, std::int32_t l, std::int64_t parents,
                                  const std::string& name) {
  const schaas_level& level = tensor.levels[l];
  if (!format::level_of(level.format))
    return broken_level(name, l, "unknown level format " + std::to_string(level.format));
  if (level.entries < 0 || level.entries > max_countable_elements)
    return broken_level(name, l, std::to_string(level.entries) + " entries");
  SCHAAS_RETURN_IF_ERROR(check_pair(tensor, l, name));
  const format::LevelFormat kind = level_format(level);
  if (format::computes_positions(kind)) SCHAAS_RETURN_IF_ERROR(check_slots(tensor, l, parents, name));
  if (!format::is_sparse(kind)) return {};
  SCHAAS_RETURN_IF_ERROR(check_width(level, l, name));
  if (format::is_singleton(kind))
    SCHAAS_RETURN_IF_ERROR(check_singleton(level, tensor.levels[l - 1], l, name));
  return check_arrays(level, l, parents, name);
}

support::Result<void> check_values(const schaas_tensor& tensor, std::int64_t entries,
                                   const std::string& name) {
  if (tensor.value_type < 0 || tensor.value_type >= static_cast<int>(operators::value_types().size()))
    return broken(name, "has the unknown value type " + std::to_string(tensor.value_type));
  if (entries == 0) return {};
  if (tensor.values == nullptr) return broken(name, "has no values");
  const std::size_t bytes = bytes_of(static_cast<ValueType>(tensor.value_type));
  if (is_aligned(tensor.values, bytes)) return {};
  return broken(name, "has values at an address that is no multiple of " + std::to_string(bytes));
}

}  // namespace

support::Diagnostic broken(const std::string& name, const std::string& what) {
  return support::invalid("tensor-structure", "`" + name + "` " + what);
}

support::Diagnostic broken_level(const std::string& name, std::int32_t level, const std::string& what) {
  return broken(name, "level " + std::to_string(level + 1) + ": " + what);
}

support::Result<void> check_struct(const schaas_tensor& tensor, const std::string& name) {
  // The limit keeps the set of modes in 64 bits.
  if (tensor.order < 0 || tensor.order > max_order)
    return broken(
        name, "has order " + std::to_string(tensor.order) + "; expected 0 to " + std::to_string(max_order));
  if (tensor.order > 0 &&
      (tensor.extents == nullptr || tensor.levels == nullptr || tensor.mode_order == nullptr))
    return broken(name, "has no levels");
  SCHAAS_RETURN_IF_ERROR(check_modes(tensor, name));
  std::int64_t parents = 1;
  for (std::int32_t l = 0; l < tensor.order; ++l) {
    SCHAAS_RETURN_IF_ERROR(check_level(tensor, l, parents, name));
    parents = tensor.levels[l].entries;
  }
  return check_values(tensor, parents, name);
}

}  // namespace schaas::client
