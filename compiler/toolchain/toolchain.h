#pragma once
#include <memory>
#include <string>
#include <vector>

#include "compiler/support/cancellation.h"
#include "compiler/support/result.h"

/// Source -> binary. The only place that starts processes.
namespace schaas::toolchain {

/// Instruction sets a CPU kernel can be compiled for, as gcc's -march names them: x86-64-v2, x86-64-v3,
/// x86-64-v4, or support::native_isa() (this very processor, only when asked), or "generic" (no -march; any
/// architecture). Of toolchains that have it, "cuda": GPUs.
struct Target {
  std::string isa = "x86-64-v3";
  /// Little code, little optimised: compiled in a third of the time, to be used until the full kernel is
  /// there.
  bool draft = false;
};
/// As it stands in lists of kernels: "x86-64-v3", "x86-64-v3, draft".
std::string print(const Target& target);

/// Thread-safe.
class Toolchain {
 public:
  virtual ~Toolchain() = default;
  /// Identity for cache keys: compiler version and flags.
  virtual std::string identity(const Target& target) const = 0;
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
  std::vector<std::string> readable;                ///< what the compiler reads beside the system's folders
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
/// Compiles for Target::isa "cuda" too: the source is CUDA C++ whose host half is C
/// (codegen/cuda_printer.h), and the shared object is that half, compiled by `c`, with modules of the device
/// in schaas_gpu_images (proto/gpu_abi.h): cubins for sm_80 and sm_90, and PTX for what is newer. By nvcc, or
/// where there is none by the library NVRTC (nvrtc.h); either in child processes. Needs no GPU and no driver.
/// Errors besides those of `c`: unsupported [no-cuda] (no toolkit: what to install, and that the CPU works).
std::unique_ptr<Toolchain> make_cuda_toolchain(std::unique_ptr<Toolchain> c, CudaToolchainOptions options);

}  // namespace schaas::toolchain
