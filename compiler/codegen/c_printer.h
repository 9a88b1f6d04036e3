#pragma once
#include <string>

#include "compiler/loop_ir/kernel.h"

namespace schaas::codegen {

/// Register blocks of a vector loop. A kernel with few of them takes the C compiler less time, and walks the
/// loops inside a vector loop more often.
enum class Blocks { many, few };

/// Contents of the generated kernel descriptor; strings are escaped as C literals.
struct KernelLabel {
  std::string key;       ///< kernel key, hexadecimal
  std::string schedule;  ///< trace text
  std::string isa;       ///< "x86-64-v2", "x86-64-v3", "x86-64-v4", ...
  std::string problem;   ///< canonical problem text
  /// The exported symbol. Another one than the default also prefixes every other definition, so that texts of
  /// the same value type can be compiled as one unit.
  std::string symbol = "schaas_kernel";
  /// Lines at the top of the text, as comments for its readers.
  std::string banner{};
  Blocks blocks = Blocks::many;
};

/// Prints the C11 source of a kernel for proto/kernel_abi.h, self-contained, exporting the one symbol of the
/// label. `kernel` must be verified (loop_ir/verifier.h). Uses GCC vector types, which clang supports, and
/// `omp simd`, which needs -fopenmp-simd and no OpenMP runtime. Vector width follows the predefined macros of
/// the instruction set, so one text serves all. Functions such as exp need libm at link time.
std::string print_c(const loop_ir::Kernel& kernel, const KernelLabel& label);

}  // namespace schaas::codegen
