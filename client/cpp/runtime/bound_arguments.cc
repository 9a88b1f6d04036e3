#include "client/cpp/runtime/bound_arguments.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/cpp/platform/shared_object.h"
#include "client/cpp/tensor/packed_tensor_builder.h"

// Views lie in a deque: the kernel's list points at them while more are added. Copies of operands that change
// keep a list of positions, so that each run can bring the values over.
namespace schaas::client {

BoundArguments::BoundArguments(std::vector<PackedTensor*> tensors) : tensors_(std::move(tensors)) {
  for (const PackedTensor* tensor : tensors_) {
    views_.push_back(tensor->view());
    list_.push_back(&views_.back());
  }
}

support::Result<void> BoundArguments::add_copies(const schaas_kernel_descriptor& kernel,
                                                 const Copying& copying) {
  using Clock = std::chrono::steady_clock;
  views_.resize(tensors_.size());
  list_.resize(tensors_.size());
  copies_.clear();
  fixed_copies_.clear();
  copied_.clear();
  for (std::int32_t c = 0; c < kernel.copy_count; ++c) {
    const schaas_copy& wanted = kernel.copies[c];
    const auto at = static_cast<std::size_t>(wanted.argument);
    const PackedTensor& original = *tensors_[at];
    const std::vector<int> order(wanted.mode_order, wanted.mode_order + original.order());
    // A kernel from elsewhere may say anything.
    if (!std::is_permutation(order.begin(), order.end(), original.format().mode_order.begin()))
      return bad_binary("it wants a copy whose modes are no permutation");
    if (wanted.locates != 0 && !format::lists_first(original.format()))
      return bad_binary("it wants a copy that locates what is located");
    const format::TensorFormat format =
        format::copy_format({original.format().levels, {}}, order, wanted.locates != 0);
    const auto start = Clock::now();
    const ConvertOptions converting{copying.names[at], copying.threads};
    std::int64_t bytes = 0;
    if (copying.operands_change) {
      SCHAAS_ASSIGN_OR_RETURN(StoredCopy copy, StoredCopy::make(original, format, converting));
      if (copying.guard) copy.guard();
      bytes = copy.bytes();
      copies_.push_back(std::move(copy));
      views_.push_back(copies_.back().tensor().view());
    } else {
      SCHAAS_ASSIGN_OR_RETURN(PackedTensor copy, convert(original, format, converting));
      bytes = static_cast<std::int64_t>(copy.bytes());
      fixed_copies_.push_back(copying.guard ? guarded(copy) : std::move(copy));
      views_.push_back(fixed_copies_.back().view());
    }
    const std::chrono::duration<double> took = Clock::now() - start;
    copied_.push_back({wanted.argument, format::print(format), bytes, took.count()});
    list_.push_back(&views_.back());
  }
  return {};
}

PackedTensor BoundArguments::take_only_copy() {
  PackedTensor copy = std::move(fixed_copies_.front());
  fixed_copies_.clear();
  return copy;
}

void BoundArguments::refresh_copies(int part, int parts) {
  for (StoredCopy& copy : copies_) copy.refresh(part, parts);
}

void BoundArguments::view_again() {
  for (std::size_t n = 0; n < tensors_.size(); ++n) views_[n] = tensors_[n]->view();
}

}  // namespace schaas::client
