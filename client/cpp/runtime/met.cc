#include "client/cpp/runtime/met.h"

#include "client/cpp/platform/allocate.h"
#include "client/cpp/platform/shared_object.h"

namespace schaas::client {
namespace {

template <class Coordinate>
void mark(const schaas_level& level, std::vector<unsigned char>& is_met) {
  const auto* coordinates = static_cast<const Coordinate*>(level.crd);
  unsigned char* const flags = is_met.data();  // a store of bytes may change anything that is not local
  const std::int64_t entries = level.entries;
  for (std::int64_t p = 0; p < entries; ++p) flags[coordinates[p]] = 1;
}

}  // namespace

std::vector<unsigned char> held(const schaas_level& level, std::int64_t extent) {
  std::vector<unsigned char> is_met(static_cast<std::size_t>(extent), 0);
  if (level.index_bits == 32) {
    mark<std::int32_t>(level, is_met);
  } else {
    mark<std::int64_t>(level, is_met);
  }
  return is_met;
}

support::Result<Met> met_coordinates(const schaas_tensor& tensor, std::int32_t level) {
  if (level >= tensor.order || tensor.levels[level].format != SCHAAS_LEVEL_COMPRESSED)
    return bad_binary("it wants the coordinates of a level that is not compressed");
  const std::int64_t extent = tensor.extents[tensor.mode_order[level]];
  const auto is_met = held(tensor.levels[level], extent);
  Met met;
  for (const unsigned char one : is_met) met.count += one;
  SCHAAS_ASSIGN_OR_RETURN(met.coordinates, allocate(met.count * 8, 1, "the coordinates an operand meets"));
  auto* out = met.coordinates.as<std::int64_t>();
  for (std::int64_t coordinate = 0; coordinate < extent; ++coordinate) {
    if (is_met[static_cast<std::size_t>(coordinate)] != 0) *out++ = coordinate;
  }
  return met;
}

}  // namespace schaas::client
