#pragma once
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "compiler/operators/value_type.h"
#include "proto/kernel_abi.h"

/// Values of tensors in memory as double, for tests whose integers double can tell.
namespace schaas::test_support {

inline std::size_t value_bytes(std::int32_t type) {
  return operators::bytes_of(static_cast<operators::ValueType>(type));
}

template <class Value>
double read_as(const void* values, std::int64_t n) {
  Value value;
  std::memcpy(&value, static_cast<const char*>(values) + n * static_cast<std::int64_t>(sizeof value),
              sizeof value);
  // The extremes of integers stand for infinity, but 0 and truth values for themselves.
  using Range = std::numeric_limits<Value>;
  if (Range::is_integer && !std::is_same_v<Value, bool>) {
    if (value == Range::max()) return HUGE_VAL;
    if (Range::is_signed && value == Range::min()) return -HUGE_VAL;
  }
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

/// Calls `work` with a zero of the type of C++; not for types of 16 bits that are computed with as float.
template <class Work>
auto with_type(std::int32_t type, Work work) {
  switch (type) {
    case SCHAAS_F32:
      return work(float{});
    case SCHAAS_I64:
      return work(std::int64_t{});
    case SCHAAS_I32:
      return work(std::int32_t{});
    case SCHAAS_I16:
      return work(std::int16_t{});
    case SCHAAS_I8:
      return work(std::int8_t{});
    case SCHAAS_U64:
      return work(std::uint64_t{});
    case SCHAAS_U32:
      return work(std::uint32_t{});
    case SCHAAS_U16:
      return work(std::uint16_t{});
    case SCHAAS_U8:
      return work(std::uint8_t{});
    case SCHAAS_BOOL:
      return work(bool{});
    default:
      return work(double{});
  }
}

/// The real part of a complex number; one with an imaginary part is told as no number.
template <class Part>
double read_complex(const void* values, std::int64_t n) {
  return read_as<Part>(values, 2 * n + 1) == 0 ? read_as<Part>(values, 2 * n) : std::nan("");
}

template <class Part>
void write_complex(void* values, std::int64_t n, double number) {
  write_as<Part>(values, 2 * n, number);
  write_as<Part>(values, 2 * n + 1, 0);
}

inline double read_number(const void* values, std::int32_t type, std::int64_t n) {
  if (type == SCHAAS_C64) return read_complex<float>(values, n);
  if (type == SCHAAS_C128) return read_complex<double>(values, n);
  if (type == SCHAAS_BF16) {
    const char halves[4] = {0, 0, static_cast<const char*>(values)[2 * n],
                            static_cast<const char*>(values)[2 * n + 1]};
    return read_as<float>(halves, 0);
  }
  if (type == SCHAAS_F16) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, static_cast<const char*>(values) + 2 * n, 2);
    return static_cast<double>(operators::of_half(bits));
  }
  return with_type(type, [&](auto zero) { return read_as<decltype(zero)>(values, n); });
}

inline void write_number(void* values, std::int32_t type, std::int64_t n, double number) {
  if (type == SCHAAS_C64) return write_complex<float>(values, n, number);
  if (type == SCHAAS_C128) return write_complex<double>(values, n, number);
  if (type == SCHAAS_BF16) {  // numbers of tests need no rounding
    const auto narrow = static_cast<float>(number);
    std::memcpy(static_cast<char*>(values) + 2 * n, reinterpret_cast<const char*>(&narrow) + 2, 2);
    return;
  }
  if (type == SCHAAS_F16) {
    const std::uint16_t bits = operators::half_bits(number);
    std::memcpy(static_cast<char*>(values) + 2 * n, &bits, 2);
    return;
  }
  with_type(type, [&](auto zero) { write_as<decltype(zero)>(values, n, number); });
}

/// A number with its imaginary part, which is 0 in types without one.
inline std::complex<double> read_complex_number(const void* values, std::int32_t type, std::int64_t n) {
  if (type == SCHAAS_C64) return {read_as<float>(values, 2 * n), read_as<float>(values, 2 * n + 1)};
  if (type == SCHAAS_C128) return {read_as<double>(values, 2 * n), read_as<double>(values, 2 * n + 1)};
  return read_number(values, type, n);
}

inline void write_complex_number(void* values, std::int32_t type, std::int64_t n,
                                 std::complex<double> number) {
  write_number(values, type, n, number.real());
  if (type == SCHAAS_C64) write_as<float>(values, 2 * n + 1, number.imag());
  if (type == SCHAAS_C128) write_as<double>(values, 2 * n + 1, number.imag());
}

}  // namespace schaas::test_support
