#include "client/cpp/oracle/oracle_tensor.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "client/cpp/tensor/tensor_checks.h"

namespace schaas::client {
namespace {

std::int64_t product(const std::vector<std::int64_t>& extents) {
  return checked_product(extents).value_or(0);
}

}  // namespace

std::uint64_t hash_of(Wide key) {
  std::uint64_t hash =
      static_cast<std::uint64_t>(key) ^ (static_cast<std::uint64_t>(key >> 64) * 0xff51afd7ed558ccdu);
  hash *= 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 32);
}

std::vector<Wide> row_major_strides(const std::vector<std::int64_t>& extents) {
  std::vector<Wide> strides(extents.size());
  Wide stride = 1;
  for (std::size_t m = extents.size(); m-- > 0;) {
    strides[m] = stride;
    stride *= static_cast<Wide>(extents[m]);
  }
  return strides;
}

std::shared_ptr<const OracleTensor> OracleTensor::dense(const DenseTensor& tensor, OracleTypes types) {
  auto built = std::make_shared<OracleTensor>();
  built->extents_ = tensor.extents;
  built->elements_ = tensor.size();
  built->read_ = &tensor;
  built->types_ = types;
  return built;
}

std::shared_ptr<const OracleTensor> OracleTensor::entries(const CooTensor& tensor, double zero,
                                                          OracleTypes types) {
  auto built = std::make_shared<OracleTensor>();
  built->extents_ = tensor.extents;
  built->sparse_ = true;
  built->types_ = types;
  built->background_ = given(zero);
  const std::vector<Wide> strides = row_major_strides(tensor.extents);
  std::vector<Wide> keys(tensor.entries(), 0);
  for (int m = 0; m < tensor.order(); ++m) {
    for (std::size_t e = 0; e < keys.size(); ++e)
      keys[e] += strides[m] * static_cast<Wide>(tensor.coordinates[m][e]);
  }
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!std::is_sorted(keys.begin(), keys.end()))
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  for (const std::size_t e : order) {
    const bool again = !built->keys_.empty() && built->keys_.back() == keys[e];
    if (!again) built->keys_.push_back(keys[e]);
    built->add_entry(tensor, e, again);
  }
  for (double& value : built->given_) value = rounded(value, types.stored);
  for (double& value : built->given_imaginary_) value = rounded(value, types.stored);
  built->index_keys();
  return built;
}

std::shared_ptr<const OracleTensor> OracleTensor::computed_dense(std::vector<std::int64_t> extents,
                                                                 std::vector<Judged> values) {
  auto built = std::make_shared<OracleTensor>();
  built->elements_ = product(extents);
  built->extents_ = std::move(extents);
  built->values_ = std::move(values);
  return built;
}

bool OracleTensor::has_few_entries() const {
  constexpr std::int64_t few_elements = 1 << 16, elements_of_entry = 64;
  if (extents_.size() <= 1) return false;
  const auto elements = checked_product(extents_);
  const auto entries = static_cast<std::int64_t>(keys_.size());
  return !elements || *elements > std::max(few_elements, elements_of_entry * entries);
}

std::shared_ptr<const OracleTensor> OracleTensor::computed_entries(std::vector<std::int64_t> extents,
                                                                   std::vector<Wide> keys,
                                                                   std::vector<Judged> values,
                                                                   Judged background) {
  auto built = std::make_shared<OracleTensor>();
  built->extents_ = std::move(extents);
  built->sparse_ = true;
  built->keys_ = std::move(keys);
  built->values_ = std::move(values);
  built->background_ = background;
  built->index_keys();
  built->annihilates_ = built->has_few_entries();
  return built;
}

/// Appends the value of an entry, or adds it to the last one's when the entry is there `again`.
void OracleTensor::add_entry(const CooTensor& tensor, std::size_t entry, bool again) {
  if (!is_integer(types_.stored)) {
    if (!again) given_.push_back(0);
    given_.back() = again ? given_.back() + tensor.at(entry) : tensor.at(entry);
    if (!is_complex(types_.stored)) return;
    if (!again) given_imaginary_.push_back(0);
    given_imaginary_.back() += tensor.complex_at(entry).imag();
    return;
  }
  const std::int64_t value = is_integer(tensor.value_type)
                                 ? tensor.integers[entry]
                                 : operators::integer_of(tensor.values[entry], types_.stored);
  const std::int64_t before = again ? given_integers_.back() : 0;
  if (!again) given_integers_.push_back(0);
  given_integers_.back() = operators::wrapped(
      static_cast<std::uint64_t>(before) + static_cast<std::uint64_t>(value), types_.stored);
}

void OracleTensor::index_keys() {
  slots_.assign(std::bit_ceil(2 * keys_.size() + 2), 0);
  for (std::size_t position = 0; position < keys_.size(); ++position) {
    std::size_t slot = hash_of(keys_[position]) & (slots_.size() - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = static_cast<std::int64_t>(position) + 1;
  }
}

std::int64_t OracleTensor::find(Wide key) const {
  if (!sparse_) return static_cast<std::int64_t>(key);
  std::size_t slot = hash_of(key) & (slots_.size() - 1);
  while (slots_[slot] != 0) {
    const std::int64_t position = slots_[slot] - 1;
    if (keys_[static_cast<std::size_t>(position)] == key) return position;
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return -1;
}

std::int64_t OracleTensor::find(Wide key, Near& near) const {
  constexpr int max_jumps = 64;
  if (!sparse_ || near.jumps > max_jumps) return find(key);
  std::size_t low = near.position, high = near.position;
  if (low > 0 && keys_[low - 1] >= key) {  // behind
    near.jumps += 4;
    low = 0;
  } else {
    near.jumps -= near.jumps > 0 ? 1 : 0;
    for (std::size_t step = 1; high < keys_.size() && keys_[high] < key; step *= 2) {
      low = high + 1;
      high += step;
    }
    high = std::min(high, keys_.size());
  }
  const auto begin = keys_.begin();
  near.position = static_cast<std::size_t>(std::lower_bound(begin + static_cast<std::ptrdiff_t>(low),
                                                            begin + static_cast<std::ptrdiff_t>(high), key) -
                                           begin);
  const bool stored = near.position < keys_.size() && keys_[near.position] == key;
  return stored ? static_cast<std::int64_t>(near.position) : -1;
}

/// An integer as it is stored, as one of the arithmetic's numbers.
Judged OracleTensor::integer(std::int64_t value) const {
  const std::int64_t stored = operators::wrapped(static_cast<std::uint64_t>(value), types_.stored);
  return is_integer(types_.computed) ? given(stored, types_.computed)
                                     : given(operators::real_of(stored, types_.stored));
}

Judged OracleTensor::at(std::int64_t position) const {
  if (read_ != nullptr && is_integer(types_.stored))
    return integer(is_integer(read_->value_type) ? read_->integer_at(position)
                                                 : operators::integer_of(read_->at(position), types_.stored));
  if (read_ != nullptr && is_complex(types_.stored)) {
    const std::complex<double> number = read_->complex_at(position);
    return given({rounded(number.real(), types_.stored), rounded(number.imag(), types_.stored)},
                 types_.stored);
  }
  if (read_ != nullptr) return given(rounded(read_->at(position), types_.stored));
  if (!given_integers_.empty()) return integer(given_integers_[static_cast<std::size_t>(position)]);
  if (!given_imaginary_.empty()) {
    const auto at = static_cast<std::size_t>(position);
    return given({given_[at], given_imaginary_[at]}, types_.stored);
  }
  if (!given_.empty()) return given(given_[static_cast<std::size_t>(position)]);
  return values_[static_cast<std::size_t>(position)];
}

}  // namespace schaas::client
