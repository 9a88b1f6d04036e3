#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/support/result.h"
#include "proto/kernel_abi.h"
#include "schaas/buffer.h"
#include "schaas/kernel.h"
#include "schaas/tensor.h"

namespace schaas::client {

/// The arrays that the pieces of one phase that folds (proto/kernel_abi.h) write in place of its target. The
/// first piece writes the target itself.
class PrivatisedReduction {
 public:
  /// Returns the number of ranges into which the phase is split. It is 1 when arrays of `elements` of
  /// `element_bytes` would cost more than parallel execution gains, or are forbidden. It depends on the
  /// threads unless options.deterministic.
  static std::int64_t pieces(const schaas_phase& phase, const schaas_tensor* const* arguments,
                             std::int64_t elements, std::int64_t element_bytes, int threads,
                             const ExecutionOptions& options);

  /// Arrays for `pieces` pieces. The target is arguments[0]->values or shared[phase.fold_target]; both lists
  /// and what they point to must stay. Errors: exhausted [memory].
  static support::Result<PrivatisedReduction> make(const schaas_phase& phase, ValueType type,
                                                   std::int64_t elements, std::int64_t pieces,
                                                   const std::vector<const schaas_tensor*>& arguments,
                                                   const std::vector<void*>& shared);

  std::int64_t bytes() const;

  /// Before a piece runs, by the thread that runs it: its array becomes the identity. Then what it is run
  /// with.
  void start(std::size_t piece);
  const schaas_tensor* const* arguments(std::size_t piece) const;
  void* const* shared(std::size_t piece) const;
  /// When all pieces are done, by each thread of a team: folds its share of the elements, in the order of the
  /// pieces.
  void fold(int thread, int team);

 private:
  struct Piece {
    Buffer values;
    schaas_tensor target;                         ///< the result with these values
    std::vector<const schaas_tensor*> arguments;  ///< with the target; empty: the common ones
    std::vector<void*> shared;                    ///< with the values; empty: the common ones
  };
  std::int32_t monoid_ = SCHAAS_FOLD_NONE;
  ValueType type_ = ValueType::f64;
  std::int64_t elements_ = 0;
  void* target_ = nullptr;
  const schaas_tensor* const* arguments_ = nullptr;
  void* const* shared_ = nullptr;
  std::vector<std::unique_ptr<Piece>> pieces_;  ///< all but the first
};

}  // namespace schaas::client
