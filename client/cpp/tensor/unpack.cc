#include <algorithm>
#include <limits>
#include <map>

#include "client/cpp/platform/allocate.h"
#include "client/cpp/tensor/result_storage.h"
#include "client/cpp/tensor/tensor_checks.h"
#include "schaas/tensor.h"

// From packed tensors to entries and dense arrays, by a depth-first visit_entries over the levels (level
// functions: S. Chou, F. Kjolstad, S. Amarasinghe, Format abstraction for sparse tensor algebra compilers,
// OOPSLA 2018). Entries come in storage order; those of hash tables are sorted per table, so that no order
// depends on the hash. The visit_entries is recursive, as deep as the tensor's order.
namespace schaas::client {
namespace {

// Depth-first over the levels, calling `visit` with the coordinates by mode and the position of each stored
// value.
template <class Visit>
class Walk {
 public:
  Walk(const PackedTensor& tensor, Visit visit)
      : tensor_(tensor), visit_(std::move(visit)), coordinates_(tensor.order(), 0) {
    for (int l = 0; l < tensor.order(); ++l) {
      const format::LevelFormat kind = tensor.format().levels[l];
      const int mode = tensor.format().mode_order[l];
      levels_.push_back({mode, tensor.extents()[mode], tensor.levels()[l], format::computes_positions(kind),
                         format::is_sparse(kind), format::is_singleton(kind), format::coordinates(kind)});
    }
  }

  void run() { level(0, 0); }

 private:
  /// Facts of a level that each visited entry needs, looked up once.
  struct Level {
    int mode;
    std::int64_t extent;
    const PackedTensor::Level& arrays;
    bool computes_positions, is_sparse, is_singleton;
    format::Coordinates coordinates;
  };

  std::int64_t read(const Buffer& buffer, std::int64_t at) const {
    return tensor_.position_bits() == 32 ? buffer.as<std::int32_t>()[at] : buffer.as<std::int64_t>()[at];
  }

  void level(int l, std::int64_t parent) {
    if (l == tensor_.order()) {
      visit_(coordinates_, parent);
      return;
    }
    const Level& here = levels_[l];
    std::int64_t& coordinate = coordinates_[here.mode];
    if (here.computes_positions) {
      const std::uint8_t* const held =
          here.is_sparse ? here.arrays.crd.template as<std::uint8_t>() + parent * here.extent : nullptr;
      for (std::int64_t c = 0; c < here.extent; ++c) {
        if (held != nullptr && held[c] == 0) continue;
        coordinate = c;
        level(l + 1, parent * here.extent + c);
      }
      return;
    }
    // A singleton level has exactly one entry per parent, at the parent's position.
    if (here.is_singleton) {
      coordinate = read(here.arrays.crd, parent);
      level(l + 1, parent);
      return;
    }
    const std::int64_t begin = read(here.arrays.pos, parent), end = read(here.arrays.pos, parent + 1);
    if (here.coordinates == format::Coordinates::slots) return table(l, begin, end);
    const bool band = here.coordinates == format::Coordinates::first;
    // A band stores its first coordinate alone, one per parent; its positions are consecutive.
    for (std::int64_t p = begin; p < end; ++p) {
      coordinate = band ? read(here.arrays.crd, parent) + p - begin : read(here.arrays.crd, p);
      level(l + 1, p);
    }
  }

  /// By ascending coordinates.
  void table(int l, std::int64_t begin, std::int64_t end) {
    std::vector<std::pair<std::int64_t, std::int64_t>> held;
    // Empty slots hold -1.
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t c = read(levels_[l].arrays.crd, p);
      if (c >= 0) held.emplace_back(c, p);
    }
    std::sort(held.begin(), held.end());
    for (const auto& [c, p] : held) {
      coordinates_[levels_[l].mode] = c;
      level(l + 1, p);
    }
  }

  const PackedTensor& tensor_;
  Visit visit_;
  std::vector<std::int64_t> coordinates_;  ///< by mode
  std::vector<Level> levels_;
};

// Without stored values there is nothing to visit, and arrays of inner levels may be null.
template <class Visit>
void visit_entries(const PackedTensor& tensor, Visit visit) {
  if (tensor.stored() > 0) Walk<Visit>(tensor, std::move(visit)).run();
}

std::int64_t row_major(const std::vector<std::int64_t>& coordinates,
                       const std::vector<std::int64_t>& extents) {
  std::int64_t linear = 0;
  for (std::size_t m = 0; m < extents.size(); ++m) linear = linear * extents[m] + coordinates[m];
  return linear;
}

/// The stored entries; of those with the fill value only some, unless they are kept.
CooTensor entries_between(const PackedTensor& tensor, bool keep_fill) {
  CooTensor result;
  result.value_type = arithmetic_type(tensor.value_type());
  result.extents = tensor.extents();
  result.coordinates.resize(tensor.order());
  const bool integers = is_integer(tensor.value_type());
  const std::int64_t integer_fill =
      integers ? operators::integer_of(tensor.fill_value(), tensor.value_type()) : 0;
  visit_entries(tensor, [&](const std::vector<std::int64_t>& coordinates, std::int64_t position) {
    // The fill value is rounded as values are, so the comparison is exact.
    const bool fill = integers ? tensor.integer(position) == integer_fill
                               : tensor.complex_value(position) == tensor.fill_value();
    if (fill && !keep_fill) return;
    for (std::size_t m = 0; m < coordinates.size(); ++m) result.coordinates[m].push_back(coordinates[m]);
    if (integers) {
      result.integers.push_back(tensor.integer(position));
    } else {
      result.add_value(tensor.complex_value(position));
    }
  });
  return result;
}

}  // namespace

CooTensor unpack(const PackedTensor& tensor) {
  // In formats that list entries a stored fill value is an entry as others are; dense slots with it are not.
  return entries_between(tensor, tensor.order() == 0 || format::holds_entries(tensor.format().levels.back()));
}

CooTensor all_stored(const PackedTensor& tensor) { return entries_between(tensor, true); }

support::Result<DenseTensor> to_dense(const PackedTensor& tensor) {
  SCHAAS_ASSIGN_OR_RETURN(DenseTensor result, zeros(tensor.extents(), arithmetic_type(tensor.value_type())));
  if (tensor.fill_value() != 0)
    fill_values(result.values.data(), result.value_type, 0, result.size(), tensor.fill_value());
  visit_entries(tensor, [&](const std::vector<std::int64_t>& coordinates, std::int64_t position) {
    const std::int64_t linear = row_major(coordinates, result.extents);
    if (is_integer(result.value_type)) {
      result.set_integer(linear, tensor.integer(position));
    } else {
      result.set(linear, tensor.complex_value(position));
    }
  });
  return result;
}

support::Result<DenseTensor> to_dense(const CooTensor& tensor, const std::string& tensor_name,
                                      double fill_value) {
  // 64-bit positions and numbers of 64 bits: no conversion can overflow or round.
  const ValueType type = is_integer(tensor.value_type)   ? tensor.value_type
                         : is_complex(tensor.value_type) ? ValueType::c128
                                                         : ValueType::f64;
  SCHAAS_ASSIGN_OR_RETURN(PackedTensor packed,
                          pack(tensor, format::dense(tensor.order()), {tensor_name, type, 64, fill_value}));
  DenseTensor result;
  result.value_type = type;
  result.extents = tensor.extents;
  result.values = std::move(packed.values());
  return result;
}

CooTensor to_coo(const DenseTensor& tensor, double fill_value) {
  // Values are compared as the tensor's type holds them: 0.1 in f32 is another number than 0.1 in f64.
  const double fill = rounded(fill_value, tensor.value_type);
  const bool integers = is_integer(tensor.value_type);
  const std::int64_t integer_fill = integers ? operators::integer_of(fill_value, tensor.value_type) : 0;
  CooTensor result;
  result.value_type = tensor.value_type;
  result.extents = tensor.extents;
  result.coordinates.resize(tensor.order());
  const std::int64_t size = tensor.size();
  std::vector<std::int64_t> counter(tensor.order(), 0);
  for (std::int64_t linear = 0; linear < size; ++linear) {
    const bool is_fill =
        integers ? tensor.integer_at(linear) == integer_fill : tensor.complex_at(linear) == fill;
    if (!is_fill || tensor.order() == 0) {
      for (int m = 0; m < tensor.order(); ++m) result.coordinates[m].push_back(counter[m]);
      if (integers) {
        result.integers.push_back(tensor.integer_at(linear));
      } else {
        result.add_value(tensor.complex_at(linear));
      }
    }
    // Advances the coordinates like an odometer; extents are positive where the loop runs.
    for (int m = tensor.order() - 1; m >= 0 && ++counter[m] == tensor.extents[m]; --m) counter[m] = 0;
  }
  return result;
}

namespace {

/// Positions of a banded second level; no more is known further below.
std::optional<std::int64_t> band_slots(const CooTensor& tensor, const format::TensorFormat& format) {
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> bands;
  const auto& outer = tensor.coordinates[format.mode_order[0]];
  const auto& inner = tensor.coordinates[format.mode_order[1]];
  for (std::size_t e = 0; e < outer.size(); ++e) {
    auto& band = bands.try_emplace(outer[e], inner[e], inner[e]).first->second;
    band = {std::min(band.first, inner[e]), std::max(band.second, inner[e])};
  }
  std::int64_t slots = 0;
  for (const auto& [row, band] : bands) {
    if (__builtin_add_overflow(slots, band.second - band.first + 1, &slots)) return std::nullopt;
  }
  return slots;
}

}  // namespace

// Returns the narrowest width in which all positions and coordinates fit. Nothing is packed for that: each
// level's positions are bounded from the extents and the number of entries.
int position_bits_for(const CooTensor& tensor, const format::TensorFormat& format) {
  constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
  std::int64_t positions = 1;  // an upper bound on the positions of each level
  const auto entries = static_cast<std::int64_t>(tensor.entries());
  for (int l = 0; l < format.order(); ++l) {
    const std::int64_t extent = tensor.extents[format.mode_order[l]];
    if (extent > largest) return 64;
    if (format.levels[l] == format::LevelFormat::banded && l == 1) {
      const auto slots = band_slots(tensor, format);
      if (!slots) return 64;
      positions = *slots;
    } else if (format::coordinates(format.levels[l]) == format::Coordinates::slots) {
      constexpr int most = format::max_slots_per_entry;
      positions = entries > largest / most ? largest + 1 : most * entries;
    } else if (format::is_sparse(format.levels[l]) && !format::is_located(format.levels[l])) {
      positions = entries;
    } else if (__builtin_mul_overflow(positions, extent, &positions)) {
      return 64;
    }
    if (positions > largest) return 64;
  }
  return 32;
}

}  // namespace schaas::client
