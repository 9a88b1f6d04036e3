#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "client/cpp/oracle/oracle_arithmetic.h"
#include "client/cpp/oracle/oracle_tensor.h"
#include "client/cpp/tensor/tensor_checks.h"
#include "schaas/oracle.h"

namespace schaas::client {
namespace {

// Beyond the numbers of the type there are infinity and zero.
bool out_of_range(double actual, double expected, ValueType type) {
  if (part_type(type) != ValueType::f32) return false;
  const double largest = std::numeric_limits<float>::max();
  if (std::isinf(actual)) return std::fabs(expected) > largest && (actual > 0) == (expected > 0);
  return std::fabs(actual - expected) < static_cast<double>(std::numeric_limits<float>::min());
}

/// A value; `integer` of integer types alone.
struct Number {
  std::complex<double> value;
  std::int64_t integer = 0;
};

Number number_of(double value, ValueType type) {
  return {value, is_integer(type) ? operators::integer_of(value, type) : 0};
}

Number number_at(const DenseTensor& tensor, std::int64_t linear) {
  return {tensor.complex_at(linear), is_integer(tensor.value_type) ? tensor.integer_at(linear) : 0};
}

class Worst {
 public:
  explicit Worst(ValueType type) : type_(type) {}

  void see(Wide position, Number actual, Number expected, double magnitude) {
    const double error = error_of(actual, expected, magnitude);
    if (error <= found.max_relative_error) return;
    found.max_relative_error = error;
    found.worst = static_cast<std::int64_t>(position);
  }

  Comparison found;

 private:
  double error_of(Number actual_number, Number expected_number, double magnitude) const {
    if (is_integer(type_)) return actual_number.integer == expected_number.integer ? 0 : infinity;
    if (is_complex(type_)) return complex_error(actual_number.value, expected_number.value, magnitude);
    const double actual = actual_number.value.real(), expected = expected_number.value.real();
    if (actual == expected || std::isinf(magnitude)) return 0;
    if (std::isnan(expected)) return std::isnan(actual) ? 0 : infinity;
    const double difference = std::fabs(actual - expected);
    if (std::isnan(difference) || magnitude == 0) return infinity;
    return out_of_range(actual, expected, type_) ? 0 : difference / magnitude;
  }

  /// Parts that are infinite or no number must meet such.
  double complex_error(std::complex<double> actual, std::complex<double> expected, double magnitude) const {
    const auto finite = [](std::complex<double> z) {
      return std::isfinite(z.real()) && std::isfinite(z.imag());
    };
    if (actual == expected || std::isinf(magnitude)) return 0;
    if (!finite(expected)) return finite(actual) ? infinity : 0;
    if (!finite(actual) || magnitude == 0)
      return finite(actual) || !out_of_range(infinity, std::abs(expected), type_) ? infinity : 0;
    const double difference = std::abs(actual - expected);
    return out_of_range(difference, 0, type_) ? 0 : difference / magnitude;
  }

  ValueType type_;
};

/// Numbered entries in ascending order; everything between has the background.
struct NumberedEntries {
  std::vector<Wide> keys;
  std::vector<Number> values;
  std::vector<double> magnitudes;  ///< by entry, for expected values only
  Number background{};
  double background_magnitude = 0;
};

NumberedEntries numbered(const CooTensor& entries, const std::vector<double>& magnitudes) {
  const std::vector<Wide> strides = row_major_strides(entries.extents);
  std::vector<Wide> keys(entries.entries(), 0);
  for (int m = 0; m < entries.order(); ++m) {
    for (std::size_t e = 0; e < keys.size(); ++e)
      keys[e] += strides[static_cast<std::size_t>(m)] *
                 static_cast<Wide>(entries.coordinates[static_cast<std::size_t>(m)][e]);
  }
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  NumberedEntries out;
  for (const std::size_t e : order) {
    out.keys.push_back(keys[e]);
    out.values.push_back({entries.complex_at(e), is_integer(entries.value_type) ? entries.integers[e] : 0});
    if (!magnitudes.empty()) out.magnitudes.push_back(magnitudes[e]);
  }
  return out;
}

support::Result<void> check_equal_extents(const std::vector<std::int64_t>& actual,
                                          const std::vector<std::int64_t>& expected) {
  if (actual == expected) return {};
  return support::invalid(
      "extent-mismatch", "the result has shape " + shape_text(actual) + ", expected " + shape_text(expected));
}

// `actual` entries against every expected value.
Comparison against_dense(const NumberedEntries& actual, const Expected& expected, ValueType type) {
  Worst worst(type);
  worst.found.checked = expected.values.size();
  std::size_t next = 0;
  for (std::int64_t e = 0; e < expected.values.size(); ++e) {
    const bool stored = next < actual.keys.size() && actual.keys[next] == static_cast<Wide>(e);
    worst.see(static_cast<Wide>(e), stored ? actual.values[next] : actual.background,
              number_at(expected.values, e), expected.magnitudes.at(e));
    next += stored ? 1 : 0;
  }
  return worst.found;
}

// Every actual value against expected entries.
Comparison of_dense(const DenseTensor& actual, const NumberedEntries& expected) {
  Worst worst(actual.value_type);
  worst.found.checked = actual.size();
  std::size_t next = 0;
  for (std::int64_t e = 0; e < actual.size(); ++e) {
    const bool stored = next < expected.keys.size() && expected.keys[next] == static_cast<Wide>(e);
    worst.see(static_cast<Wide>(e), number_at(actual, e),
              stored ? expected.values[next] : expected.background,
              stored ? expected.magnitudes[next] : expected.background_magnitude);
    next += stored ? 1 : 0;
  }
  return worst.found;
}

// Entries of either, and one that neither has.
Comparison of_entries(const NumberedEntries& actual, const NumberedEntries& expected, Wide elements,
                      ValueType type) {
  Worst worst(type);
  std::size_t a = 0, b = 0;
  Wide seen = 0;
  for (; a < actual.keys.size() || b < expected.keys.size(); ++seen) {
    const bool has_a =
        a < actual.keys.size() && (b == expected.keys.size() || actual.keys[a] <= expected.keys[b]);
    const bool has_b =
        b < expected.keys.size() && (a == actual.keys.size() || expected.keys[b] <= actual.keys[a]);
    worst.see(has_a ? actual.keys[a] : expected.keys[b], has_a ? actual.values[a] : actual.background,
              has_b ? expected.values[b] : expected.background,
              has_b ? expected.magnitudes[b] : expected.background_magnitude);
    a += has_a ? 1 : 0;
    b += has_b ? 1 : 0;
  }
  if (seen < elements) worst.see(0, actual.background, expected.background, expected.background_magnitude);
  worst.found.checked = static_cast<std::int64_t>(seen);
  return worst.found;
}

NumberedEntries numbered(const Expected::Entries& entries) {
  NumberedEntries out = numbered(entries.values, entries.magnitudes);
  out.background = number_of(entries.background, entries.values.value_type);
  out.background_magnitude = entries.background_magnitude;
  return out;
}

}  // namespace

support::Result<Comparison> compare(const DenseTensor& actual, const Expected& expected) {
  if (expected.entries) {
    SCHAAS_RETURN_IF_ERROR(check_equal_extents(actual.extents, expected.entries->values.extents));
    return of_dense(actual, numbered(*expected.entries));
  }
  SCHAAS_RETURN_IF_ERROR(check_equal_extents(actual.extents, expected.values.extents));
  Worst worst(actual.value_type);
  worst.found.checked = actual.size();
  for (std::int64_t e = 0; e < actual.size(); ++e)
    worst.see(static_cast<Wide>(e), number_at(actual, e), number_at(expected.values, e),
              expected.magnitudes.at(e));
  return worst.found;
}

support::Result<Comparison> compare(const PackedTensor& actual, const Expected& expected) {
  if (actual.format().all_dense()) {
    SCHAAS_ASSIGN_OR_RETURN(const DenseTensor dense, to_dense(actual));
    return compare(dense, expected);
  }
  SCHAAS_RETURN_IF_ERROR(check_equal_extents(
      actual.extents(), expected.entries ? expected.entries->values.extents : expected.values.extents));
  NumberedEntries found = numbered(unpack(actual), {});
  found.background = number_of(actual.fill_value(), actual.value_type());
  for (std::size_t e = 1; e < found.keys.size(); ++e) {
    if (found.keys[e] == found.keys[e - 1])
      return support::internal("duplicate-entry", "the result stores the same element twice");
  }
  if (!expected.entries) return against_dense(found, expected, actual.value_type());
  Wide elements = 1;
  for (const std::int64_t extent : actual.extents()) elements *= static_cast<Wide>(extent);
  return of_entries(found, numbered(*expected.entries), elements, actual.value_type());
}

double tolerance(ValueType type) {
  if (is_integer(type)) return 0;
  return part_type(type) == ValueType::f64 ? 1e-10 : 1e-4;
}

}  // namespace schaas::client
