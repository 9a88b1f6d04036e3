#include "client/cpp/oracle/oracle_accumulator.h"

#include <algorithm>
#include <numeric>

namespace schaas::client {

OracleAccumulator::OracleAccumulator(Monoid how, double start, std::vector<std::int64_t> extents, Store store)
    : fold_(how),
      start_(given(start)),
      neutral_(start == identity(how)),
      extents_(std::move(extents)),
      store_(store) {
  if (store_ == Store::dense) {
    const auto elements = static_cast<std::size_t>(checked_product(extents_).value_or(0));
    values_.assign(elements, start_);
    visited_.assign(elements, 0);
  } else {
    slots_.assign(1024, 0);
  }
}

void OracleAccumulator::grow() {
  slots_.assign(slots_.size() * 2, 0);
  for (std::size_t index = 0; index < keys_.size(); ++index) {
    std::size_t slot = hash_of(keys_[index]) & (slots_.size() - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = index + 1;
  }
}

std::size_t OracleAccumulator::index_of(Wide key) {
  if (store_ == Store::dense) return static_cast<std::size_t>(key);
  if (2 * keys_.size() >= slots_.size()) grow();
  std::size_t slot = hash_of(key) & (slots_.size() - 1);
  while (slots_[slot] != 0) {
    if (keys_[slots_[slot] - 1] == key) return slots_[slot] - 1;
    slot = (slot + 1) & (slots_.size() - 1);
  }
  keys_.push_back(key);
  values_.push_back(start_);
  visited_.push_back(0);
  slots_[slot] = keys_.size();
  return keys_.size() - 1;
}

void OracleAccumulator::fold(Wide key, const Judged& value) {
  const std::size_t index = index_of(key);
  const bool first =
      visited_[index] == 0 && neutral_ && fold_ != Monoid::logical_or && fold_ != Monoid::logical_and;
  values_[index] = first ? value : client::fold(fold_, values_[index], value);
  visited_[index] += 1;
}

Judged OracleAccumulator::unvisited(const Judged& background, double points) const {
  const Judged all = repeated(fold_, background, points);
  return neutral_ ? all : client::fold(fold_, start_, all);
}

std::shared_ptr<const OracleTensor> OracleAccumulator::finish(const Judged& background, double points,
                                                              bool all_visited) && {
  for (std::size_t index = 0; index < values_.size() && !all_visited; ++index) {
    const double rest = points - visited_[index];
    if (visited_[index] == 0) {
      values_[index] = unvisited(background, points);
    } else if (rest > 0) {
      values_[index] = client::fold(fold_, values_[index], repeated(fold_, background, rest));
    }
  }
  if (store_ == Store::dense) return OracleTensor::computed_dense(std::move(extents_), std::move(values_));
  std::vector<std::size_t> order(keys_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys_[a] < keys_[b]; });
  std::vector<Wide> keys;
  std::vector<Judged> values;
  for (const std::size_t index : order) {
    keys.push_back(keys_[index]);
    values.push_back(values_[index]);
  }
  const Judged elsewhere = all_visited ? start_ : unvisited(background, points);
  return OracleTensor::computed_entries(std::move(extents_), std::move(keys), std::move(values), elsewhere);
}

}  // namespace schaas::client
