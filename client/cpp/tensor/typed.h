#pragma once
#include <cstdint>
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
  }
  SCHAAS_CHECK(false, "a value type without a case");
}

/// The number as a value of that type; infinity as operators::integer_of has it.
template <class Value>
Value as_value(double number) {
  if constexpr (std::is_integral_v<Value>)
    return static_cast<Value>(
        operators::integer_of(number, sizeof(Value) == 4 ? ValueType::i32 : ValueType::i64));
  return static_cast<Value>(number);
}

}  // namespace schaas::client
