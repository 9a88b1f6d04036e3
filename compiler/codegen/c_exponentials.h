#pragma once
#include <string_view>

namespace schaas::codegen {

/// exp, tanh and sigmoid of the C prologue: value_exp, vec_tanh, ... Needs vector_function_declarations()
/// above it, and `value_word`, the unsigned integer as wide as `value`.
///
/// Algorithm: x = n * log 2 + r with |r| <= log(2) / 2. The Taylor series up to r^13 (f32: r^7) gives
/// exp(r) - 1 with a remainder below a quarter of the last digit's unit (ulp). For y = 2 |x|,
/// tanh |x| = (exp(y) - 1) / (exp(y) + 1), with the numerator from the same series. There is no branch and no
/// table, so that loops over entries become vector code. One value takes the same operations as each lane of
/// a register: a result does not depend on its position in a row. A vector library would call libm for
/// remainders, with other results. Errors are at most 1.1 ulp for exp and 3 ulp for tanh
/// (tests/property/exponentials_test.cc). Without fused multiply-add libm is faster and is called.
std::string_view exponential_declarations();

}  // namespace schaas::codegen
