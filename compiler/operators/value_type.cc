#include "compiler/operators/value_type.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "compiler/support/result.h"

namespace schaas::operators {

const std::vector<ValueTypeFacts>& value_types() {
  using Long = std::numeric_limits<std::int64_t>;
  using enum ValueType;
  static const std::vector<ValueTypeFacts> table = {
      {f64, "f64", "<f8", "double", "uint64_t", 8, false, 0, 0, f64, f64},
      {f32, "f32", "<f4", "float", "uint32_t", 4, false, 0, 0, f32, f32},
      {i64, "i64", "<i8", "int64_t", "uint64_t", 8, true, Long::min(), INT64_MAX, i64, i64},
      {i32, "i32", "<i4", "int32_t", "uint32_t", 4, true, INT32_MIN, INT32_MAX, i32, i32},
      {bf16, "bf16", "<V2", "uint16_t", "uint16_t", 2, false, 0, 0, f32, bf16},
      {f16, "f16", "<f2", "uint16_t", "uint16_t", 2, false, 0, 0, f32, f16},
      {i8, "i8", "|i1", "int8_t", "uint8_t", 1, true, INT8_MIN, INT8_MAX, i8, i8},
      {i16, "i16", "<i2", "int16_t", "uint16_t", 2, true, INT16_MIN, INT16_MAX, i16, i16},
      {u8, "u8", "|u1", "uint8_t", "uint8_t", 1, true, 0, UINT8_MAX, u8, u8},
      {u16, "u16", "<u2", "uint16_t", "uint16_t", 2, true, 0, UINT16_MAX, u16, u16},
      {u32, "u32", "<u4", "uint32_t", "uint32_t", 4, true, 0, UINT32_MAX, u32, u32},
      {u64, "u64", "<u8", "uint64_t", "uint64_t", 8, true, 0, UINT64_MAX, u64, u64},
      {boolean, "bool", "|b1", "uint8_t", "uint8_t", 1, true, 0, 1, boolean, boolean},
      {c64, "c64", "<c8", "float _Complex", "uint64_t", 8, false, 0, 0, c64, f32},
      {c128, "c128", "<c16", "double _Complex", "uint64_t", 16, false, 0, 0, c128, f64},
  };
  return table;
}

const ValueTypeFacts& facts(ValueType type) { return value_types()[static_cast<std::size_t>(type)]; }

const char* name(ValueType type) { return facts(type).name; }

std::optional<ValueType> value_type_named(std::string_view name) {
  for (const auto& row : value_types()) {
    if (name == row.name) return row.type;
  }
  return std::nullopt;
}

std::vector<std::string> value_type_names() {
  std::vector<std::string> names;
  for (const auto& row : value_types()) names.emplace_back(row.name);
  return names;
}

std::size_t bytes_of(ValueType type) { return facts(type).bytes; }

bool is_integer(ValueType type) { return facts(type).is_integer; }

bool is_complex(ValueType type) { return part_type(type) != type; }

ValueType part_type(ValueType type) { return facts(type).part; }

bool is_unsigned(ValueType type) { return is_integer(type) && facts(type).smallest == 0; }

ValueType arithmetic_type(ValueType type) { return facts(type).arithmetic; }

bool runs_on_gpu(ValueType type) { return !is_integer(type) && !is_complex(type); }

bool is_narrow(ValueType type) { return arithmetic_type(type) != type; }

bool widens_to(ValueType stored, ValueType computed) {
  if (is_narrow(computed) || bytes_of(stored) >= bytes_of(computed)) return false;
  if (is_complex(computed)) {
    const ValueType part = part_type(computed);
    return is_complex(stored) || stored == part || widens_to(stored, part);
  }
  if (is_complex(stored)) return false;
  if (!is_integer(computed)) return !is_integer(stored) || 2 * bytes_of(stored) <= bytes_of(computed);
  return is_integer(stored) && (is_unsigned(stored) || !is_unsigned(computed));
}

std::uint16_t bfloat16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  // A NaN keeps a bit of its fraction: cut off, it might become infinite.
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

std::uint16_t half_bits(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double size = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7e00;
  if (size >= 65520) return sign | 0x7c00;  // halfway between the largest number and the next power of two
  if (size == 0) return sign;
  int exponent = 0;
  std::frexp(size, &exponent);
  // Numbers below 2^-14 are multiples of one quantum. A fraction that rounds up carries into the exponent.
  exponent = std::max(exponent - 1, -14);
  const auto quanta = static_cast<int>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  return static_cast<std::uint16_t>(sign | (((exponent + 14) << 10) + quanta));
}

float of_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float size = exponent == 31  ? fraction != 0 ? std::numeric_limits<float>::quiet_NaN()
                                                     : std::numeric_limits<float>::infinity()
                      : exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                     : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

float of_bfloat16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

std::string value_type_choices() {
  std::string text;
  for (const auto& row : value_types()) {
    const bool last = &row == &value_types().back();
    text += (text.empty() ? "" : last ? " or " : ", ") + std::string(row.name);
  }
  return text;
}

std::int64_t largest_of(ValueType type) { return static_cast<std::int64_t>(facts(type).largest); }

std::int64_t integer_of(double value, ValueType type) {
  if (type == ValueType::boolean) return value != 0 && !(value < 0 && std::isinf(value));
  const ValueTypeFacts& known = facts(type);
  // The largest of 64 bits are no doubles; the comparison is with the power of two above them.
  if (value >= static_cast<double>(known.largest)) return largest_of(type);
  if (value <= static_cast<double>(known.smallest) || std::isnan(value)) return known.smallest;
  return type == ValueType::u64 ? static_cast<std::int64_t>(static_cast<std::uint64_t>(value))
                                : static_cast<std::int64_t>(value);
}

std::int64_t wrapped(std::uint64_t bits, ValueType type) {
  if (type == ValueType::boolean) return bits != 0;
  const std::size_t unused = 64 - 8 * bytes_of(type);
  const std::uint64_t highest = bits << unused;
  return is_unsigned(type) ? static_cast<std::int64_t>(highest >> unused)
                           : static_cast<std::int64_t>(highest) >> unused;
}

bool is_less(std::int64_t a, std::int64_t b, ValueType type) {
  return type == ValueType::u64 ? static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b) : a < b;
}

double real_of(std::int64_t integer, ValueType type) {
  return type == ValueType::u64 ? static_cast<double>(static_cast<std::uint64_t>(integer))
                                : static_cast<double>(integer);
}

Function product_of(const Semiring& semiring, ValueType type) {
  if (!is_integer(type) || semiring.product != Function::add) return semiring.product;
  return semiring.zero > 0 ? Function::add_absorbing_largest : Function::add_absorbing_smallest;
}

bool has_complex_values(Function function) {
  switch (function) {
    case Function::add:
    case Function::subtract:
    case Function::multiply:
    case Function::divide:
    case Function::equal:
    case Function::not_equal:
    case Function::logical_and:
    case Function::logical_or:
    case Function::logical_not:
    case Function::where:
    case Function::negate:
    case Function::abs:
    case Function::conj:
    case Function::real:
    case Function::imag:
      return true;
    default:
      return false;
  }
}

bool has_integer_values(Function function) {
  return !is_costly(function) && function != Function::divide && function != Function::sqrt;
}

}  // namespace schaas::operators
