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
#include "schaas/rates.h"
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
  friend class GpuExecution;
  friend class GpuModule;
  struct Library;
  explicit GpuKernel(std::shared_ptr<Library> library) : library_(std::move(library)) {}
  std::shared_ptr<Library> library_;
};

struct GpuOptions {
  std::string driver = "libcuda.so.1";
  int device = 0;
  std::string rates_directory{};  ///< directory of stored_gpu_rates; "": the driver's figures count
};

/// One device. Copies share it; the driver's primary context, which the CUDA runtime uses too, is kept as
/// long as one lives. No call leaves it current that did not find it so. Streams are the driver's handles
/// (CUstream, which is the runtime's cudaStream_t too); null is the legacy default stream. Thread-safe.
class Gpu {
 public:
  /// Errors: unsupported [no-gpu]: no driver, or no such device; says that the CPU works.
  static support::Result<Gpu> open(const GpuOptions& options = {});
  std::string name() const;
  int architecture() const;           ///< 80, 90, ...
  std::int64_t memory_bytes() const;  ///< memory of the device
  /// Returns the facts that the driver reports, with the memory that is free now; measured rates where they
  /// are stored, defaults for the others.
  GpuFacts facts() const;
  /// Measures copies and launches on the device, in about a second, with at most a quarter of its free
  /// memory. Errors: exhausted [memory]; internal [gpu-failed].
  support::Result<GpuRates> measure_rates() const;

  /// Checks that the arrays of a tensor lie on this device. Errors: invalid [not-on-device].
  support::Result<void> check_is_there(const PackedTensor& tensor, const std::string& name) const;
  /// A tensor of the host with the levels of one that lies there; its values are zeros. After what is on the
  /// stream; waits. Errors: exhausted [memory]; internal [gpu-failed].
  support::Result<PackedTensor> levels_on_host(const PackedTensor& tensor, const std::string& name,
                                               void* stream) const;
  /// As of spreads_of; of a tensor that lies there its positions are brought here. After what is on the
  /// stream; waits. Errors: exhausted [memory]; internal [gpu-failed].
  support::Result<std::vector<Spread>> spreads(const PackedTensor& tensor, void* stream) const;
  /// Values of tensors with equal levels, from wherever to wherever. After what is on the stream; waits.
  /// Errors: internal [gpu-failed].
  support::Result<void> copy_values(const PackedTensor& from, PackedTensor& to, void* stream) const;

  struct State;

 private:
  friend class GpuExecution;
  explicit Gpu(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// A kernel bound to its arguments on a device, ready to run many times. Arguments that lie there
/// (PackedTensor::on_device) are read and written where they are. Levels of the others are copied to the
/// device once; each run copies the values of operands there and those of the result back.
///
/// Everything is done in the order of the caller's stream. With a stream that is not null, a run whose result
/// lies on the device returns at once; the result is ready when the stream has reached it. In every other
/// case run() waits. The tensors must outlive it, stay where they are and keep their entries; it must end
/// before the stream does, and gives its memory back in the stream's order. Not thread-safe.
class GpuExecution {
 public:
  /// Arguments and names as of Execution::prepare. Errors: those of check_arguments; invalid [kernel-binary];
  /// unsupported [gpu-image] (the kernel has no module for the device), [gpu-copies] (it reads copies of
  /// operands); exhausted [gpu-memory]: what the kernel needs does not fit, and what is free; internal
  /// [gpu-failed] with what the driver says; invalid [result-entries]: the result lies on the device and gets
  /// the entries of an operand, but its levels are not that one's arrays.
  static support::Result<GpuExecution> prepare(const Gpu& gpu, const GpuKernel& kernel,
                                               std::vector<PackedTensor*> arguments,
                                               const std::vector<std::string>& names = {},
                                               void* stream = nullptr);
  GpuExecution(GpuExecution&&) noexcept;
  GpuExecution& operator=(GpuExecution&&) noexcept;
  ~GpuExecution();

  /// The result starts from its fill value, or, when the statement updates it, from the values of `before`;
  /// null: from what it holds. Errors: internal [gpu-failed].
  support::Result<void> run(const PackedTensor* before = nullptr);
  /// All tensors lie on the device, and nothing else does: the execution may outlive its stream, and rebind()
  /// works.
  bool is_rebindable() const;
  /// Takes the arrays that the tensors have now; formats, extents and numbers of entries are as before.
  /// False: the result's levels are no longer those of the operand that lends them.
  bool rebind();
  /// For the end of what runs have begun. Errors: internal [gpu-failed].
  support::Result<void> wait();
  std::int64_t device_bytes() const;   ///< all arrays that were made on the device
  std::int64_t scratch_bytes() const;  ///< arrays that belong to no tensor

 private:
  struct State;
  explicit GpuExecution(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace schaas::client
