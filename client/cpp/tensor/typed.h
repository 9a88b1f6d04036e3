#pragma once
#include <array>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "compiler/support/result.h"
#include "schaas/tensor.h"

namespace schaas::client {

/// A number of bf16: computed with as float, stored in 16 bits.
struct Bfloat16 {
  std::uint16_t bits = 0;
  Bfloat16() = default;
  template <class Number>
  explicit Bfloat16(Number number) : bits(operators::bfloat16_bits(static_cast<float>(number))) {}
  operator float() const { return operators::of_bfloat16(bits); }
  Bfloat16& operator+=(Bfloat16 other) { return *this = Bfloat16(float{*this} + float{other}); }
};

/// A number of f16: computed with as float, stored in 16 bits.
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  template <class Number>
  explicit Half(Number number) : bits(operators::half_bits(static_cast<double>(number))) {}
  operator float() const { return operators::of_half(bits); }
  Half& operator+=(Half other) { return *this = Half(float{*this} + float{other}); }
};

/// Calls `work` with a zero of the type of C++ that holds such values, so that it is compiled for each.
template <class Work>
decltype(auto) for_type(ValueType type, Work&& work) {
  switch (type) {
    case ValueType::f64:
      return std::forward<Work>(work)(double{});
    case ValueType::f32:
      return std::forward<Work>(work)(float{});
    case ValueType::i64:
      return std::forward<Work>(work)(std::int64_t{});
    case ValueType::i32:
      return std::forward<Work>(work)(std::int32_t{});
    case ValueType::bf16:
      return std::forward<Work>(work)(Bfloat16{});
    case ValueType::f16:
      return std::forward<Work>(work)(Half{});
    case ValueType::i8:
      return std::forward<Work>(work)(std::int8_t{});
    case ValueType::i16:
      return std::forward<Work>(work)(std::int16_t{});
    case ValueType::u8:
      return std::forward<Work>(work)(std::uint8_t{});
    case ValueType::u16:
      return std::forward<Work>(work)(std::uint16_t{});
    case ValueType::u32:
      return std::forward<Work>(work)(std::uint32_t{});
    case ValueType::u64:
      return std::forward<Work>(work)(std::uint64_t{});
    case ValueType::boolean:
      return std::forward<Work>(work)(bool{});
    case ValueType::c64:
      return std::forward<Work>(work)(std::complex<float>{});
    case ValueType::c128:
      return std::forward<Work>(work)(std::complex<double>{});
  }
  SCHAAS_CHECK(false, "a value type without a case");
}

/// A value that is moved as it is, whatever its type.
template <std::size_t bytes>
struct Word {
  alignas(bytes < 8 ? bytes : 8) std::array<char, bytes> bits;
};

/// Calls `work` with a word as wide as values of the type, so that what only moves values is compiled for
/// each width.
template <class Work>
decltype(auto) for_width(ValueType type, Work&& work) {
  switch (bytes_of(type)) {
    case 1:
      return std::forward<Work>(work)(Word<1>{});
    case 2:
      return std::forward<Work>(work)(Word<2>{});
    case 4:
      return std::forward<Work>(work)(Word<4>{});
    case 8:
      return std::forward<Work>(work)(Word<8>{});
    case 16:
      return std::forward<Work>(work)(Word<16>{});
  }
  SCHAAS_CHECK(false, "a width without a case");
}

template <class Value>
constexpr bool is_complex_number =
    std::is_same_v<Value, std::complex<float>> || std::is_same_v<Value, std::complex<double>>;

/// The real part of a number in double, and its imaginary part.
template <class Value>
double real_part(const Value& number) {
  if constexpr (is_complex_number<Value>) {
    return static_cast<double>(number.real());
  } else {
    return static_cast<double>(number);
  }
}
/// The real part in its own type, which casts to others take.
template <class Value>
auto real_part_or_integer(const Value& number) {
  if constexpr (is_complex_number<Value>) {
    return number.real();
  } else {
    return number;
  }
}
template <class Value>
double imaginary_part(const Value& number) {
  if constexpr (is_complex_number<Value>) {
    return static_cast<double>(number.imag());
  } else {
    return 0;
  }
}

/// The type of values that integers of C++ hold.
template <class Integer>
constexpr ValueType integer_type() {
  constexpr bool is_signed = std::is_signed_v<Integer>;
  if (std::is_same_v<Integer, bool>) return ValueType::boolean;
  switch (sizeof(Integer)) {
    case 1:
      return is_signed ? ValueType::i8 : ValueType::u8;
    case 2:
      return is_signed ? ValueType::i16 : ValueType::u16;
    case 4:
      return is_signed ? ValueType::i32 : ValueType::u32;
    default:
      return is_signed ? ValueType::i64 : ValueType::u64;
  }
}

/// The number as a value of that type; infinity as operators::integer_of has it.
template <class Value>
Value as_value(double number) {
  if constexpr (std::is_integral_v<Value>) {
    return static_cast<Value>(operators::integer_of(number, integer_type<Value>()));
  } else if constexpr (is_complex_number<Value>) {
    return Value(static_cast<typename Value::value_type>(number));
  } else {
    return static_cast<Value>(number);
  }
}

/// The integer as a value of that type.
template <class Value>
Value integer_as(std::int64_t integer) {
  if constexpr (is_complex_number<Value>) {
    return Value(static_cast<typename Value::value_type>(integer));
  } else {
    return static_cast<Value>(integer);
  }
}

/// The complex number as a value of that type, which has no imaginary part unless it is complex.
template <class Value>
Value as_value(std::complex<double> number) {
  if constexpr (is_complex_number<Value>) {
    return Value(number);
  } else {
    return as_value<Value>(number.real());
  }
}

/// Element of a tensor of a complex type or another, for types whose numbers double has.
inline std::complex<double> complex_at(const void* values, ValueType type, std::int64_t at) {
  return for_type(type, [&](auto zero) {
    const auto number = static_cast<const decltype(zero)*>(values)[at];
    return std::complex<double>(real_part(number), imaginary_part(number));
  });
}

}  // namespace schaas::client
