#pragma once
#include <string>

#include "compiler/codegen/c_printer.h"
#include "compiler/loop_ir/kernel.h"

namespace schaas::codegen {

/// Prints the CUDA C++ (C++17) of a kernel whose phases have a thread mapping, for proto/gpu_abi.h,
/// self-contained. It has one device function for each phase, `<prefix>phase_0`, and the host half. The host
/// half exports the one symbol of the label (KernelLabel::symbol; for "schaas_kernel", the default,
/// SCHAAS_GPU_SYMBOL). Without __CUDACC__ and SCHAAS_EMULATION only the host half is compiled, as C or C++.
/// `kernel` must be verified (loop_ir/verifier.h).
std::string print_cuda(const loop_ir::Kernel& kernel, const KernelLabel& label);

}  // namespace schaas::codegen
