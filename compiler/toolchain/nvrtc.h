#pragma once
#include <string>

#include "compiler/support/result.h"

/// NVRTC, NVIDIA's compiler for GPUs as a library: what a system has that runs GPU programs but has no nvcc.
/// It is found at run time; nothing is linked. For a process of its own (schaas-nvrtc): it works for seconds
/// in the memory of whoever calls it. https://docs.nvidia.com/cuda/nvrtc
namespace schaas::toolchain {

/// As it stands in the identity of a toolchain: "NVRTC 13.0". Errors: unsupported [no-cuda], with the names
/// that were looked for.
support::Result<std::string> nvrtc_version();

/// Compiles the device half of `source` to a module: a cubin for "sm_80", PTX for "compute_90". The source is
/// CUDA C++ that defines device functions under __CUDACC__ and omits its host half under __CUDACC_RTC__.
/// Errors: unsupported [no-cuda]; internal [compiler-failed] with the compiler's log as notes.
support::Result<std::string> nvrtc_compile(const std::string& source, const std::string& architecture);

}  // namespace schaas::toolchain
