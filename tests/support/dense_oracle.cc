#include "tests/support/dense_oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace schaas::test_support {
namespace {

using Point = std::map<std::string, std::int64_t>;

std::vector<std::int64_t> coordinates(const index_notation::Access& access, const Point& point) {
  std::vector<std::int64_t> out;
  for (const auto& index : access.indices) out.push_back(point.at(index));
  return out;
}

double value_at(const index_notation::Expression& expression,
                const std::map<std::string, DenseTensor>& operands, const Point& point) {
  if (const auto* access = std::get_if<index_notation::Access>(&expression.node)) {
    const DenseTensor& tensor = operands.at(access->tensor);
    return tensor.values.at(offset(tensor.extents, coordinates(*access, point)));
  }
  double product = 1;
  for (const auto& factor : std::get<index_notation::Product>(expression.node).factors) {
    product *= value_at(factor, operands, point);
  }
  return product;
}

/// The next point in lexicographic order; false after the last.
bool advance(Point& point, const Extents& extents) {
  for (auto& [index, value] : point) {
    if (++value < extents.at(index)) return true;
    value = 0;
  }
  return false;
}

}  // namespace

DenseTensor zeros(std::vector<std::int64_t> extents) {
  std::size_t size = 1;
  for (const auto extent : extents) size *= static_cast<std::size_t>(extent);
  return {std::move(extents), std::vector<double>(size, 0.0)};
}

std::size_t offset(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& coordinates) {
  std::int64_t out = 0;
  for (std::size_t mode = 0; mode < extents.size(); ++mode) {
    if (coordinates[mode] < 0 || coordinates[mode] >= extents[mode]) throw std::out_of_range("coordinate");
    out = out * extents[mode] + coordinates[mode];
  }
  return static_cast<std::size_t>(out);
}

Evaluated evaluate(const index_notation::Assignment& statement,
                   const std::map<std::string, DenseTensor>& operands, const Extents& extents) {
  Point point;
  bool empty = false;
  for (const auto& [index, extent] : extents) {
    point[index] = 0;
    empty = empty || extent == 0;
  }
  std::vector<std::int64_t> result_extents;
  for (const auto& index : statement.result.indices) result_extents.push_back(extents.at(index));
  Evaluated out{zeros(result_extents), zeros(result_extents)};
  if (empty) return out;
  do {
    const double term = value_at(statement.value, operands, point);
    const std::size_t at = offset(result_extents, coordinates(statement.result, point));
    out.value.values[at] += term;
    out.magnitude.values[at] += std::abs(term);
  } while (advance(point, extents));
  return out;
}

double relative_error(const DenseTensor& got, const Evaluated& want) {
  if (got.extents != want.value.extents || got.values.size() != want.value.values.size()) {
    return std::numeric_limits<double>::infinity();
  }
  double worst = 0;
  for (std::size_t n = 0; n < got.values.size(); ++n) {
    const double difference = std::abs(got.values[n] - want.value.values[n]);
    if (difference == 0) continue;
    const double error = difference / want.magnitude.values[n];
    if (!(error <= std::numeric_limits<double>::max())) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, error);
  }
  return worst;
}

}  // namespace schaas::test_support
