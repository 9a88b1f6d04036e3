#pragma once
#include <string>

#include "client/cpp/gpu/gpu_driver.h"
#include "schaas/gpu.h"

namespace schaas::client {

struct Gpu::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();
  GpuDriver driver;
  int device = 0;
  void* context = nullptr;
  int architecture = 0;
  std::int64_t memory_bytes = 0;
  bool has_pools = false;  ///< memory is had and given back in the order of a stream
  GpuFacts facts;          ///< but for the free memory
};

/// The device's context is the calling thread's for as long as this lives; what was current is again then.
class GpuContext {
 public:
  explicit GpuContext(const Gpu::State& gpu) : gpu_(gpu), status_(gpu.driver.push_context(gpu.context)) {}
  GpuContext(const GpuContext&) = delete;
  GpuContext& operator=(const GpuContext&) = delete;
  ~GpuContext() {
    void* popped = nullptr;
    if (status_ == 0) gpu_.driver.pop_context(&popped);
  }
  /// internal [gpu-failed].
  support::Result<void> entered() const { return gpu_.driver.check(status_, "its context"); }

 private:
  const Gpu::State& gpu_;
  const int status_;
};

}  // namespace schaas::client
