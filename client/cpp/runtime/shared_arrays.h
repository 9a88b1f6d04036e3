#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "client/cpp/platform/allocate.h"
#include "proto/kernel_abi.h"

namespace schaas::client {

/// Shared arrays of a kernel, which live from phase to phase (proto/kernel_abi.h), and its flags.
class SharedArrays {
 public:
  /// Lists of stored coordinates are made here, once: the structure of operands stays. Errors: exhausted
  /// [memory].
  static support::Result<SharedArrays> make(const schaas_kernel_descriptor& kernel,
                                            const std::vector<const schaas_tensor*>& arguments);

  /// The list that phases get: the arrays by slot, then the flags.
  const std::vector<void*>& list() const { return pointers_; }
  void* const* data() const { return pointers_.data(); }
  std::int64_t* counter(std::int32_t slot) const {
    return static_cast<std::int64_t*>(pointers_[static_cast<std::size_t>(slot)]);
  }
  /// Number of coordinates in the list at this slot; 0 for other arrays.
  std::int64_t coordinates(std::int32_t slot) const { return coordinates_[static_cast<std::size_t>(slot)]; }
  std::int64_t bytes(std::int32_t slot) const {
    return static_cast<std::int64_t>(buffers_[static_cast<std::size_t>(slot)].bytes());
  }
  std::int64_t bytes() const;  ///< bytes of all arrays

  /// Sets what phases do from now on: SCHAAS_FLAG_*.
  void set_flags(std::int32_t flags) { *flags_ = flags; }
  /// Some array starts at zero.
  bool clears() const;
  /// Clears one of so many parts of the arrays that start at zero; counters only when asked to.
  void clear(int part, int parts, bool with_counters);
  /// True when they are as large as ones that are made for the arguments as they are now.
  bool suit(const schaas_kernel_descriptor& kernel, const schaas_tensor* const* arguments) const;

 private:
  std::vector<Buffer> buffers_;  ///< by slot, like all lists here
  std::vector<bool> is_counter_;
  std::vector<bool> begins_zero_;
  std::vector<std::int64_t> coordinates_;
  std::vector<void*> pointers_;
  std::unique_ptr<std::int32_t> flags_ = std::make_unique<std::int32_t>(0);
};

}  // namespace schaas::client
