#include "client/cpp/tensor/result_storage.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#include "client/cpp/platform/allocate.h"
#include "client/cpp/tensor/tensor_checks.h"
#include "client/cpp/tensor/typed.h"

// The arrays of a result whose structure kernels decide. resize() allocates everything first and changes the
// result after that: an error leaves the result as it was. Arrays of the right size keep their addresses, so
// that results of repeated runs do not move. Fresh arrays are not cleared but for their positions: kernels
// write coordinates and values.
namespace schaas::client {
namespace {

using support::Result;

bool has_counted_entries(format::LevelFormat level) {
  return format::is_sparse(level) && !format::is_singleton(level);
}

// Returns an array that replaces another of a different size; nothing where the size is right.
Result<std::optional<Buffer>> replacement(const Buffer& now, std::int64_t count, std::int64_t element_bytes,
                                          const std::string& what) {
  std::int64_t bytes = 0;
  const bool counted = !__builtin_mul_overflow(count, element_bytes, &bytes);
  if (counted && bytes == static_cast<std::int64_t>(now.bytes())) return std::optional<Buffer>();
  SCHAAS_ASSIGN_OR_RETURN(Buffer fresh, allocate(count, element_bytes, what, Buffer::Contents::any));
  return std::optional<Buffer>(std::move(fresh));
}

struct Replacements {
  std::optional<Buffer> pos, crd;
};

void set_position(Buffer& pos, int bits, std::int64_t at, std::int64_t value) {
  if (bits == 32) {
    pos.as<std::int32_t>()[at] = static_cast<std::int32_t>(value);
  } else {
    pos.as<std::int64_t>()[at] = value;
  }
}

}  // namespace

int ResultStorage::compressed_levels(const format::TensorFormat& format) {
  return static_cast<int>(std::count_if(format.levels.begin(), format.levels.end(), has_counted_entries));
}

// Copies all levels before the result changes, for the same reason as resize().
Result<void> ResultStorage::take_entries(PackedTensor& result, const PackedTensor& other,
                                         const std::string& name) {
  const auto copied = [&](const Buffer& from) -> Result<Buffer> {
    SCHAAS_ASSIGN_OR_RETURN(Buffer to, allocate(static_cast<std::int64_t>(from.bytes()), 1, "`" + name + "`",
                                                Buffer::Contents::any));
    if (from.bytes() > 0) std::memcpy(to.data(), from.data(), from.bytes());
    return to;
  };
  std::vector<PackedTensor::Level> levels;
  for (const auto& level : other.levels()) {
    SCHAAS_ASSIGN_OR_RETURN(Buffer pos, copied(level.pos));
    SCHAAS_ASSIGN_OR_RETURN(Buffer crd, copied(level.crd));
    levels.push_back({std::move(pos), std::move(crd), level.entries});
  }
  SCHAAS_ASSIGN_OR_RETURN(result.values_, allocate(static_cast<std::int64_t>(other.values().bytes()), 1,
                                                   "`" + name + "`", Buffer::Contents::any));
  result.levels_ = std::move(levels);
  result.refresh_views();
  return {};
}

void ResultStorage::give_entries(PackedTensor& result, PackedTensor other) {
  result.levels_ = std::move(other.levels_);
  result.values_ = std::move(other.values_);
  result.refresh_views();
}

Result<void> ResultStorage::resize(PackedTensor& result, const std::vector<std::int64_t>& counts,
                                   const std::string& name) {
  const int order = result.order(), width = result.position_bits_ / 8;
  const std::string what = "`" + name + "`";
  std::vector<std::int64_t> entries;
  std::vector<Replacements> fresh(static_cast<std::size_t>(order));
  std::int64_t parents = 1;
  auto count = counts.begin();
  for (int l = 0; l < order; ++l) {
    const PackedTensor::Level& level = result.levels_[l];
    const std::int64_t extent = result.extents_[result.format_.mode_order[l]];
    const format::LevelFormat kind = result.format_.levels[l];
    if (format::is_singleton(kind)) {
      SCHAAS_RETURN_IF_ERROR(check_positions_fit(result.position_bits_, extent, parents, l, name));
      SCHAAS_ASSIGN_OR_RETURN(fresh[l].crd, replacement(level.crd, parents, width, what));
      entries.push_back(parents);
    } else if (has_counted_entries(kind)) {
      if (parents == std::numeric_limits<std::int64_t>::max()) return too_large(what, "2^63 positions");
      SCHAAS_RETURN_IF_ERROR(check_positions_fit(result.position_bits_, extent, *count, l, name));
      SCHAAS_ASSIGN_OR_RETURN(fresh[l].pos, replacement(level.pos, parents + 1, width, what));
      SCHAAS_ASSIGN_OR_RETURN(fresh[l].crd, replacement(level.crd, *count, width, what));
      // `counts` has a number for each level with positions, in the order of levels.
      entries.push_back(*count++);
    } else {
      entries.push_back(0);
      if (__builtin_mul_overflow(parents, extent, &entries.back()))
        return too_large(what, "more than 2^63 elements");
    }
    parents = entries.back();
  }
  const auto value_bytes = static_cast<std::int64_t>(bytes_of(result.value_type_));
  SCHAAS_ASSIGN_OR_RETURN(auto values, replacement(result.values_, parents, value_bytes, what));
  parents = 1;
  for (int l = 0; l < order; ++l) {
    PackedTensor::Level& level = result.levels_[l];
    if (fresh[l].pos) level.pos = std::move(*fresh[l].pos);
    if (fresh[l].crd) level.crd = std::move(*fresh[l].crd);
    level.entries = entries[l];
    // All positions but the last one become 0: a level without entries is complete then.
    if (level.pos.data() != nullptr) {
      std::memset(level.pos.data(), 0, level.pos.bytes());
      set_position(level.pos, result.position_bits_, parents, level.entries);
    }
    parents = level.entries;
  }
  if (values) result.values_ = std::move(*values);
  result.refresh_views();
  return {};
}

// Hands coordinates and values over for appending (runtime/appending.cc). Borrowed arrays stay with their
// owner: the kernel gets empty ones and grows them.
Result<void> ResultStorage::take_rows(PackedTensor& result, Buffer& coordinates, Buffer& values,
                                      const std::string& name) {
  const auto first = static_cast<std::size_t>(result.format_.mode_order.front());
  const std::int64_t rows = result.extents_[first];
  PackedTensor::Level& level = result.levels_[1];
  SCHAAS_ASSIGN_OR_RETURN(auto pos,
                          replacement(level.pos, rows + 1, result.position_bits_ / 8, "`" + name + "`"));
  if (pos) level.pos = std::move(*pos);
  set_position(level.pos, result.position_bits_, 0, 0);
  result.levels_[0].entries = rows;
  const auto hand_over = [](Buffer& from, Buffer& to) {
    to = from.is_own() ? std::move(from) : Buffer();
    from = Buffer();
  };
  hand_over(level.crd, coordinates);
  hand_over(result.values_, values);
  result.refresh_views();
  return {};
}

// Levels below the second one are dense: their positions are the product with the extents.
void ResultStorage::give_rows(PackedTensor& result, Buffer coordinates, Buffer values, std::int64_t entries) {
  result.levels_[1].crd = std::move(coordinates);
  result.values_ = std::move(values);
  std::int64_t positions = entries;
  for (std::size_t l = 1; l < result.levels_.size(); ++l) {
    if (l > 1) positions *= result.extents_[static_cast<std::size_t>(result.format_.mode_order[l])];
    result.levels_[l].entries = positions;
  }
  result.refresh_views();
}

Result<void> ResultStorage::clear(PackedTensor& result, const std::string& name) {
  const std::vector<std::int64_t> none(compressed_levels(result.format_), 0);
  SCHAAS_RETURN_IF_ERROR(resize(result, none, name));
  fill_values(result.values_.data(), result.value_type_, 0, result.stored(), result.fill_value_);
  return {};
}

void fill_values(void* values, ValueType type, std::int64_t begin, std::int64_t end, double value) {
  if (begin >= end) return;
  const auto size = static_cast<std::int64_t>(bytes_of(type));
  // The bits decide, not the value: -0.0 equals 0 but must be stored as such.
  if (std::bit_cast<std::uint64_t>(value) == 0) {
    std::memset(static_cast<char*>(values) + begin * size, 0, static_cast<std::size_t>((end - begin) * size));
  } else {
    for_type(type, [&](auto zero) {
      using Value = decltype(zero);
      std::fill(static_cast<Value*>(values) + begin, static_cast<Value*>(values) + end,
                as_value<Value>(value));
    });
  }
}

}  // namespace schaas::client
