#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "client/cpp/platform/allocate.h"
#include "client/cpp/tensor/packed_tensor_builder.h"
#include "client/cpp/tensor/result_storage.h"
#include "client/cpp/tensor/sort_entries.h"
#include "client/cpp/tensor/tensor_checks.h"
#include "client/cpp/tensor/typed.h"
#include "schaas/tensor.h"

// Packing works level by level: `position[e]` is the position of entry e in the level above, ascending in e.
// A dense level multiplies by its extent and adds the coordinate, and so does a bitmap, which notes what is
// there. A compressed level gives each new (parent, coordinate) the next position, a nonunique one each new
// (parent, coordinates down to the next unique level). A singleton level keeps the positions.
// Entries are sorted once, in storage order, so entries of one parent are neighbours on every level. Hash
// tables alone break that order: they sort the entries by position for the levels below. Sizes that could
// overflow are checked before memory is allocated.
namespace schaas::client {
namespace {

using format::LevelFormat;

// The state between two levels: `position_` by entry, and `parents_`, the number of positions of the level
// above.
class Packer {
 public:
  Packer(const CooTensor& tensor, const format::TensorFormat& format, const PackOptions& options)
      : options_(options),
        integers_(is_integer(tensor.value_type)),
        builder_{format, tensor.extents, options.value_type, options.position_bits, options.fill_value},
        entries_(tensor, format.mode_order),
        position_(tensor.entries(), 0) {}

  support::Result<PackedTensor> pack() {
    for (int l = 0; l < builder_.format.order(); ++l) {
      SCHAAS_RETURN_IF_ERROR(pack_level(l));
    }
    SCHAAS_RETURN_IF_ERROR(store_values());
    return std::move(builder_).finish();
  }

 private:
  std::int64_t extent(int level) const { return builder_.extents[builder_.format.mode_order[level]]; }
  std::string what() const { return "`" + options_.name + "` packed as " + format::print(builder_.format); }

  support::Result<void> pack_level(int l) {
    switch (builder_.format.levels[l]) {
      case LevelFormat::dense:
        return dense_level(l);
      case LevelFormat::bitmap:
        return bitmap_level(l);
      case LevelFormat::banded:
        return options_.position_bits == 32 ? banded_level<std::int32_t>(l) : banded_level<std::int64_t>(l);
      case LevelFormat::hashed:
        return options_.position_bits == 32 ? hashed_level<std::int32_t>(l) : hashed_level<std::int64_t>(l);
      case LevelFormat::singleton:
      case LevelFormat::singleton_nonunique:
        return singleton_level(l);
      case LevelFormat::compressed:
      case LevelFormat::compressed_nonunique:
      case LevelFormat::compressed_unordered:
        return compressed_level(l);
    }
    SCHAAS_CHECK(false, "a level format that is not packed");
  }

  // Positions exist for all coordinates of all parents, stored or not. Their number is checked, since arrays
  // of the levels below are as long.
  support::Result<void> dense_level(int l) {
    std::int64_t entries = 0;
    if (__builtin_mul_overflow(parents_, extent(l), &entries)) {
      return too_large(what(), "more than 2^63 elements");
    }
    for (std::size_t e = 0; e < position_.size(); ++e)
      position_[e] = position_[e] * extent(l) + entries_.coordinate(l, e);
    PackedTensor::Level level;
    level.entries = entries;
    builder_.levels.push_back(std::move(level));
    parents_ = entries;
    return {};
  }

  support::Result<void> bitmap_level(int l) {
    SCHAAS_RETURN_IF_ERROR(dense_level(l));
    PackedTensor::Level& level = builder_.levels.back();
    SCHAAS_ASSIGN_OR_RETURN(level.crd, allocate(level.entries, 1, what()));
    for (const std::int64_t position : position_) level.crd.as<std::uint8_t>()[position] = 1;
    return {};
  }

  // Entries of a parent are neighbours and ascend: the first and the last one bound its band.
  template <class Position>
  support::Result<void> banded_level(int l) {
    // Positions of all parents need one element more than there are parents.
    if (parents_ == std::numeric_limits<std::int64_t>::max()) return too_large(what(), "2^63 positions");
    PackedTensor::Level level;
    SCHAAS_ASSIGN_OR_RETURN(level.pos, allocate(parents_ + 1, sizeof(Position), what()));
    SCHAAS_ASSIGN_OR_RETURN(level.crd, allocate(parents_, sizeof(Position), what()));
    SCHAAS_RETURN_IF_ERROR(check_positions_fit(options_.position_bits, extent(l), 0, l, options_.name));
    auto* const pos = level.pos.as<Position>();
    auto* const first = level.crd.as<Position>();
    for (std::size_t e = 0; e < position_.size();) {
      const std::int64_t parent = position_[e], begin = entries_.coordinate(l, e);
      std::int64_t end = begin;
      for (; e < position_.size() && position_[e] == parent; ++e) {
        const std::int64_t c = entries_.coordinate(l, e);
        end = c + 1;
        // The position of an entry is the begin of its band plus the distance from the band's first
        // coordinate.
        if (__builtin_add_overflow(level.entries, c - begin, &position_[e]))
          return too_large(what(), "more than 2^63 elements");
      }
      first[parent] = static_cast<Position>(begin);
      if (__builtin_add_overflow(level.entries, end - begin, &level.entries))
        return too_large(what(), "more than 2^63 elements");
      // Bounds the sum of all lengths so far, so the prefix sum below cannot overflow.
      SCHAAS_RETURN_IF_ERROR(
          check_positions_fit(options_.position_bits, extent(l), level.entries, l, options_.name));
      pos[parent + 1] = static_cast<Position>(end - begin);
    }
    std::partial_sum(pos, pos + parents_ + 1, pos);
    parents_ = level.entries;
    builder_.levels.push_back(std::move(level));
    return {};
  }

  // Fills one open-addressed hash table with linear probing per parent (`schaas_hash` of proto/kernel_abi.h,
  // which kernels probe by, too). Empty slots hold -1; parents without entries have no table.
  template <class Position>
  support::Result<void> hashed_level(int l) {
    if (parents_ == std::numeric_limits<std::int64_t>::max()) return too_large(what(), "2^63 positions");
    PackedTensor::Level level;
    SCHAAS_ASSIGN_OR_RETURN(level.pos, allocate(parents_ + 1, sizeof(Position), what()));
    auto* const pos = level.pos.as<Position>();
    SCHAAS_ASSIGN_OR_RETURN(const std::vector<std::int64_t> sizes, table_sizes(l));
    for (std::size_t n = 0, e = 0; e < position_.size(); ++n) {
      const std::int64_t parent = position_[e];
      level.entries += sizes[n];
      pos[parent + 1] = static_cast<Position>(sizes[n]);
      // Entries of one parent are neighbours: the next one with another position begins the next table.
      while (e < position_.size() && position_[e] == parent) ++e;
    }
    std::partial_sum(pos, pos + parents_ + 1, pos);
    SCHAAS_ASSIGN_OR_RETURN(level.crd, allocate(level.entries, sizeof(Position), what()));
    auto* const crd = level.crd.as<Position>();
    std::fill(crd, crd + level.entries, Position{-1});
    for (std::int64_t& position : position_) {
      const auto c = static_cast<Position>(
          entries_.coordinate(l, static_cast<std::size_t>(&position - position_.data())));
      const std::int64_t begin = pos[position];
      const auto mask = static_cast<std::uint64_t>(pos[position + 1] - begin) - 1;
      std::uint64_t at = schaas_hash(static_cast<std::uint64_t>(c)) & mask;
      // Tables are at most half full (table_sizes), so each probe ends at the coordinate or at an empty slot.
      while (crd[begin + static_cast<std::int64_t>(at)] != c &&
             crd[begin + static_cast<std::int64_t>(at)] >= 0)
        at = (at + 1) & mask;
      position = begin + static_cast<std::int64_t>(at);
      crd[position] = c;
    }
    parents_ = level.entries;
    builder_.levels.push_back(std::move(level));
    sort_by_position();
    return {};
  }

  // Returns the capacity of the table of each parent that has entries: a power of two, at least twice its
  // coordinates.
  support::Result<std::vector<std::int64_t>> table_sizes(int l) const {
    std::vector<std::int64_t> sizes;
    std::int64_t all = 0;
    for (std::size_t e = 0; e < position_.size();) {
      const std::size_t first = e;
      std::uint64_t count = 0;
      for (; e < position_.size() && position_[e] == position_[first]; ++e)
        count += e == first || entries_.coordinate(l, e) != entries_.coordinate(l, e - 1);
      sizes.push_back(static_cast<std::int64_t>(std::bit_ceil(2 * count)));
      all += sizes.back();
    }
    SCHAAS_RETURN_IF_ERROR(check_positions_fit(options_.position_bits, extent(l), all, l, options_.name));
    return sizes;
  }

  // Positions in tables are unordered; the levels below need them ascending.
  void sort_by_position() {
    if (std::is_sorted(position_.begin(), position_.end())) return;
    std::vector<std::size_t> order(position_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [this](std::size_t a, std::size_t b) { return position_[a] < position_[b]; });
    entries_.reorder(order);
    std::sort(position_.begin(), position_.end());
  }

  // Entry e has another position at level l than the entry before, given the positions in the level above.
  bool is_new(int l, int last, std::size_t e, std::int64_t position_before) const {
    if (e == 0 || position_[e] != position_before) return true;
    for (int level = l; level <= last; ++level) {
      if (entries_.coordinate(level, e) != entries_.coordinate(level, e - 1)) return true;
    }
    return false;
  }

  // The level that makes the coordinates of level l unique: l itself unless that is nonunique.
  int unique_from(int l) const {
    while (!format::is_unique(builder_.format.levels[l])) ++l;
    return l;
  }

  std::int64_t distinct(int l) const {
    const int last = unique_from(l);
    std::int64_t count = 0;
    for (std::size_t e = 0; e < position_.size(); ++e)
      count += is_new(l, last, e, e == 0 ? 0 : position_[e - 1]);
    return count;
  }

  // Singleton levels have one coordinate per position of the level above: they add no positions.
  support::Result<void> singleton_level(int l) {
    SCHAAS_RETURN_IF_ERROR(
        check_positions_fit(options_.position_bits, extent(l), parents_, l, options_.name));
    PackedTensor::Level level;
    level.entries = parents_;
    SCHAAS_ASSIGN_OR_RETURN(level.crd, allocate(parents_, options_.position_bits / 8, what()));
    for (std::size_t e = 0; e < position_.size(); ++e) {
      const std::int64_t c = entries_.coordinate(l, e);
      if (options_.position_bits == 32) {
        level.crd.as<std::int32_t>()[position_[e]] = static_cast<std::int32_t>(c);
      } else {
        level.crd.as<std::int64_t>()[position_[e]] = c;
      }
    }
    builder_.levels.push_back(std::move(level));
    return {};
  }

  support::Result<void> compressed_level(int l) {
    const std::int64_t count = distinct(l);
    // Numbers of entries are checked before the loop that writes them as `Position`.
    SCHAAS_RETURN_IF_ERROR(check_positions_fit(options_.position_bits, extent(l), count, l, options_.name));
    const std::int64_t width = options_.position_bits / 8;
    if (parents_ == std::numeric_limits<std::int64_t>::max()) return too_large(what(), "2^63 positions");
    PackedTensor::Level level;
    level.entries = count;
    SCHAAS_ASSIGN_OR_RETURN(level.pos, allocate(parents_ + 1, width, what()));
    SCHAAS_ASSIGN_OR_RETURN(level.crd, allocate(count, width, what()));
    if (width == 4) {
      number<std::int32_t>(l, level);
    } else {
      number<std::int64_t>(l, level);
    }
    builder_.levels.push_back(std::move(level));
    parents_ = count;
    return {};
  }

  // Numbers the entries of a compressed level and counts those of each parent; the counts are then summed.
  // `position_[e]` is overwritten as e advances: `parent` keeps the value of the entry before.
  template <class Position>
  void number(int l, PackedTensor::Level& level) {
    Position* pos = level.pos.as<Position>();
    Position* crd = level.crd.as<Position>();
    const int last = unique_from(l);
    std::int64_t next = -1, parent = -1;
    for (std::size_t e = 0; e < position_.size(); ++e) {
      if (is_new(l, last, e, parent)) {
        parent = position_[e];
        crd[++next] = static_cast<Position>(entries_.coordinate(l, e));
        ++pos[parent + 1];
      }
      position_[e] = next;
    }
    std::partial_sum(pos, pos + parents_ + 1, pos);
  }

  support::Result<void> store_values() {
    SCHAAS_ASSIGN_OR_RETURN(
        builder_.values,
        allocate(parents_, static_cast<std::int64_t>(bytes_of(options_.value_type)), what()));
    // Slots of dense levels and bands that no entry fills hold the fill value.
    if (options_.fill_value != 0)
      fill_values(builder_.values.data(), options_.value_type, 0, parents_, options_.fill_value);
    for_type(options_.value_type, [&](auto zero) {
      using Value = decltype(zero);
      if (integers_) {
        accumulate_integers<Value>();
      } else {
        accumulate<Value>();
      }
    });
    return {};
  }

  // Duplicates are neighbours: integers are added with wrap-around.
  template <class Value>
  void accumulate_integers() {
    Value* values = builder_.values.as<Value>();
    for (std::size_t e = 0; e < position_.size();) {
      const std::int64_t position = position_[e];
      std::uint64_t sum = 0;
      for (; e < position_.size() && position_[e] == position; ++e)
        sum += static_cast<std::uint64_t>(entries_.integer(e));
      values[position] = integer_as<Value>(static_cast<std::int64_t>(sum));
    }
  }

  // Duplicates are neighbours: they are added in double and rounded once.
  template <class Value>
  void accumulate() {
    Value* values = builder_.values.as<Value>();
    for (std::size_t e = 0; e < position_.size();) {
      const std::int64_t position = position_[e];
      std::complex<double> sum = entries_.complex_value(e);
      for (++e; e < position_.size() && position_[e] == position; ++e) sum += entries_.complex_value(e);
      values[position] = as_value<Value>(sum);
    }
  }

  const PackOptions& options_;
  const bool integers_;  ///< entries are integers
  PackedTensorBuilder builder_;
  SortedEntries entries_;
  std::vector<std::int64_t> position_;
  std::int64_t parents_ = 1;
};

support::Result<void> check_options(const PackOptions& options) {
  SCHAAS_CHECK(options.position_bits == 32 || options.position_bits == 64, "position width");
  return {};
}

/// Takes the type of the values from the format, if it has one, to the options.
std::pair<format::TensorFormat, PackOptions> without_type(format::TensorFormat format, PackOptions options) {
  options.value_type = format.values.value_or(options.value_type);
  format.values.reset();
  return {std::move(format), std::move(options)};
}

/// Returns the error for an element that the integer type does not have. Infinities stand for its extremes.
template <class Number>
support::Diagnostic no_integer(Number value, const PackOptions& options) {
  char buffer[32];
  const std::string text(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  return support::noting(support::invalid("value-type", "`" + options.name + "` holds " + text +
                                                            ", which is no " + name(options.value_type)),
                         std::is_integral_v<Number> ? "a wider type holds it" : "values of f64 hold it");
}

std::int64_t integer_of_entry(const CooTensor& tensor, std::size_t e) { return tensor.integers[e]; }
std::int64_t integer_of_entry(const DenseTensor& tensor, std::size_t e) {
  return tensor.integer_at(static_cast<std::int64_t>(e));
}

std::complex<double> complex_entry(const CooTensor& tensor, std::size_t e) { return tensor.complex_at(e); }
std::complex<double> complex_entry(const DenseTensor& tensor, std::size_t e) {
  return tensor.complex_at(static_cast<std::int64_t>(e));
}

/// Checks integers of one type as those of another. Of both in 64 bits u64 alone has numbers below 0.
template <class Tensor>
support::Result<void> check_integers(const Tensor& tensor, std::size_t count, const PackOptions& options) {
  const bool from_u64 = tensor.value_type == ValueType::u64, to_u64 = options.value_type == ValueType::u64;
  for (std::size_t e = 0; e < count; ++e) {
    const std::int64_t value = integer_of_entry(tensor, e);
    const bool exact = operators::wrapped(static_cast<std::uint64_t>(value), options.value_type) == value;
    if (exact && (value >= 0 || from_u64 == to_u64)) continue;
    return from_u64 ? no_integer(static_cast<std::uint64_t>(value), options) : no_integer(value, options);
  }
  return {};
}

/// Checks that complex numbers to be stored in another type have no imaginary part.
template <class Tensor>
support::Result<void> check_real(const Tensor& tensor, std::size_t count, const PackOptions& options) {
  for (std::size_t e = 0; e < count; ++e) {
    if (complex_entry(tensor, e).imag() != 0)
      return support::noting(
          support::invalid("value-type", "`" + options.name + "` holds complex numbers, which " +
                                             name(options.value_type) + " does not"),
          "values of c64 and c128 do");
  }
  return {};
}

/// Checks that the integer type, if it is one, has the values of the tensor. All numbers have a truth value.
template <class Tensor>
support::Result<void> check_values(const Tensor& tensor, std::size_t count, const PackOptions& options) {
  const auto& to = operators::facts(options.value_type);
  if (is_complex(tensor.value_type) && !is_complex(options.value_type))
    return check_real(tensor, count, options);
  if (!to.is_integer || options.value_type == tensor.value_type || options.value_type == ValueType::boolean)
    return {};
  if (is_integer(tensor.value_type)) return check_integers(tensor, count, options);
  // The largest of 64 bits are no doubles; one above them is.
  const double smallest = static_cast<double>(to.smallest),
               beyond = static_cast<double>(to.largest / 2 + 1) * 2;
  for (std::size_t e = 0; e < count; ++e) {
    const double value = tensor.at(e);
    const bool exact = value >= smallest && value < beyond && value == std::floor(value);
    if (!exact && !std::isinf(value)) return no_integer(value, options);
  }
  return {};
}

// Copies row-major values into the order of the levels. The coordinates advance like an odometer: a level
// that reaches its extent is set back, and the next outer one advances. Reads are strided, writes contiguous.
void permute(const DenseTensor& from, PackedTensor& to) {
  const int order = from.order();
  std::vector<std::int64_t> stride(order), counter(order, 0);  // by level: step in the row-major source
  for (int l = 0; l < order; ++l) {
    const int mode = to.format().mode_order[l];
    stride[l] = std::accumulate(from.extents.begin() + mode + 1, from.extents.end(), std::int64_t{1},
                                std::multiplies<>());
  }
  std::int64_t source = 0;
  for (std::int64_t p = 0; p < to.stored(); ++p) {
    for_type(to.value_type(), [&](auto zero) {
      using Value = decltype(zero);
      to.values().as<Value>()[p] = is_integer(from.value_type) ? integer_as<Value>(from.integer_at(source))
                                                               : as_value<Value>(from.complex_at(source));
    });
    for (int l = order - 1; l >= 0; --l) {
      source += stride[l];
      if (++counter[l] < to.extents()[to.format().mode_order[l]]) break;
      source -= stride[l] * counter[l];
      counter[l] = 0;
    }
  }
}

}  // namespace

support::Result<PackedTensor> pack(const CooTensor& tensor, const format::TensorFormat& given_format,
                                   const PackOptions& given_options) {
  const auto [format, options] = without_type(given_format, given_options);
  SCHAAS_RETURN_IF_ERROR(check_options(options));
  SCHAAS_RETURN_IF_ERROR(check_format(tensor.order(), format, options.name));
  SCHAAS_RETURN_IF_ERROR(check_entries(tensor, options.name));
  SCHAAS_RETURN_IF_ERROR(check_values(tensor, tensor.entries(), options));
  try {
    return Packer(tensor, format, options).pack();
  } catch (const std::bad_alloc&) {
    // Keys and values take 16 bytes per entry, positions 8; the second array of the radix sort is not
    // counted.
    return too_large("sorting `" + options.name + "`",
                     bytes_text(24.0 * static_cast<double>(tensor.entries())));
  }
}

support::Result<PackedTensor> pack(const DenseTensor& tensor, const format::TensorFormat& given_format,
                                   const PackOptions& given_options) {
  const auto [format, options] = without_type(given_format, given_options);
  SCHAAS_RETURN_IF_ERROR(check_format(tensor.order(), format, options.name));
  if (!format.all_dense()) return pack(to_coo(tensor, options.fill_value), format, options);
  SCHAAS_RETURN_IF_ERROR(check_values(tensor, static_cast<std::size_t>(tensor.size()), options));
  SCHAAS_ASSIGN_OR_RETURN(PackedTensor packed, zeros(tensor.extents, format, options));
  permute(tensor, packed);
  return packed;
}

support::Result<PackedTensor> zeros(std::vector<std::int64_t> extents, const format::TensorFormat& format,
                                    const PackOptions& options) {
  SCHAAS_RETURN_IF_ERROR(check_options(options));
  SCHAAS_RETURN_IF_ERROR(check_format(static_cast<int>(extents.size()), format, options.name));
  // Locating levels without entries still need arrays (bands, tables): packing no entries makes them.
  if (std::any_of(format.levels.begin(), format.levels.end(), format::is_located)) {
    CooTensor nothing;
    nothing.coordinates.resize(extents.size());
    nothing.extents = std::move(extents);
    return pack(nothing, format, options);
  }
  PackedTensorBuilder builder{format, std::move(extents), options.value_type, options.position_bits,
                              options.fill_value};
  builder.levels.resize(format.levels.size());
  PackedTensor tensor = std::move(builder).finish();
  SCHAAS_RETURN_IF_ERROR(ResultStorage::clear(tensor, options.name));
  return tensor;
}

}  // namespace schaas::client
