#include "struct_check.h"

#include <cstdint>
#include <limits>

#include "tensor_checks.h"

namespace schaas::client {
namespace {

constexpr std::int64_t max_elements = std::numeric_limits<std::int64_t>::max() / 8;

support::Diagnostic broken(const std::string& name, const std::string& what) {
  return support::invalid("tensor-structure", "`" + name + "` " + what);
}

bool is_aligned(const void* array, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(array) % bytes == 0;
}

support::Result<void> check_modes(const schaas_tensor& tensor, const std::string& name) {
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

bool is_singleton(const schaas_level& level) {
  return level.format == SCHAAS_LEVEL_SINGLETON || level.format == SCHAAS_LEVEL_SINGLETON_NONUNIQUE;
}

support::Result<void> check_level(const schaas_tensor& tensor, std::int32_t l, std::int64_t parents,
                                  const std::string& name) {
  const schaas_level& level = tensor.levels[l];
  const std::string where = "level " + std::to_string(l + 1);
  if (level.format < 0 || level.format > SCHAAS_LEVEL_COMPRESSED_UNORDERED)
    return broken(name, where + ": unknown level format " + std::to_string(level.format));
  const bool dense = level.format == SCHAAS_LEVEL_DENSE, bitmap = level.format == SCHAAS_LEVEL_BITMAP;
  if (bitmap ? level.index_bits != 8 : !dense && level.index_bits != 32 && level.index_bits != 64)
    return broken(name, where + ": positions of " + std::to_string(level.index_bits) + " bits");
  std::int64_t all = 0;
  const bool counted = !__builtin_mul_overflow(parents, tensor.extents[tensor.mode_order[l]], &all);
  const bool agrees = dense || bitmap ? counted && level.entries == all
                                      : !is_singleton(level) || level.entries == parents;
  if (level.entries < 0 || level.entries > max_elements || !agrees)
    return broken(name, "has " + std::to_string(level.entries) + " entries in " + where +
                            ", which does not agree with its extents and the level above");
  if (dense) return {};
  const std::int64_t coordinates = level.format == SCHAAS_LEVEL_BANDED ? parents : level.entries;
  const bool positions = !bitmap && !is_singleton(level);
  if ((coordinates > 0 && level.crd == nullptr) || (positions && level.pos == nullptr))
    return broken(name, "lacks an array of " + where);
  const auto width = static_cast<std::size_t>(level.index_bits / 8);
  if ((coordinates == 0 || is_aligned(level.crd, width)) && (!positions || is_aligned(level.pos, width))) return {};
  return broken(name, where + ": an array at an address that is no multiple of " + std::to_string(width));
}

}  // namespace

support::Result<void> check_struct(const schaas_tensor& tensor, const std::string& name) {
  if (tensor.order < 0 || tensor.order > max_order)
    return broken(name, "has order " + std::to_string(tensor.order) + "; expected 0 to " +
                            std::to_string(max_order));
  if (tensor.order > 0 &&
      (tensor.extents == nullptr || tensor.levels == nullptr || tensor.mode_order == nullptr))
    return broken(name, "has no levels");
  if (tensor.value_type != SCHAAS_F64 && tensor.value_type != SCHAAS_F32)
    return broken(name, "has the unknown value type " + std::to_string(tensor.value_type));
  SCHAAS_RETURN_IF_ERROR(check_modes(tensor, name));
  const std::size_t bytes = tensor.value_type == SCHAAS_F64 ? 8 : 4;
  const bool empty = tensor.order > 0 && tensor.levels[tensor.order - 1].entries == 0;
  if (!empty && !is_aligned(tensor.values, bytes))
    return broken(name, "has values at an address that is no multiple of " + std::to_string(bytes));
  return {};
}

support::Result<void> check_levels(const schaas_tensor& tensor, const std::string& name) {
  std::int64_t parents = 1;
  for (std::int32_t l = 0; l < tensor.order; ++l) {
    SCHAAS_RETURN_IF_ERROR(check_level(tensor, l, parents, name));
    parents = tensor.levels[l].entries;
  }
  if (parents > 0 && tensor.values == nullptr) return broken(name, "has no values");
  return {};
}

}  // namespace schaas::client
