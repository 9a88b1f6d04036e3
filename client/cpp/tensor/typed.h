#pragma once
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
  }
  SCHAAS_CHECK(false, "a value type without a case");
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
  } else {
    return static_cast<Value>(number);
  }
}

}  // namespace schaas::client
