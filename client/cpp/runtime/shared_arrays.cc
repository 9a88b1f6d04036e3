#include "client/cpp/runtime/shared_arrays.h"

#include <algorithm>
#include <utility>

#include "client/cpp/platform/share.h"
#include "client/cpp/runtime/stored_coordinates.h"

namespace schaas::client {

support::Result<SharedArrays> SharedArrays::make(const schaas_kernel_descriptor& kernel,
                                                 const std::vector<const schaas_tensor*>& arguments) {
  SharedArrays arrays;
  for (std::int32_t slot = 0; slot < kernel.shared_count; ++slot) {
    const schaas_shared starts =
        kernel.shared == nullptr ? schaas_shared{SCHAAS_SHARED_ZERO, -1, -1} : kernel.shared[slot];
    arrays.begins_zero_.push_back(starts.start == SCHAAS_SHARED_ZERO);
    arrays.coordinates_.push_back(0);
    Buffer buffer;
    if (starts.start == SCHAAS_SHARED_MET) {
      SCHAAS_ASSIGN_OR_RETURN(
          StoredCoordinates found,
          stored_coordinates(*arguments[static_cast<std::size_t>(starts.argument)], starts.level));
      arrays.coordinates_.back() = found.count;
      buffer = std::move(found.coordinates);
    } else {
      SCHAAS_ASSIGN_OR_RETURN(buffer, allocate(kernel.shared_bytes(arguments.data(), slot), 1,
                                               "a shared temporary of the kernel", Buffer::Contents::any));
    }
    arrays.pointers_.push_back(buffer.data());
    arrays.buffers_.push_back(std::move(buffer));
    arrays.is_counter_.push_back(
        std::any_of(kernel.counters, kernel.counters + kernel.counter_count,
                    [slot](const schaas_counter& counter) { return counter.shared_slot == slot; }));
  }
  arrays.pointers_.push_back(arrays.flags_.get());
  return arrays;
}

std::int64_t SharedArrays::bytes() const {
  std::int64_t sum = 0;
  for (const Buffer& buffer : buffers_) sum += static_cast<std::int64_t>(buffer.bytes());
  return sum;
}

bool SharedArrays::clears() const {
  return std::find(begins_zero_.begin(), begins_zero_.end(), true) != begins_zero_.end();
}

void SharedArrays::clear(int part, int parts, bool with_counters) {
  for (std::size_t slot = 0; slot < buffers_.size(); ++slot) {
    if (begins_zero_[slot] && (with_counters || !is_counter_[slot])) zero_share(buffers_[slot], part, parts);
  }
}

bool SharedArrays::suit(const schaas_kernel_descriptor& kernel, const schaas_tensor* const* arguments) const {
  for (std::int32_t slot = 0; slot < kernel.shared_count; ++slot)
    if (kernel.shared_bytes(arguments, slot) != bytes(slot)) return false;
  return true;
}

}  // namespace schaas::client
