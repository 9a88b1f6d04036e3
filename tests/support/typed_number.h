#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "proto/kernel_abi.h"

/// Values of tensors in memory as double, for tests whose integers double can tell.
namespace schaas::test_support {

inline std::size_t value_bytes(std::int32_t type) {
  if (type == SCHAAS_BF16) return 2;
  return type == SCHAAS_F32 || type == SCHAAS_I32 ? 4 : 8;
}

template <class Value>
double read_as(const void* values, std::int64_t n) {
  Value value;
  std::memcpy(&value, static_cast<const char*>(values) + n * static_cast<std::int64_t>(sizeof value),
              sizeof value);
  // The extremes of integers stand for infinity.
  using Range = std::numeric_limits<Value>;
  if (Range::is_integer && (value == Range::max() || value == Range::min()))
    return value < 0 ? -HUGE_VAL : HUGE_VAL;
  return static_cast<double>(value);
}

template <class Value>
void write_as(void* values, std::int64_t n, double number) {
  using Range = std::numeric_limits<Value>;
  Value value{};
  if (Range::is_integer && !std::isfinite(number)) {
    value = number > 0 ? Range::max() : Range::min();  // what is no number becomes the smallest
  } else {
    value = static_cast<Value>(number);
  }
  std::memcpy(static_cast<char*>(values) + n * static_cast<std::int64_t>(sizeof value), &value, sizeof value);
}

inline double read_number(const void* values, std::int32_t type, std::int64_t n) {
  switch (type) {
    case SCHAAS_F32:
      return read_as<float>(values, n);
    case SCHAAS_BF16: {
      const char halves[4] = {0, 0, static_cast<const char*>(values)[2 * n],
                              static_cast<const char*>(values)[2 * n + 1]};
      return read_as<float>(halves, 0);
    }
    case SCHAAS_I64:
      return read_as<std::int64_t>(values, n);
    case SCHAAS_I32:
      return read_as<std::int32_t>(values, n);
    default:
      return read_as<double>(values, n);
  }
}

inline void write_number(void* values, std::int32_t type, std::int64_t n, double number) {
  switch (type) {
    case SCHAAS_F32:
      return write_as<float>(values, n, number);
    case SCHAAS_BF16: {  // numbers of tests need no rounding
      const auto narrow = static_cast<float>(number);
      std::memcpy(static_cast<char*>(values) + 2 * n, reinterpret_cast<const char*>(&narrow) + 2, 2);
      return;
    }
    case SCHAAS_I64:
      return write_as<std::int64_t>(values, n, number);
    case SCHAAS_I32:
      return write_as<std::int32_t>(values, n, number);
    default:
      return write_as<double>(values, n, number);
  }
}

}  // namespace schaas::test_support
