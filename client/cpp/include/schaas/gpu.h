#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/digest.h"
#include "compiler/support/result.h"
#include "proto/gpu_abi.h"
#include "schaas/gpu_select.h"
#include "schaas/tensor.h"

/// Kernels on a GPU, through the driver that is found at run time (docs/gpu.md). Nothing is linked.
namespace schaas::client {

/// A kernel compiled for the instruction set `cuda`. Copies share it. Thread-safe.
class GpuKernel {
 public:
  /// Errors: those of Kernel::load.
  static support::Result<GpuKernel> load(std::string_view bytes, const support::Digest& expected);

  const schaas_gpu_descriptor& descriptor() const;
  const schaas_gpu_image* images() const;  ///< the last one has no architecture
  std::string problem() const;             ///< canonical problem text
  std::string schedule() const;            ///< trace

 private:
  struct Library;
  explicit GpuKernel(std::shared_ptr<const Library> library) : library_(std::move(library)) {}
  std::shared_ptr<const Library> library_;
};

struct GpuOptions {
  std::string driver = "libcuda.so.1";
  int device = 0;
};

/// One device. Copies share it; the driver's primary context is kept as long as one lives. Thread-safe.
class Gpu {
 public:
  /// Errors: unsupported [no-gpu]: no driver, or no such device; says that the CPU works.
  static support::Result<Gpu> open(const GpuOptions& options = {});
  std::string name() const;
  int architecture() const;           ///< 80, 90, ...
  std::int64_t memory_bytes() const;  ///< of the device
  /// What the driver tells of it, with the memory that is free now; the defaults where it does not.
  GpuFacts facts() const;

 private:
  friend class GpuExecution;
  struct State;
  explicit Gpu(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// A kernel bound to its arguments on a device, ready to run many times. What the levels of the arguments
/// hold is copied to the device once; each run brings the values of the operands there and those of the
/// result back. Not thread-safe. The tensors must outlive it, stay where they are and keep their entries.
class GpuExecution {
 public:
  /// Arguments and names as of Execution::prepare. Errors: those of check_arguments; invalid [kernel-binary];
  /// unsupported [gpu-image] (the kernel has no module for the device), [gpu-copies] (it reads copies of
  /// operands); exhausted [gpu-memory]: what the kernel needs does not fit, and what is free; internal
  /// [gpu-failed] with what the driver says.
  static support::Result<GpuExecution> prepare(const Gpu& gpu, const GpuKernel& kernel,
                                               std::vector<PackedTensor*> arguments,
                                               const std::vector<std::string>& names = {});
  GpuExecution(GpuExecution&&) noexcept;
  GpuExecution& operator=(GpuExecution&&) noexcept;
  ~GpuExecution();

  /// The result starts from its fill value, or from what it holds when the statement updates it. Errors:
  /// internal [gpu-failed].
  support::Result<void> run();
  std::int64_t device_bytes() const;   ///< of all arrays on the device
  std::int64_t scratch_bytes() const;  ///< of those that are no tensor's

 private:
  struct State;
  explicit GpuExecution(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace schaas::client
