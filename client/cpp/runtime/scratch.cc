#include "client/cpp/runtime/scratch.h"

#include <algorithm>
#include <limits>

// The private memory of threads. Kernels with hash tables do not know their size, so tables begin small. A
// symbolic phase that finds one too full returns, and its thread runs the task again with twice the slots.
// The memory begins with the number of slots, as the kernel ABI has it. Workspaces are zeroed once, when they
// are allocated.
namespace schaas::client {

support::Result<Scratch> Scratch::make(const schaas_kernel_descriptor& kernel,
                                       const std::vector<const schaas_tensor*>& arguments, int threads) {
  Scratch out;
  out.kernel_ = &kernel;
  out.arguments_ = arguments.data();
  out.each_.resize(static_cast<std::size_t>(threads));
  // Kernels without tables say their size at once: slots are 0.
  const std::int64_t slots = kernel.table_bytes == nullptr ? 0 : std::int64_t{SCHAAS_FIRST_PLACES};
  for (ThreadScratch& each : out.each_) SCHAAS_RETURN_IF_ERROR(out.give(each, slots));
  return out;
}

std::int64_t Scratch::needed(std::int64_t slots) const {
  if (slots > 0) return kernel_->table_bytes(arguments_, slots);
  return kernel_->workspace_bytes == nullptr ? 0 : kernel_->workspace_bytes(arguments_);
}

bool Scratch::suit() const {
  return std::all_of(each_.begin(), each_.end(), [this](const ThreadScratch& each) {
    return static_cast<std::int64_t>(each.memory.bytes()) == needed(each.slots);
  });
}

support::Result<void> Scratch::give(ThreadScratch& to, std::int64_t slots) {
  // The old memory is released first: its contents are of no use, and both might not fit.
  to.memory = Buffer();
  SCHAAS_ASSIGN_OR_RETURN(to.memory, allocate(needed(slots), 1, "a temporary of the kernel"));
  if (slots > 0) *to.memory.as<std::int64_t>() = slots;
  to.slots = slots;
  return {};
}

// Doubling ends far below the number at which sizes overflow.
support::Result<void> Scratch::grow(int thread) {
  ThreadScratch& own = each_[static_cast<std::size_t>(thread)];
  if (own.slots > std::numeric_limits<std::int64_t>::max() / 1024)
    return too_large("a hash table of the kernel", std::to_string(own.slots) + " slots");
  return give(own, 2 * own.slots);
}

support::Result<void> Scratch::grow_all() {
  std::int64_t most = 0;
  for (const ThreadScratch& each : each_) most = std::max(most, each.slots);
  for (ThreadScratch& each : each_) {
    if (each.slots < most) SCHAAS_RETURN_IF_ERROR(give(each, most));
  }
  return {};
}

std::int64_t Scratch::bytes() const {
  std::int64_t bytes = 0;
  for (const ThreadScratch& each : each_) bytes += static_cast<std::int64_t>(each.memory.bytes());
  return bytes;
}

}  // namespace schaas::client
