#include "client/cpp/runtime/stored_coordinates.h"

#include "client/cpp/platform/allocate.h"
#include "client/cpp/platform/shared_object.h"

// The coordinates that a level holds, each once, for phases over referenced rows. A flag per coordinate takes
// one pass over the entries and one over the extent. Read in order, the flags give sorted coordinates without
// a sort.
namespace schaas::client {
namespace {

template <class Coordinate>
void mark(const schaas_level& level, std::vector<unsigned char>& is_stored) {
  const auto* coordinates = static_cast<const Coordinate*>(level.crd);
  unsigned char* const flags = is_stored.data();  // a store of bytes may change anything that is not local
  const std::int64_t entries = level.entries;
  for (std::int64_t p = 0; p < entries; ++p) flags[coordinates[p]] = 1;
}

}  // namespace

std::vector<unsigned char> held(const schaas_level& level, std::int64_t extent) {
  std::vector<unsigned char> is_stored(static_cast<std::size_t>(extent), 0);
  if (level.index_bits == 32) {
    mark<std::int32_t>(level, is_stored);
  } else {
    mark<std::int64_t>(level, is_stored);
  }
  return is_stored;
}

support::Result<StoredCoordinates> stored_coordinates(const schaas_tensor& tensor, std::int32_t level) {
  if (level >= tensor.order || tensor.levels[level].format != SCHAAS_LEVEL_COMPRESSED)
    return bad_binary("it wants the coordinates of a level that is not compressed");
  const std::int64_t extent = tensor.extents[tensor.mode_order[level]];
  const auto is_stored = held(tensor.levels[level], extent);
  StoredCoordinates stored;
  for (const unsigned char one : is_stored) stored.count += one;
  SCHAAS_ASSIGN_OR_RETURN(stored.coordinates,
                          allocate(stored.count * 8, 1, "the coordinates an operand meets"));
  auto* out = stored.coordinates.as<std::int64_t>();
  for (std::int64_t coordinate = 0; coordinate < extent; ++coordinate) {
    if (is_stored[static_cast<std::size_t>(coordinate)] != 0) *out++ = coordinate;
  }
  return stored;
}

}  // namespace schaas::client
