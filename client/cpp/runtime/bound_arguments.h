#pragma once
#include <deque>
#include <string>
#include <vector>

#include "client/cpp/tensor/stored_copy.h"
#include "schaas/kernel.h"

namespace schaas::client {

/// Arguments of a kernel as it reads them. Views of the caller's tensors come first, beginning with the
/// result; copies of operands in other mode orders follow. The tensors and the object must stay where they
/// are.
class BoundArguments {
 public:
  /// Ways to make copies.
  struct Copying {
    std::vector<std::string> names;  ///< names of the tensors, for messages
    int threads = 1;
    bool operands_change = true;  ///< values of operands may change from run to run
    bool guard = false;           ///< copies lie before pages that nobody may touch
  };

  explicit BoundArguments(std::vector<PackedTensor*> tensors);
  BoundArguments(const BoundArguments&) = delete;
  BoundArguments& operator=(const BoundArguments&) = delete;

  /// Makes the copies that the kernel reads in place of operands; those of an earlier call go. Errors: those
  /// of convert(); invalid [kernel-binary].
  support::Result<void> add_copies(const schaas_kernel_descriptor& kernel, const Copying& copying);
  /// Brings one of so many parts of the values over to copies of operands whose values change.
  void refresh_copies(int part, int parts);
  /// The only copy, of an operand whose values stay; null: there is none, or several.
  const PackedTensor* only_copy() const {
    return copies_.empty() && fixed_copies_.size() == 1 ? &fixed_copies_.front() : nullptr;
  }
  /// Gives this copy away. The kernel must not run before copies are made again.
  PackedTensor take_only_copy();
  bool refreshes_copies() const { return !copies_.empty(); }
  const std::vector<CopiedOperand>& copied() const { return copied_; }

  /// Takes the arrays that the tensors have now; copies stay as they are.
  void view_again();
  void view_result_again() { views_[0] = tensors_[0]->view(); }

  const schaas_tensor& result() const { return views_[0]; }
  const std::vector<const schaas_tensor*>& list() const { return list_; }
  const schaas_tensor* const* data() const { return list_.data(); }

 private:
  std::vector<PackedTensor*> tensors_;
  std::deque<schaas_tensor> views_;        ///< `list_` points at them
  std::deque<StoredCopy> copies_;          ///< copies of operands whose values change
  std::deque<PackedTensor> fixed_copies_;  ///< copies of operands whose values stay
  std::vector<CopiedOperand> copied_;      ///< reports of both
  std::vector<const schaas_tensor*> list_;
};

}  // namespace schaas::client
