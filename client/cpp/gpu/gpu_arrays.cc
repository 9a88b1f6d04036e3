#include "client/cpp/gpu/gpu_arrays.h"

#include <algorithm>

#include "client/cpp/gpu/gpu_text.h"

// Memory on a device in the order of a stream: allocations, copies, and releases run after what is on the
// stream before them. The host waits for nothing. Drivers without memory pools allocate at once, and memory
// is released once the stream has ended.
namespace schaas::client {
namespace {

using support::Result;

GpuDriver::Address address_of(const void* pointer) { return reinterpret_cast<GpuDriver::Address>(pointer); }

}  // namespace

GpuArrays::~GpuArrays() {
  if (allocated_.empty()) return;
  const GpuContext context(*gpu_);
  // Without the context nothing can be released; the driver does it when the context ends.
  if (!context.entered().ok()) return;
  const GpuDriver& driver = gpu_->driver;
  if (!gpu_->has_pools) driver.wait_for_stream(stream_);
  for (const auto address : allocated_) {
    if (gpu_->has_pools) {
      driver.release_in_order(address, stream_);
    } else {
      driver.release(address);
    }
  }
}

Result<void*> GpuArrays::room(std::int64_t bytes) {
  const GpuDriver& driver = gpu_->driver;
  // The least size of an array: nothing has a null address, not even what is empty.
  const auto some = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 16));
  GpuDriver::Address address = 0;
  const int status =
      gpu_->has_pools ? driver.allocate_in_order(&address, some, stream_) : driver.allocate(&address, some);
  SCHAAS_RETURN_IF_ERROR(driver.check(status, mib(static_cast<std::int64_t>(some)) + " of memory"));
  allocated_.push_back(address);
  bytes_ += static_cast<std::int64_t>(some);
  return reinterpret_cast<void*>(address);
}

Result<void> GpuArrays::copy(void* to, const void* from, std::size_t bytes) const {
  if (bytes == 0 || to == from) return {};
  return gpu_->driver.check(gpu_->driver.copy(address_of(to), address_of(from), bytes, stream_),
                            "a copy to or from the device");
}

Result<void> GpuArrays::clear(void* at, std::int64_t bytes) const {
  if (bytes == 0) return {};
  return gpu_->driver.check(
      gpu_->driver.set_bytes(address_of(at), 0, static_cast<std::size_t>(bytes), stream_),
      "zeros on the device");
}

Result<void> GpuArrays::wait() const {
  return gpu_->driver.check(gpu_->driver.wait_for_stream(stream_), "to finish");
}

}  // namespace schaas::client
