#include "client/cpp/runtime/monoids.h"

#include <limits>
#include <type_traits>

#include "client/cpp/tensor/typed.h"
#include "proto/kernel_abi.h"

// The monoids of privatised reductions and partial results. Loops are templates over type and operator, so
// that each is compiled, and vectorised, alone. The operator is chosen once per call.
namespace schaas::client {
namespace {

/// Integers wrap around: they are added and multiplied as unsigned ones.
template <class T>
auto word(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return static_cast<unsigned>(value);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<std::make_unsigned_t<T>>(value);
  } else {
    return value;
  }
}

template <class T>
bool is_less(const T& a, const T& b) {
  if constexpr (is_complex_number<T>) {
    return a.real() < b.real();
  } else {
    return a < b;
  }
}

template <class T, class Combine>
void fold_each(T* into, const T* from, std::int64_t begin, std::int64_t end, Combine combine) {
  for (std::int64_t e = begin; e < end; ++e) into[e] = combine(into[e], from[e]);
}

template <class T>
void fold_typed(std::int32_t monoid, T* into, const T* from, std::int64_t begin, std::int64_t end) {
  switch (monoid) {
    case SCHAAS_FOLD_SUM:
      return fold_each(into, from, begin, end, [](T a, T b) { return static_cast<T>(word(a) + word(b)); });
    case SCHAAS_FOLD_PRODUCT:
      return fold_each(into, from, begin, end, [](T a, T b) { return static_cast<T>(word(a) * word(b)); });
    // The target's value stays when the numbers are equal or not comparable. Complex ones have no
    // imaginary part where they are ordered.
    case SCHAAS_FOLD_MIN:
      return fold_each(into, from, begin, end, [](T a, T b) { return is_less(b, a) ? b : a; });
    case SCHAAS_FOLD_MAX:
      return fold_each(into, from, begin, end, [](T a, T b) { return is_less(a, b) ? b : a; });
    case SCHAAS_FOLD_OR:
      return fold_each(into, from, begin, end, [](T a, T b) { return T(a != T{} || b != T{}); });
    default:
      return fold_each(into, from, begin, end, [](T a, T b) { return T(a != T{} && b != T{}); });
  }
}

}  // namespace

// An array that is set to the identity changes nothing when it is folded.
double identity_of(std::int32_t monoid) {
  switch (monoid) {
    case SCHAAS_FOLD_PRODUCT:
    case SCHAAS_FOLD_AND:
      return 1;
    case SCHAAS_FOLD_MIN:
      return std::numeric_limits<double>::infinity();
    case SCHAAS_FOLD_MAX:
      return -std::numeric_limits<double>::infinity();
    default:
      return 0;
  }
}

void fold_values(std::int32_t monoid, ValueType type, void* into, const void* from, std::int64_t begin,
                 std::int64_t end) {
  for_type(type, [&](auto zero) {
    using Value = decltype(zero);
    fold_typed(monoid, static_cast<Value*>(into), static_cast<const Value*>(from), begin, end);
  });
}

}  // namespace schaas::client
