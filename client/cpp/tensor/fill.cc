#include "schaas/fill.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "client/cpp/platform/allocate.h"

// Reproducible values: number e of a tensor is a hash of (seed, name, e), so any of them can be computed
// alone, on any machine. Values are multiples of 2^-23 in [-1, 1): exact in f32 and f64, so results of both
// types can be compared. Integers are a few of them, -16 to 15. The coordinates of sparse tensors come from a
// second stream, drawn independently for each mode; repeated ones are dropped.
namespace schaas::client {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014): a counter hashed to 64 well-mixed bits.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// FNV-1a of the name, mixed with the seed: where the stream of a tensor starts.
std::uint64_t stream_of(std::uint64_t seed, const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return mix(hash ^ mix(seed));
}

// The factor is SplitMix64's increment, an odd number: the 2^64 hashed numbers of a stream are distinct.
double value_at(std::uint64_t stream, std::uint64_t linear) {
  const std::uint64_t bits = mix(stream + linear * 0x9e3779b97f4a7c15u) >> 40;  // 24 bits
  return static_cast<double>(bits) * 0x1p-23 - 1;
}

/// Imaginary parts are a stream of their own.
std::complex<double> typed_value_at(std::uint64_t stream, std::uint64_t linear, ValueType type) {
  const double value = value_at(stream, linear);
  if (is_complex(type)) return {value, value_at(mix(stream ^ 1), linear)};
  if (type == ValueType::boolean) return value < 0 ? 0.0 : 1.0;
  return is_integer(type) ? std::floor(16 * value) + (operators::is_unsigned(type) ? 16 : 0) : value;
}

}  // namespace

double fill_value(std::uint64_t seed, const std::string& name, std::uint64_t linear) {
  return value_at(stream_of(seed, name), linear);
}

support::Result<DenseTensor> fill(const std::string& name, std::vector<std::int64_t> extents,
                                  std::uint64_t seed, ValueType type) {
  const std::string what = "`" + name + "`";
  const auto size = checked_product(extents);
  if (!size) return too_large(what, "more than 2^63 elements");
  DenseTensor tensor;
  SCHAAS_ASSIGN_OR_RETURN(tensor.values, allocate(*size, static_cast<std::int64_t>(bytes_of(type)), what));
  tensor.extents = std::move(extents);
  tensor.value_type = type;
  const std::uint64_t stream = stream_of(seed, name);
  for (std::int64_t e = 0; e < *size; ++e)
    tensor.set(e, typed_value_at(stream, static_cast<std::uint64_t>(e), type));
  return tensor;
}

namespace {

// Density of drawn tensors: about one element in so many, and a million entries at most.
constexpr std::int64_t elements_per_draw = 10;
constexpr std::int64_t max_draws = 1000000;

// The high half of a product of 128 bits: uniform below `extent` as far as 64 bits can tell.
std::int64_t below(std::int64_t extent, std::uint64_t bits) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::int64_t>(Wide{bits} * static_cast<std::uint64_t>(extent) >> 64);
}

// Returns 0 for tensors without elements: nothing can be drawn below an extent of 0.
std::int64_t draws_for(const std::vector<std::int64_t>& extents) {
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return 0;
  const auto elements = checked_product(extents);
  return elements ? std::clamp<std::int64_t>(*elements / elements_per_draw, 1, max_draws) : max_draws;
}

CooTensor drawn(std::vector<std::int64_t> extents, std::uint64_t stream, ValueType type) {
  const std::uint64_t coordinate_stream = mix(~stream);  // another stream than the values'
  std::vector<std::vector<std::int64_t>> entries(static_cast<std::size_t>(draws_for(extents)),
                                                 std::vector<std::int64_t>(extents.size()));
  std::uint64_t draw = 0;
  for (auto& entry : entries) {
    for (std::size_t mode = 0; mode < extents.size(); ++mode)
      entry[mode] = below(extents[mode], mix(coordinate_stream + ++draw * 0x9e3779b97f4a7c15u));
  }
  // Values are numbered after sorting: entry e has value e, whatever the order of the draws was.
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  CooTensor tensor;
  if (is_complex(type)) tensor.value_type = type;
  tensor.coordinates.resize(extents.size());
  for (std::size_t e = 0; e < entries.size(); ++e) {
    for (std::size_t mode = 0; mode < extents.size(); ++mode)
      tensor.coordinates[mode].push_back(entries[e][mode]);
    tensor.add_value(typed_value_at(stream, e, type));
  }
  tensor.extents = std::move(extents);
  return tensor;
}

}  // namespace

support::Result<CooTensor> fill_sparse(const std::string& name, std::vector<std::int64_t> extents,
                                       std::uint64_t seed, ValueType type) {
  try {
    return drawn(std::move(extents), stream_of(seed, name), type);
  } catch (const std::bad_alloc&) {
    return too_large("`" + name + "`", "a million entries");
  }
}

}  // namespace schaas::client
