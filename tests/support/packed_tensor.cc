#include "tests/support/packed_tensor.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>

#include "tests/support/typed_number.h"

// Packs tensors by the definition of each level format, without client/cpp/tensor. The stored coordinates are
// sorted, and a level splits each range of its parent by coordinate. Unpacking follows positions and
// coordinates, not what was packed. Arrays have exactly the bytes that the ABI demands, so a sanitizer sees
// any access beyond them. Results start with a coordinate that no tensor has. structure_error() finds those
// left over, out of order or repeated, and counts that do not add up.
namespace schaas::test_support {
namespace {

using Coordinates = std::vector<std::int64_t>;

/// In positions and coordinates that the kernel has to write.
constexpr std::int64_t not_written = -7777;

/// Signed integers of 32 or 64 bits, or values of f32 or f64: an array of exactly the needed bytes.
struct Bytes {
  std::vector<unsigned char> data;

  template <class T>
  static Bytes of(const std::vector<std::int64_t>& numbers) {
    Bytes out;
    out.data.resize(numbers.size() * sizeof(T));
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      const T number = static_cast<T>(numbers[n]);
      std::memcpy(out.data.data() + n * sizeof(T), &number, sizeof(T));
    }
    return out;
  }
  static Bytes integers(const std::vector<std::int64_t>& numbers, int bits) {
    if (bits == 8) return of<std::uint8_t>(numbers);
    return bits == 32 ? of<std::int32_t>(numbers) : of<std::int64_t>(numbers);
  }
};

template <class T>
T element(const void* array, std::int64_t n) {
  T out;
  std::memcpy(&out, static_cast<const unsigned char*>(array) + static_cast<std::size_t>(n) * sizeof(T),
              sizeof(T));
  return out;
}

/// Reads integer n of an array of 32 or 64 bits.
std::int64_t integer(const void* array, int bits, std::int64_t n) {
  return bits == 32 ? element<std::int32_t>(array, n) : element<std::int64_t>(array, n);
}

/// The stored coordinates of one position of a level: [begin, end) of the sorted list of all.
struct Span {
  std::size_t begin;
  std::size_t end;
};

/// One level built from the positions of its parent.
struct Level {
  std::vector<std::int64_t> pos;
  std::vector<std::int64_t> crd;
  std::vector<Span> children;
};

/// Returns the part of `span` with this coordinate at the level; it may be empty.
Span with_coordinate(const std::vector<Coordinates>& sorted, Span span, std::size_t level,
                     std::int64_t coordinate) {
  const auto begin = sorted.begin() + static_cast<std::ptrdiff_t>(span.begin);
  const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(span.end);
  const auto first = std::lower_bound(
      begin, end, coordinate, [&](const Coordinates& each, std::int64_t c) { return each[level] < c; });
  const auto last = std::find_if(first, end, [&](const auto& each) { return each[level] != coordinate; });
  return {static_cast<std::size_t>(first - sorted.begin()), static_cast<std::size_t>(last - sorted.begin())};
}

/// Gives every coordinate of each parent a position.
Level build_dense(const std::vector<Coordinates>& sorted, const std::vector<Span>& parents, std::size_t level,
                  std::int64_t extent) {
  Level out;
  for (const Span& parent : parents) {
    for (std::int64_t c = 0; c < extent; ++c)
      out.children.push_back(with_coordinate(sorted, parent, level, c));
  }
  return out;
}

/// For each place whether something is stored there.
Level build_bitmap(const std::vector<Coordinates>& sorted, const std::vector<Span>& parents,
                   std::size_t level, std::int64_t extent) {
  Level out = build_dense(sorted, parents, level, extent);
  for (const Span& child : out.children) out.crd.push_back(child.begin < child.end ? 1 : 0);
  return out;
}

/// From the first to the last coordinate of each parent.
Level build_banded(const std::vector<Coordinates>& sorted, const std::vector<Span>& parents,
                   std::size_t level) {
  Level out;
  out.pos.push_back(0);
  for (const Span& parent : parents) {
    const bool empty = parent.begin == parent.end;
    out.crd.push_back(empty ? 0 : sorted[parent.begin][level]);
    for (std::int64_t c = out.crd.back(); !empty && c <= sorted[parent.end - 1][level]; ++c)
      out.children.push_back(with_coordinate(sorted, parent, level, c));
    out.pos.push_back(static_cast<std::int64_t>(out.children.size()));
  }
  return out;
}

/// A table for each parent: places in no order, free ones with coordinate -1.
Level build_hashed(const std::vector<Coordinates>& sorted, const std::vector<Span>& parents,
                   std::size_t level) {
  Level out;
  out.pos.push_back(0);
  for (const Span& parent : parents) {
    std::vector<Span> found;
    for (std::size_t at = parent.begin; at < parent.end; at = found.back().end)
      found.push_back(with_coordinate(sorted, {at, parent.end}, level, sorted[at][level]));
    std::size_t size = found.empty() ? 0 : 2;
    while (size < 2 * found.size()) size *= 2;
    const std::size_t begin = out.crd.size();
    out.crd.resize(begin + size, -1);
    out.children.resize(begin + size, Span{parent.end, parent.end});
    for (const Span& child : found) {
      const std::int64_t c = sorted[child.begin][level];
      std::size_t at = schaas_hash(static_cast<std::uint64_t>(c)) % size;
      while (out.crd[begin + at] >= 0) at = (at + 1) % size;
      out.crd[begin + at] = c;
      out.children[begin + at] = child;
    }
    out.pos.push_back(static_cast<std::int64_t>(out.crd.size()));
  }
  return out;
}

/// Gives each distinct coordinate of a parent a position.
Level build_compressed(const std::vector<Coordinates>& sorted, const std::vector<Span>& parents,
                       std::size_t level) {
  Level out;
  out.pos.push_back(0);
  for (const Span& parent : parents) {
    for (std::size_t at = parent.begin; at < parent.end;) {
      const Span child = with_coordinate(sorted, {at, parent.end}, level, sorted[at][level]);
      out.crd.push_back(sorted[at][level]);
      out.children.push_back(child);
      at = child.end;
    }
    out.pos.push_back(static_cast<std::int64_t>(out.crd.size()));
  }
  return out;
}

/// Levels `level`..`last` are told apart together: each distinct combination of their coordinates is an
/// entry.
Level build_nonunique(const std::vector<Coordinates>& sorted, const std::vector<Span>& parents,
                      std::size_t level, std::size_t last) {
  Level out;
  out.pos.push_back(0);
  for (const Span& parent : parents) {
    for (std::size_t at = parent.begin; at < parent.end;) {
      Span child{at, parent.end};
      for (std::size_t l = level; l <= last; ++l) child = with_coordinate(sorted, child, l, sorted[at][l]);
      out.crd.push_back(sorted[at][level]);
      out.children.push_back(child);
      at = child.end;
    }
    out.pos.push_back(static_cast<std::int64_t>(out.crd.size()));
  }
  return out;
}

/// Gives each parent one coordinate, that of its first entry.
Level build_singleton(const std::vector<Coordinates>& sorted, const std::vector<Span>& parents,
                      std::size_t level) {
  Level out;
  for (const Span& parent : parents) out.crd.push_back(sorted[parent.begin][level]);
  out.children = parents;
  return out;
}

Level build_level(const std::vector<Coordinates>& sorted, const std::vector<Span>& parents,
                  const format::TensorFormat& format, std::size_t level, std::int64_t extent) {
  using enum format::LevelFormat;
  std::size_t last = level;
  while (!format::is_unique(format.levels[last])) ++last;
  switch (format.levels[level]) {
    case dense:
      return build_dense(sorted, parents, level, extent);
    case bitmap:
      return build_bitmap(sorted, parents, level, extent);
    case banded:
      return build_banded(sorted, parents, level);
    case hashed:
      return build_hashed(sorted, parents, level);
    case compressed:
    case compressed_unordered:
      return build_compressed(sorted, parents, level);
    case compressed_nonunique:
      return build_nonunique(sorted, parents, level, last);
    default:
      return build_singleton(sorted, parents, level);
  }
}

bool is_singleton(const schaas_level& level) {
  return level.format == SCHAAS_LEVEL_SINGLETON || level.format == SCHAAS_LEVEL_SINGLETON_NONUNIQUE;
}

int index_bits(format::LevelFormat level, const problem::Problem& problem) {
  if (level == format::LevelFormat::bitmap) return 8;
  return format::is_sparse(level) ? problem.position_bits : 0;
}

std::int32_t abi_number(format::LevelFormat level) {
  using enum format::LevelFormat;
  switch (level) {
    case dense:
      return SCHAAS_LEVEL_DENSE;
    case compressed:
      return SCHAAS_LEVEL_COMPRESSED;
    case compressed_nonunique:
      return SCHAAS_LEVEL_COMPRESSED_NONUNIQUE;
    case singleton:
      return SCHAAS_LEVEL_SINGLETON;
    case compressed_unordered:
      return SCHAAS_LEVEL_COMPRESSED_UNORDERED;
    case bitmap:
      return SCHAAS_LEVEL_BITMAP;
    case banded:
      return SCHAAS_LEVEL_BANDED;
    case hashed:
      return SCHAAS_LEVEL_HASHED;
    default:
      return SCHAAS_LEVEL_SINGLETON_NONUNIQUE;
  }
}

/// All coordinates of the entries to store, in level order, sorted.
std::vector<Coordinates> stored_coordinates(const RandomTensor& tensor, const std::vector<int>& mode_order) {
  const auto& extents = tensor.dense.extents;
  std::vector<Coordinates> out;
  for (std::size_t n = 0; n < tensor.stored.size(); ++n) {
    if (!tensor.stored[n]) continue;
    Coordinates by_mode(extents.size());
    std::size_t rest = n;
    for (std::size_t mode = extents.size(); mode-- > 0;) {
      by_mode[mode] = static_cast<std::int64_t>(rest % static_cast<std::size_t>(extents[mode]));
      rest /= static_cast<std::size_t>(extents[mode]);
    }
    Coordinates by_level;
    for (const int mode : mode_order) by_level.push_back(by_mode[static_cast<std::size_t>(mode)]);
    out.push_back(std::move(by_level));
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// Looks up the value at coordinates in level order.
std::complex<double> value_of(const RandomTensor& tensor, const Coordinates& by_level,
                              const std::vector<int>& mode_order) {
  Coordinates by_mode(by_level.size());
  for (std::size_t l = 0; l < by_level.size(); ++l)
    by_mode[static_cast<std::size_t>(mode_order[l])] = by_level[l];
  return tensor.dense.number(offset(tensor.dense.extents, by_mode));
}

}  // namespace

struct PackedTensor::Arrays {
  std::vector<std::int64_t> extents;
  std::vector<std::int32_t> mode_order;
  std::vector<Bytes> pos, crd;
  std::vector<schaas_level> levels;
  Bytes values;
  schaas_tensor abi{};

  std::size_t size() const { return values.data.size() / value_bytes(abi.value_type); }
  std::complex<double> value(std::int64_t n) const {
    return read_complex_number(values.data.data(), abi.value_type, n);
  }
  void set(std::size_t n, std::complex<double> value) {
    write_complex_number(values.data.data(), abi.value_type, static_cast<std::int64_t>(n), value);
  }
};

const schaas_tensor* PackedTensor::abi() const { return &arrays_->abi; }

PackedTensor PackedTensor::shifted() const {
  PackedTensor out;
  out.arrays_ = std::make_shared<Arrays>(*arrays_);  // its struct points to the levels of this one
  auto& data = out.arrays_->values.data;
  const std::size_t element = value_bytes(arrays_->abi.value_type);
  data.insert(data.begin(), element, {});
  out.arrays_->abi.values = data.data() + element;
  return out;
}

void PackedTensor::fill(double value) {
  for (std::size_t n = 0; n < arrays_->size(); ++n) arrays_->set(n, value);
}

namespace {

/// Visits the positions of the last level below one position, with their coordinates.
void unpack_level(const schaas_tensor& t, int level, std::int64_t position, Coordinates& by_mode,
                  const std::function<void(std::int64_t)>& visit) {
  if (level == t.order) return visit(position);
  const schaas_level& l = t.levels[level];
  const int mode = t.mode_order[level];
  if (l.format == SCHAAS_LEVEL_DENSE) {
    for (std::int64_t c = 0; c < t.extents[mode]; ++c) {
      by_mode[static_cast<std::size_t>(mode)] = c;
      unpack_level(t, level + 1, position * t.extents[mode] + c, by_mode, visit);
    }
    return;
  }
  if (l.pos == nullptr) {  // a singleton
    by_mode[static_cast<std::size_t>(mode)] = integer(l.crd, l.index_bits, position);
    return unpack_level(t, level + 1, position, by_mode, visit);
  }
  for (auto p = integer(l.pos, l.index_bits, position); p < integer(l.pos, l.index_bits, position + 1); ++p) {
    by_mode[static_cast<std::size_t>(mode)] = integer(l.crd, l.index_bits, p);
    unpack_level(t, level + 1, p, by_mode, visit);
  }
}

}  // namespace

DenseTensor PackedTensor::unpack(double fill) const {
  DenseTensor out = zeros(arrays_->extents);
  out.values.assign(out.values.size(), fill);
  Coordinates by_mode(arrays_->extents.size());
  unpack_level(arrays_->abi, 0, 0, by_mode,
               [&](std::int64_t p) { out.set(offset(out.extents, by_mode), arrays_->value(p)); });
  return out;
}

PackedTensor pack(const RandomTensor& tensor, const format::TensorFormat& format,
                  const problem::Problem& problem) {
  PackedTensor out;
  out.arrays_ = std::make_shared<PackedTensor::Arrays>();
  PackedTensor::Arrays& a = *out.arrays_;
  a.extents = tensor.dense.extents;
  a.mode_order.assign(format.mode_order.begin(), format.mode_order.end());
  const auto sorted = stored_coordinates(tensor, format.mode_order);
  std::vector<Span> positions{{0, sorted.size()}};
  for (std::size_t l = 0; l < format.levels.size(); ++l) {
    const auto extent = a.extents[static_cast<std::size_t>(format.mode_order[l])];
    Level level = build_level(sorted, positions, format, l, extent);
    positions = std::move(level.children);
    const int bits = index_bits(format.levels[l], problem);
    a.pos.push_back(Bytes::integers(level.pos, bits));
    a.crd.push_back(Bytes::integers(level.crd, bits));
    a.levels.push_back(
        {abi_number(format.levels[l]), bits, nullptr, nullptr, static_cast<std::int64_t>(positions.size())});
  }
  for (std::size_t l = 0; l < a.levels.size(); ++l) {
    if (a.levels[l].format == SCHAAS_LEVEL_DENSE) continue;
    if (!a.pos[l].data.empty()) a.levels[l].pos = a.pos[l].data.data();
    a.levels[l].crd = a.crd[l].data.data();
  }
  const auto type = static_cast<std::int32_t>(format.values.value_or(problem.value_type));
  a.values.data.resize(positions.size() * value_bytes(type));
  a.abi = {format.order(),      type, a.extents.data(), a.mode_order.data(), a.levels.data(),
           a.values.data.data()};
  for (std::size_t n = 0; n < positions.size(); ++n) {
    const bool stored = positions[n].begin < positions[n].end;
    a.set(n, stored ? value_of(tensor, sorted[positions[n].begin], format.mode_order)
                    : std::complex<double>(problem.semiring->zero));
  }
  return out;
}

PackedTensor empty_result(const problem::Problem& problem, const Extents& extents) {
  PackedTensor out = zero_result(problem, extents);
  PackedTensor::Arrays& a = *out.arrays_;
  std::size_t level = 0;
  while (level < a.levels.size() && a.levels[level].format == SCHAAS_LEVEL_DENSE) ++level;
  if (level == a.levels.size()) return out;
  for (; level < a.levels.size(); ++level) {
    a.levels[level].pos = a.levels[level].crd = nullptr;
    a.levels[level].entries = 0;
  }
  a.values.data.clear();
  a.abi.values = nullptr;
  return out;
}

void PackedTensor::allocate(const std::vector<std::int64_t>& entries, double fill_value) {
  Arrays& a = *arrays_;
  std::int64_t parents = 1;
  std::size_t counted = 0;
  for (std::size_t l = 0; l < a.levels.size(); ++l) {
    schaas_level& level = a.levels[l];
    if (level.format == SCHAAS_LEVEL_DENSE) {
      level.entries = parents * a.extents[static_cast<std::size_t>(a.mode_order[l])];
      parents = level.entries;
      continue;
    }
    level.entries = is_singleton(level) ? parents : entries.at(counted++);
    if (!is_singleton(level)) {
      std::vector<std::int64_t> pos(static_cast<std::size_t>(parents) + 1, not_written);
      pos.front() = 0;
      pos.back() = level.entries;
      a.pos[l] = Bytes::integers(pos, level.index_bits);
      level.pos = a.pos[l].data.data();
    }
    const std::vector<std::int64_t> crd(static_cast<std::size_t>(level.entries), not_written);
    a.crd[l] = Bytes::integers(crd, level.index_bits);
    level.crd = a.crd[l].data.data();
    parents = level.entries;
  }
  a.values.data.assign(static_cast<std::size_t>(parents) * value_bytes(a.abi.value_type), 0);
  a.abi.values = a.values.data.data();
  fill(fill_value);
}

namespace {

/// Returns the error of coordinate p of level `l`, which has to be at least `least`.
std::string coordinate_error(const schaas_tensor& t, std::size_t l, std::int64_t p, std::int64_t before,
                             std::int64_t least) {
  const schaas_level& level = t.levels[l];
  const std::int64_t c = integer(level.crd, level.index_bits, p);
  const std::int64_t extent = t.extents[t.mode_order[l]];
  const std::string where = "coordinate " + std::to_string(p) + " of level " + std::to_string(l);
  if (c == not_written) return where + " is not written";
  if (c >= least && c < extent) return "";
  return where + " is " + std::to_string(c) + " after " + std::to_string(before) + " of " +
         std::to_string(extent);
}

}  // namespace

/// Returns the error of entries [begin, end) of level `l` and the singleton levels below it.
std::string PackedTensor::fiber_error(std::size_t l, std::int64_t begin, std::int64_t end) const {
  const Arrays& a = *arrays_;
  if (a.levels[l].format == SCHAAS_LEVEL_COMPRESSED_UNORDERED) return unordered_error(l, begin, end);
  for (std::int64_t p = begin; p < end; ++p) {
    bool greater = p == begin;  // than the entry before
    for (std::size_t at = l;; ++at) {
      const schaas_level& level = a.levels[at];
      const bool last = at + 1 == a.levels.size() || !is_singleton(a.levels[at + 1]);
      const std::int64_t before = greater ? -1 : integer(level.crd, level.index_bits, p - 1);
      std::string error = coordinate_error(a.abi, at, p, before, greater ? 0 : last ? before + 1 : before);
      if (!error.empty()) return error;
      greater = greater || integer(level.crd, level.index_bits, p) > before;
      if (last) break;
    }
  }
  return "";
}

/// Returns the error of entries in any order, which must be distinct.
std::string PackedTensor::unordered_error(std::size_t l, std::int64_t begin, std::int64_t end) const {
  std::set<std::int64_t> seen;
  for (std::int64_t p = begin; p < end; ++p) {
    std::string error = coordinate_error(arrays_->abi, l, p, -1, 0);
    if (!error.empty()) return error;
    const schaas_level& level = arrays_->levels[l];
    if (!seen.insert(integer(level.crd, level.index_bits, p)).second)
      return "coordinate " + std::to_string(p) + " of level " + std::to_string(l) + " is there twice";
  }
  return "";
}

std::string PackedTensor::structure_error() const {
  const Arrays& a = *arrays_;
  std::int64_t parents = 1;
  for (std::size_t l = 0; l < a.levels.size(); ++l) {
    const schaas_level& level = a.levels[l];
    const std::string where = " of level " + std::to_string(l);
    if (level.format == SCHAAS_LEVEL_DENSE) {
      parents *= a.extents[static_cast<std::size_t>(a.mode_order[l])];
      continue;
    }
    if (is_singleton(level)) continue;  // looked at with the level above
    if (level.pos == nullptr) return "level " + std::to_string(l) + " is not allocated";
    std::int64_t end = integer(level.pos, level.index_bits, 0);
    if (end != 0) return "position 0" + where + " is not 0";
    for (std::int64_t parent = 0; parent < parents; ++parent) {
      const std::int64_t begin = end;
      end = integer(level.pos, level.index_bits, parent + 1);
      if (end == not_written) return "position " + std::to_string(parent + 1) + where + " is not written";
      if (end < begin || end > level.entries)
        return "position " + std::to_string(parent + 1) + where + " is " + std::to_string(end) + " of " +
               std::to_string(level.entries);
      std::string error = fiber_error(l, begin, end);
      if (!error.empty()) return error;
    }
    if (end != level.entries)
      return std::to_string(end) + " entries" + where + " for " + std::to_string(level.entries) + " counted";
    parents = level.entries;
  }
  return "";
}

PackedTensor zero_result(const problem::Problem& problem, const Extents& extents) {
  RandomTensor result;
  std::vector<std::int64_t> by_mode;
  for (const auto& index : problem.statement.result.indices) by_mode.push_back(extents.at(index));
  result.dense = zeros(by_mode);
  result.stored.assign(result.dense.values.size(), false);
  return pack(result, problem.formats.at(problem.statement.result.tensor), problem);
}

}  // namespace schaas::test_support
