#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/operators/operators.h"

/// Types of values: those that tensors hold and kernels compute in. One table serves compiler and clients.
/// Floating point is that of IEEE 754. Integers are exact and wrap around on overflow, as in two's complement
/// and in numpy (docs/language.md).
namespace schaas::operators {

/// Numbers of kernels and tensors on the ABI (SCHAAS_F64, ... of proto/kernel_abi.h): append only.
enum class ValueType { f64, f32, i64, i32, bf16 };

struct ValueTypeFacts {
  ValueType type;
  const char* name;    ///< in requests, problem texts and loop IR: "f64"
  const char* numpy;   ///< type string of numpy arrays, little-endian: "<f8"
  const char* c_type;  ///< in which kernels store it: "double"
  const char* c_word;  ///< unsigned integer of C as wide as a value
  std::size_t bytes;
  bool is_integer;
  std::int64_t smallest, largest;  ///< range of an integer type; 0 of the others
};
const ValueTypeFacts& facts(ValueType type);
const std::vector<ValueTypeFacts>& value_types();  ///< in the order of their numbers

const char* name(ValueType type);
std::optional<ValueType> value_type_named(std::string_view name);
std::vector<std::string> value_type_names();  ///< in the order of their numbers
std::size_t bytes_of(ValueType type);
bool is_integer(ValueType type);
/// The type in which kernels compute and write their results: f32 for bf16, which operands alone have.
ValueType arithmetic_type(ValueType type);
bool runs_on_gpu(ValueType type);
/// Operands are stored in fewer bits than they are computed with.
bool is_narrow(ValueType type);
/// The nearest number of bf16, ties to even; the upper half of the bits of an f32.
std::uint16_t bfloat16_bits(float value);
float of_bfloat16(std::uint16_t bits);
/// Names of all types as a message lists them: "f64, f32, i64 or i32".
std::string value_type_choices();

/// Infinity becomes the largest or the smallest integer, which stand for it in semirings.
std::int64_t integer_of(double value, ValueType type);
/// The lowest bits that the integer type has.
std::int64_t wrapped(std::uint64_t bits, ValueType type);

/// Returns the function that multiplies in the semiring. Integer sums of min-plus and max-plus keep the
/// infinite zero, as floating-point ones do by themselves.
Function product_of(const Semiring& semiring, ValueType type);
/// True for functions that have a value among integers: all but quotients, powers and transcendental ones.
bool has_integer_values(Function function);

}  // namespace schaas::operators
