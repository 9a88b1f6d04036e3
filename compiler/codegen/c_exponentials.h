#pragma once
#include <string_view>

namespace schaas::codegen {

/// exp, tanh and sigmoid of the C prologue: value_exp, vec_tanh, ... Needs vector_function_declarations()
/// above it, and `value_word`, the unsigned integer as wide as `value`.
///
/// Algorithm: x = n * log 2 + r with |r| <= log(2) / 2, and exp(r) - 1 by its Taylor series up to r^13 (f32:
/// r^7), whose rest is below a quarter of the last place; tanh |x| = (exp(2 |x|) - 1) / (exp(2 |x|) + 1), the
/// numerator from the same series. There is no branch and no table, and one value takes the same operations
/// as each lane of a register: loops over entries become vector code, and a result does not depend on its
/// place, as it would beside a vector library whose remainders call libm. Errors are at most 1.1 places for
/// exp, 3 for tanh (tests/property/exponentials_test.cc). Without fused multiply-add libm is faster and is
/// called.
std::string_view exponential_declarations();

}  // namespace schaas::codegen
