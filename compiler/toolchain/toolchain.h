#pragma once
#include <memory>
#include <string>
#include <vector>

#include "compiler/support/cancellation.h"
#include "compiler/support/instruction_set.h"
#include "compiler/support/result.h"

/// Source -> binary. All processes are started here.
namespace schaas::toolchain {

struct Target {
  /// Name of a row of support::instruction_sets(), or support::native_isa(). GPUs need a toolchain for them.
  std::string isa = support::default_isa;
  /// Baseline kernel: little code with little optimisation, compiled in a third of the time. Used until the
  /// full kernel is compiled.
  bool baseline = false;
};
/// Prints a target as in lists of kernels: "x86-64-v3", "x86-64-v3, draft".
std::string print(const Target& target);

/// Thread-safe.
class Toolchain {
 public:
  virtual ~Toolchain() = default;
  /// Identity for cache keys: compiler version and flags.
  virtual std::string identity(const Target& target) const = 0;
  /// Errors that `compile_c` has for this target whatever the source: [no-compiler], [compiler-start],
  /// [no-cuda], [isa].
  virtual support::Result<void> check(const Target&) const { return {}; }
  /// A shared object's bytes. Errors: internal [compiler-failed] (the generated code did not compile),
  /// exhausted [compiler-timeout], [source-size], unsupported [no-compiler] (says which package to install),
  /// [isa].
  virtual support::Result<std::string> compile_c(const std::string& source, const Target& target,
                                                 const support::Cancellation& cancellation) = 0;
};

struct CToolchainOptions {
  std::string compiler = "cc";  ///< found on PATH
  int timeout_seconds = 60;     ///< CPU and wall time of one compilation
  std::size_t memory_bytes = std::size_t{2} << 30;
  std::size_t source_bytes = std::size_t{4} << 20;  ///< longest source
  std::vector<std::string> readable;                ///< files the compiler reads beside the system's folders
  std::string temporary_directory;                  ///< "" = the system's
};
std::unique_ptr<Toolchain> make_c_toolchain(CToolchainOptions options);

struct CudaToolchainOptions {
  std::string compiler = "nvcc";  ///< found on PATH or in /usr/local/cuda/bin
  std::string nvrtc;              ///< path of schaas-nvrtc, which compiles where there is no nvcc; "": none
  int timeout_seconds = 120;
  std::vector<std::string> readable;  ///< as above
  std::string temporary_directory;    ///< "" = the system's
};
/// Compiles for Target::isa "cuda" too, from CUDA C++ whose host half is C (codegen/cuda_printer.h). The
/// shared object is that half, compiled by `c`, with device modules in schaas_gpu_images (proto/gpu_abi.h):
/// cubins for sm_80 and sm_90, PTX for newer devices. By nvcc, or where there is none by the library NVRTC
/// (nvrtc.h); either in child processes. Needs no GPU and no driver. Errors besides those of `c`: unsupported
/// [no-cuda] (no toolkit: what to install, and that the CPU works).
std::unique_ptr<Toolchain> make_cuda_toolchain(std::unique_ptr<Toolchain> c, CudaToolchainOptions options);

}  // namespace schaas::toolchain
