#pragma once
#include <memory>
#include <string>
#include <vector>

#include "compiler/problem/problem.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"
#include "compiler/toolchain/toolchain.h"
#include "tests/support/kernel_runner.h"

/// Kernels for GPUs without one: their CUDA sources, compiled by the C++ compiler against cuda_emulation.h.
namespace schaas::test_support {

/// The CUDA C++ of a schedule, through every stage and its verifier. `text`: what it says of its problem.
support::Result<std::string> cuda_source_of(const schedule::Trace& trace, const problem::Problem& problem,
                                            const std::string& text = "");

/// One text of many, each in a namespace of its own with symbols numbered in order.
std::string join_cuda_sources(const std::vector<std::string>& sources);

/// Each runs on the host, by the kernel ABI of the CPU, its threads in step.
support::Result<std::vector<LoadedKernel>> emulated_batch(const std::vector<std::string>& sources);

/// The bytes of one as the CUDA toolchain makes it, but that its device code is emulated, behind `launch`,
/// and its modules are the texts "module sm_80", "module sm_90", "module compute_90". `text`: of the problem.
support::Result<std::string> emulated_object(const schedule::Trace& trace, const problem::Problem& problem,
                                             const std::string& text);

/// The same of a source that codegen::print_cuda made.
support::Result<std::string> emulated_object(std::string source);
/// Compiles for the CPU as `c` does, and for GPUs to objects whose device code is emulated.
std::unique_ptr<toolchain::Toolchain> make_emulating_toolchain(std::unique_ptr<toolchain::Toolchain> c);

/// "" or what nvcc says against the joined sources: cubins for sm_80 and sm_90 and PTX for compute_90.
std::string nvcc_error(const std::string& nvcc, const std::vector<std::string>& sources);
/// "" or what NVRTC says against one source, for one architecture; in a process of its own.
std::string nvrtc_error(const std::string& source, const std::string& architecture);
bool has_nvrtc();
/// Its path; "": none is installed.
std::string find_nvcc();

}  // namespace schaas::test_support
