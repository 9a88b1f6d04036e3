#include "schaas/fill.h"

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

double value_at(std::uint64_t stream, std::uint64_t linear) {
  const std::uint64_t bits = mix(stream + linear * 0x9e3779b97f4a7c15u) >> 40;  // 24 bits
  return static_cast<double>(bits) * 0x1p-23 - 1;
}

}  // namespace

double fill_value(std::uint64_t seed, const std::string& name, std::uint64_t linear) {
  return value_at(stream_of(seed, name), linear);
}

support::Result<DenseTensor> fill(const std::string& name, std::vector<std::int64_t> extents,
                                  std::uint64_t seed, ValueType type) {
  SCHAAS_ASSIGN_OR_RETURN(DenseTensor tensor, zeros(std::move(extents), type));
  const std::uint64_t stream = stream_of(seed, name);
  const std::int64_t size = tensor.size();
  for (std::int64_t e = 0; e < size; ++e) tensor.set(e, value_at(stream, static_cast<std::uint64_t>(e)));
  return tensor;
}

}  // namespace schaas::client
