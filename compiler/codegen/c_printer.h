#pragma once
#include <string>

#include "compiler/loop_ir/kernel.h"

namespace schaas::codegen {

/// What the generated kernel descriptor says about itself; strings are escaped as C literals.
struct KernelLabel {
  std::string key;       ///< kernel key, hexadecimal
  std::string schedule;  ///< trace text
  std::string isa;       ///< "x86-64-v2", "x86-64-v3", "x86-64-v4", ...
  std::string problem;   ///< canonical problem text
  /// The exported symbol. With another one every other definition is named after it too, so that texts of the
  /// same value type can be compiled as one unit.
  std::string symbol = "schaas_kernel";
};

/// C11 source of the kernel for proto/kernel_abi.h (self-contained: the needed declarations are printed in),
/// exporting the one symbol of the label. `kernel` has been verified (loop_ir/verifier.h). Uses GCC vector
/// types, which clang has too, and `omp simd`, which needs -fopenmp-simd and no OpenMP runtime; vector width
/// follows the predefined macros of the instruction set it is compiled for, so one text serves all. Functions
/// such as exp need libm at link time.
std::string print_c(const loop_ir::Kernel& kernel, const KernelLabel& label);

}  // namespace schaas::codegen
