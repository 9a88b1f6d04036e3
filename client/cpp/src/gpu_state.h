#pragma once
#include <string>

#include "gpu_driver.h"
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
  std::string name;
  int architecture = 0;
  std::int64_t memory_bytes = 0;
};

}  // namespace schaas::client
