#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/cpp/api/converted_result.h"
#include "schaas/kernel_set.h"

/// State of a computation: its tensors, and the kernel that runs on them at present.
namespace schaas::client {

/// Host copy of a tensor on a device, for a kernel of the processor: levels once, values with each run.
struct OnHost {
  PackedTensor* there = nullptr;
  std::unique_ptr<PackedTensor> here;
};

/// A kernel bound to the tensors of a computation.
struct BoundKernel {
  KernelInfo kernel;
  std::string reason;
  bool takes_any_order = false;        ///< entries of summed operands (summed_operands.h)
  std::optional<Execution> execution;  ///< either this
  std::optional<GpuExecution> on_gpu;  ///< or that
  std::string device;
  std::vector<OnHost> operands;  ///< operands of `execution`
  /// Host copy of `written`, where that lies on a device; `execution` holds its address.
  std::unique_ptr<PackedTensor> written_here;

  /// The kernel needs the entries of operands sorted and distinct, also where the program would not.
  bool order_matters() const;
  /// Checks the order of BindOptions::unordered where it matters. Errors: those of validate.
  support::Result<void> check_order(const std::map<std::string, PackedTensor*>& operands,
                                    const BindOptions& options) const;
};

/// "; `x` is brought to the device", or "".
std::string brought_text(const std::vector<std::string>& names, const std::string& where);

/// An operand that is part of another tensor (tensor/tensor_part.h).
struct ReadPart {
  const PackedTensor* whole = nullptr;  ///< the caller's
  std::int64_t begin = 0, count = 0;
  bool is_fixed = false;
  std::unique_ptr<PackedTensor> part{};

  /// Reads the arrays that the whole tensor has now. False: the part has other numbers of entries than
  /// before.
  bool read_again();
};

struct Computation::State {
  PackedTensor own;  ///< result of the kernel when the caller gave no tensor for it
  std::function<support::Result<PackedTensor>()> make_own;  ///< makes `own` anew, once it was moved away
  PackedTensor* written = nullptr;                          ///< by the kernel
  const PackedTensor* before = nullptr;                     ///< update: the tensor it starts from
  std::optional<ConvertedResult> converted;                 ///< result in another storage, or apart
  std::vector<std::unique_ptr<PackedTensor>> kept{};        ///< operands, of KeptLevels
  std::vector<std::unique_ptr<PackedTensor>> selections{};  ///< operands, for any arrays of these extents
  std::vector<ReadPart> parts{};                            ///< operands that read pieces of others' arrays
  std::vector<Computation> producers{};                     ///< their results are operands (split_program.h)
  bool operands_change = true;                              ///< so that each run needs the producers' anew
  std::optional<GpuUse> gpu;
  BoundKernel bound;
  /// Binds a better kernel to the same tensors once one is at hand; empty: the kernel stays.
  std::function<std::optional<BoundKernel>()> better;

  /// Returns the start of an update whose result is not the operand itself, for a run on a device.
  const PackedTensor* start() const { return before == written ? nullptr : before; }
  support::Result<void> run(BoundKernel& one);
};

}  // namespace schaas::client
