#pragma once
#include <memory>
#include <string>
#include <vector>

#include "client/cpp/gpu/gpu_state.h"

namespace schaas::client {

/// Arrays on a device, and operations on them. Everything runs in the order of one stream of the caller's
/// (null: the legacy default stream); nothing waits but `wait`. Arrays are freed in that order too, so the
/// stream must still be there. Where the driver has no memory pools, freeing waits. The device's context is
/// current when its functions are called (GpuContext). Not thread-safe.
class GpuArrays {
 public:
  GpuArrays(std::shared_ptr<const Gpu::State> gpu, void* stream) : gpu_(std::move(gpu)), stream_(stream) {}
  GpuArrays(const GpuArrays&) = delete;
  GpuArrays& operator=(const GpuArrays&) = delete;
  ~GpuArrays();

  /// Errors of all: internal [gpu-failed]. Nothing is null on a device, not even what is empty.
  support::Result<void*> room(std::int64_t bytes);
  /// Copies between host and device, either way. The host's pageable memory has been read when it returns.
  support::Result<void> copy(void* to, const void* from, std::size_t bytes) const;
  support::Result<void> clear(void* at, std::int64_t bytes) const;
  support::Result<void> wait() const;

  void* stream() const { return stream_; }
  std::int64_t bytes() const { return bytes_; }  ///< bytes of all arrays

 private:
  const std::shared_ptr<const Gpu::State> gpu_;
  void* const stream_;
  std::vector<GpuDriver::Address> allocated_;
  std::int64_t bytes_ = 0;
};

}  // namespace schaas::client
