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
/// and in numpy (docs/language.md). Booleans count as integers of the range [0, 1]. Complex numbers are pairs
/// of a real and an imaginary part, as in C, C++ and numpy.
namespace schaas::operators {

/// Numbers of kernels and tensors on the ABI (SCHAAS_F64, ... of proto/kernel_abi.h): append only.
enum class ValueType { f64, f32, i64, i32, bf16, f16, i8, i16, u8, u16, u32, u64, boolean, c64, c128 };

struct ValueTypeFacts {
  ValueType type;
  const char* name;    ///< in requests, problem texts and loop IR: "f64"
  const char* numpy;   ///< type string of numpy arrays, little-endian: "<f8"
  const char* c_type;  ///< in which kernels store it: "double"
  const char* c_word;  ///< unsigned integer of C as wide as a value
  std::size_t bytes;
  bool is_integer;
  std::int64_t smallest;  ///< least integer; 0 where there is none
  std::uint64_t largest;  ///< greatest integer; 0 where there is none
  ValueType arithmetic;   ///< in which kernels compute with operands of the type
  ValueType part;  ///< type of the real and the imaginary part of complex numbers; else the type itself
};
const ValueTypeFacts& facts(ValueType type);
const std::vector<ValueTypeFacts>& value_types();  ///< in the order of their numbers

const char* name(ValueType type);
std::optional<ValueType> value_type_named(std::string_view name);
std::vector<std::string> value_type_names();  ///< in the order of their numbers
std::size_t bytes_of(ValueType type);
bool is_integer(ValueType type);
bool is_complex(ValueType type);
/// Type of the real and the imaginary part of complex numbers; of other types the type itself.
ValueType part_type(ValueType type);
/// Integers without a sign, booleans among them.
bool is_unsigned(ValueType type);
/// The type in which kernels compute and write their results: f32 for bf16 and f16, which operands alone
/// have.
ValueType arithmetic_type(ValueType type);
bool runs_on_gpu(ValueType type);
/// Operands are stored in fewer bits than they are computed with.
bool is_narrow(ValueType type);
/// Every number of the first type is one of the second, which has more bytes. So operands may be stored in
/// the first where kernels compute in the second.
bool widens_to(ValueType stored, ValueType computed);
/// The nearest number of bf16, ties to even; the upper half of the bits of an f32.
std::uint16_t bfloat16_bits(float value);
float of_bfloat16(std::uint16_t bits);
/// The nearest number of IEEE 754's binary16, ties to even.
std::uint16_t half_bits(double value);
float of_half(std::uint16_t bits);
/// Names of all types as a message lists them: "f64, f32, i64 or i32".
std::string value_type_choices();

// An integer of any type is held in 64 bits: one of u64 as the signed integer of the same bits.
/// Infinity becomes the largest or the smallest integer, which stand for it in semirings. Numbers but 0 are
/// true.
std::int64_t integer_of(double value, ValueType type);
/// The lowest bits that the integer type has; of booleans whether any is set.
std::int64_t wrapped(std::uint64_t bits, ValueType type);
/// The first integer of the type is smaller.
bool is_less(std::int64_t a, std::int64_t b, ValueType type);
/// The nearest double.
double real_of(std::int64_t integer, ValueType type);
/// The largest integer of the type, held in 64 bits.
std::int64_t largest_of(ValueType type);

/// Returns the function that multiplies in the semiring. Integer sums of min-plus and max-plus keep the
/// infinite zero, as floating-point ones do by themselves.
Function product_of(const Semiring& semiring, ValueType type);
/// True for functions that have a value among complex numbers: neither ordered nor transcendental ones.
bool has_complex_values(Function function);
/// True for functions that have a value among integers: all but quotients, powers and transcendental ones.
bool has_integer_values(Function function);

}  // namespace schaas::operators
