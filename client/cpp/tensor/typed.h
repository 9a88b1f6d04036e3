#pragma once
#include <cstdint>
#include <utility>

#include "compiler/support/result.h"
#include "schaas/tensor.h"

namespace schaas::client {

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
