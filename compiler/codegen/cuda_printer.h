#pragma once
#include <string>

#include "compiler/codegen/c_printer.h"
#include "compiler/loop_ir/kernel.h"

namespace schaas::codegen {

/// CUDA C++ (C++17) of a kernel whose phases have units, for proto/gpu_abi.h, self-contained: one function of
/// the device for each phase, `<prefix>phase_0`, and the host half, which exports the one symbol of the label
/// (KernelLabel::symbol; for "schaas_kernel", the default, SCHAAS_GPU_SYMBOL). The host half alone is what is
/// left where neither __CUDACC__ nor SCHAAS_EMULATION is defined, and is C as well as C++. `kernel` has been
/// verified (loop_ir/verifier.h).
std::string print_cuda(const loop_ir::Kernel& kernel, const KernelLabel& label);

}  // namespace schaas::codegen
