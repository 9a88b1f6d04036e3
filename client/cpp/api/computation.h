#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/cpp/api/converted_result.h"
#include "schaas/kernel_set.h"

/// What a computation consists of: its tensors, and the kernel that runs on them at present.
namespace schaas::client {

/// What lies on a device, for a kernel of the processor: the levels once, the values with each run.
struct OnHost {
  PackedTensor* there = nullptr;
  std::unique_ptr<PackedTensor> here;
};

/// A kernel bound to the tensors of a computation.
struct BoundKernel {
  KernelInfo kernel;
  std::string reason;
  std::optional<Execution> execution;  ///< either this
  std::optional<GpuExecution> on_gpu;  ///< or that
  std::string device;
  std::vector<OnHost> operands;  ///< of `execution`
  /// Of `execution`, which holds its address: where `written` lies on a device.
  std::unique_ptr<PackedTensor> written_here;

  /// The kernel needs the entries of operands sorted and distinct, also where the program would not.
  bool order_matters() const;
  /// Checks the order of BindOptions::unordered where it matters. Errors: those of validate.
  support::Result<void> check_order(const std::map<std::string, PackedTensor*>& operands,
                                    const BindOptions& options) const;
};

struct Computation::State {
  PackedTensor own;                          ///< what the kernel writes, when nobody gave a tensor for it
  PackedTensor* written = nullptr;           ///< by the kernel
  const PackedTensor* before = nullptr;      ///< of an update: where it starts from
  std::optional<ConvertedResult> converted;  ///< where it is to be stored in another way, or apart
  std::vector<std::unique_ptr<PackedTensor>> kept{};  ///< operands, of KeptLevels
  std::optional<GpuUse> gpu;
  BoundKernel bound;
  /// Binds a better kernel to the same tensors once one is at hand; empty: the kernel stays.
  std::function<std::optional<BoundKernel>()> better;

  /// Of an update whose result is not the operand itself: where a run on a device starts from.
  const PackedTensor* start() const { return before == written ? nullptr : before; }
  support::Result<void> run(BoundKernel& one);
};

}  // namespace schaas::client
