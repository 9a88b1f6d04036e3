#pragma once
#include <cstdint>
#include <vector>

#include "client/cpp/platform/allocate.h"
#include "proto/kernel_abi.h"

namespace schaas::client {

/// The memory that each thread has to itself (proto/kernel_abi.h). Different threads may ask for theirs at
/// the same time.
class Scratch {
 public:
  /// Errors: exhausted [memory].
  static support::Result<Scratch> make(const schaas_kernel_descriptor& kernel,
                                       const std::vector<const schaas_tensor*>& arguments, int threads);
  void* of(int thread) { return each_[static_cast<std::size_t>(thread)].memory.data(); }
  /// A new one with tables of twice the slots. Errors: exhausted [memory].
  support::Result<void> grow(int thread);
  /// All get tables as large as those of any. Errors: exhausted [memory].
  support::Result<void> grow_all();
  /// True when they are as large as ones that are made for the arguments as they are now.
  bool suit() const;
  std::int64_t bytes() const;

 private:
  struct ThreadScratch {
    Buffer memory;
    std::int64_t slots = 0;
  };
  std::int64_t needed(std::int64_t slots) const;  ///< bytes
  support::Result<void> give(ThreadScratch& to, std::int64_t slots);

  const schaas_kernel_descriptor* kernel_ = nullptr;
  const schaas_tensor* const* arguments_ = nullptr;
  std::vector<ThreadScratch> each_;
};

}  // namespace schaas::client
