#include <cmath>
#include <limits>

#include "schaas/oracle.h"
#include "tensor_checks.h"

namespace schaas::client {
namespace {

double error_of(double actual, double expected, double magnitude) {
  if (std::isnan(expected)) return std::isnan(actual) ? 0 : std::numeric_limits<double>::infinity();
  if (actual == expected) return 0;
  const double difference = std::fabs(actual - expected);
  if (std::isnan(difference) || magnitude == 0) return std::numeric_limits<double>::infinity();
  return difference / magnitude;
}

}  // namespace

support::Result<Comparison> compare(const DenseTensor& actual, const Expected& expected) {
  if (actual.extents != expected.values.extents) {
    return support::invalid("extent-mismatch", "the result has shape " + shape_text(actual.extents) +
                                                   ", expected " + shape_text(expected.values.extents));
  }
  Comparison comparison;
  comparison.checked = actual.size();
  for (std::int64_t e = 0; e < comparison.checked; ++e) {
    const double error = error_of(actual.at(e), expected.values.at(e), expected.magnitudes.at(e));
    if (error > comparison.max_relative_error) {
      comparison.max_relative_error = error;
      comparison.worst = e;
    }
  }
  return comparison;
}

double tolerance(ValueType type) { return type == ValueType::f64 ? 1e-10 : 1e-4; }

}  // namespace schaas::client
