#include "compiler/operators/value_type.h"

#include <bit>
#include <cmath>
#include <limits>

#include "compiler/support/result.h"

namespace schaas::operators {

const std::vector<ValueTypeFacts>& value_types() {
  using Long = std::numeric_limits<std::int64_t>;
  using Short = std::numeric_limits<std::int32_t>;
  static const std::vector<ValueTypeFacts> table = {
      {ValueType::f64, "f64", "<f8", "double", "uint64_t", 8, false, 0, 0},
      {ValueType::f32, "f32", "<f4", "float", "uint32_t", 4, false, 0, 0},
      {ValueType::i64, "i64", "<i8", "int64_t", "uint64_t", 8, true, Long::min(), Long::max()},
      {ValueType::i32, "i32", "<i4", "int32_t", "uint32_t", 4, true, Short::min(), Short::max()},
      {ValueType::bf16, "bf16", "<V2", "uint16_t", "uint16_t", 2, false, 0, 0},
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

ValueType arithmetic_type(ValueType type) { return type == ValueType::bf16 ? ValueType::f32 : type; }

bool runs_on_gpu(ValueType type) { return !is_integer(type); }

bool is_narrow(ValueType type) { return arithmetic_type(type) != type; }

std::uint16_t bfloat16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  // A NaN keeps a bit of its fraction: cut off, it might become infinite.
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
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

std::int64_t integer_of(double value, ValueType type) {
  const ValueTypeFacts& known = facts(type);
  if (value >= -static_cast<double>(known.smallest)) return known.largest;
  if (value <= static_cast<double>(known.smallest) || std::isnan(value)) return known.smallest;
  return static_cast<std::int64_t>(value);
}

std::int64_t wrapped(std::uint64_t bits, ValueType type) {
  return bytes_of(type) == 4 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(bits))
                             : static_cast<std::int64_t>(bits);
}

Function product_of(const Semiring& semiring, ValueType type) {
  if (!is_integer(type) || semiring.product != Function::add) return semiring.product;
  return semiring.zero > 0 ? Function::add_absorbing_largest : Function::add_absorbing_smallest;
}

bool has_integer_values(Function function) {
  return !is_costly(function) && function != Function::divide && function != Function::sqrt;
}

}  // namespace schaas::operators
