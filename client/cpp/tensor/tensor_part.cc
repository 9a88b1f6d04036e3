#include "client/cpp/tensor/tensor_part.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "client/cpp/tensor/packed_tensor_builder.h"

// Neighbouring coordinates of the first level have neighbouring positions in every level below, and in the
// values. So each array of the part is a piece of the tensor's. A compressed level leads from the first and
// the last position of its parents to those of its own.
namespace schaas::client {
namespace {

using format::LevelFormat;

Buffer piece(const Buffer& array, std::int64_t first, std::int64_t past, std::size_t bytes) {
  const auto* data = static_cast<const char*>(array.data());
  return Buffer::borrowed(data + static_cast<std::size_t>(first) * bytes,
                          static_cast<std::size_t>(past - first) * bytes);
}

/// Positions of the parents first, ..., past - 1, counted from 0 on.
template <class Position>
Buffer positions_from_zero(const Buffer& positions, std::int64_t first, std::int64_t past) {
  const auto count = static_cast<std::size_t>(past - first) + 1;
  Buffer out(count * sizeof(Position), Buffer::Contents::any);
  const Position* from = positions.as<Position>() + first;
  std::transform(from, from + count, out.as<Position>(),
                 [begin = *from](Position position) { return static_cast<Position>(position - begin); });
  return out;
}

template <class Position>
std::pair<std::int64_t, std::int64_t> children(const Buffer& positions, std::int64_t first,
                                               std::int64_t past) {
  return {positions.as<Position>()[first], positions.as<Position>()[past]};
}

}  // namespace

bool has_parts(const format::TensorFormat& format) {
  const auto lies_together = [](LevelFormat level) {
    return level == LevelFormat::dense || level == LevelFormat::compressed ||
           level == LevelFormat::compressed_nonunique || format::is_singleton(level);
  };
  return format.order() > 0 && format.levels.front() == LevelFormat::dense &&
         std::all_of(format.levels.begin(), format.levels.end(), lies_together);
}

format::TensorFormat without_first_mode(const format::TensorFormat& format) {
  format::TensorFormat rest = format;
  const int gone = format.mode_order.front();
  rest.levels.erase(rest.levels.begin());
  rest.mode_order.erase(rest.mode_order.begin());
  for (int& mode : rest.mode_order) mode -= mode > gone ? 1 : 0;
  return rest;
}

PackedTensor part_of(const PackedTensor& tensor, std::int64_t begin, std::int64_t count, bool is_fixed) {
  const format::TensorFormat& format = tensor.format();
  const auto mode = format.mode_order.front();
  PackedTensorBuilder part;
  part.format = format;
  part.extents = tensor.extents();
  part.extents[static_cast<std::size_t>(mode)] = count;
  part.value_type = tensor.value_type();
  part.position_bits = tensor.position_bits();
  part.fill_value = tensor.fill_value();
  part.on_device = tensor.on_device();
  part.levels.push_back({{}, {}, count});
  const bool is_narrow = tensor.position_bits() == 32;
  const auto width = static_cast<std::size_t>(tensor.position_bits() / 8);
  std::int64_t first = begin, past = begin + count;  // positions of the level
  for (std::size_t l = 1; l < format.levels.size(); ++l) {
    const PackedTensor::Level& level = tensor.levels()[l];
    Buffer positions;
    if (format.levels[l] == LevelFormat::dense) {
      const std::int64_t extent = tensor.extents()[static_cast<std::size_t>(format.mode_order[l])];
      first *= extent;
      past *= extent;
    } else if (!format::is_singleton(format.levels[l])) {
      positions = is_narrow ? positions_from_zero<std::int32_t>(level.pos, first, past)
                            : positions_from_zero<std::int64_t>(level.pos, first, past);
      std::tie(first, past) = is_narrow ? children<std::int32_t>(level.pos, first, past)
                                        : children<std::int64_t>(level.pos, first, past);
    }
    Buffer coordinates =
        format::is_sparse(format.levels[l]) ? piece(level.crd, first, past, width) : Buffer();
    part.levels.push_back({std::move(positions), std::move(coordinates), past - first});
  }
  part.values = piece(tensor.values(), first, past, bytes_of(tensor.value_type()));
  if (is_fixed) {
    part.format = without_first_mode(format);
    part.extents.erase(part.extents.begin() + mode);
    part.levels.erase(part.levels.begin());
  }
  return std::move(part).finish();
}

}  // namespace schaas::client
