#pragma once
#include <cstdint>
#include <vector>

#include "client/cpp/runtime/balance.h"
#include "compiler/support/result.h"
#include "proto/kernel_abi.h"
#include "schaas/buffer.h"
#include "schaas/tensor.h"

namespace schaas::client {

/// Partial results of the split iterations of one phase (proto/kernel_abi.h).
class PartialResults {
 public:
  /// Gives every task that is a part a partial result (Task::carry). Errors: exhausted [memory].
  static support::Result<PartialResults> make(const schaas_phase& phase, ValueType type,
                                              std::int64_t elements, std::vector<Task>& tasks);

  std::int64_t bytes() const { return static_cast<std::int64_t>(values_.bytes()); }
  /// Returns a partial result, set to the identity, for the part that starts.
  void* start(int carry);
  /// Carry-out fix-up: folds the partial results of a thread's share of the iterations into the result. Each
  /// thread of a team calls it when all parts are done. Returns the kernel's error code.
  std::int32_t combine(const schaas_phase& phase, const schaas_tensor* const* arguments, void* const* shared,
                       int thread, int team);

 private:
  struct Iteration {
    std::int64_t at;
    int first_carry, parts;
  };
  void* data(int carry) { return values_.as<char>() + stride_ * carry; }

  ValueType type_ = ValueType::f64;
  std::int32_t monoid_ = SCHAAS_FOLD_NONE;
  std::int64_t elements_ = 0, stride_ = 0;  ///< bytes from one carry to the next: whole cache lines
  std::vector<Iteration> iterations_;
  Buffer values_;
};

}  // namespace schaas::client
