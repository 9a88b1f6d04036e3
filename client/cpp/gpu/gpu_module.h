#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "client/cpp/gpu/gpu_state.h"
#include "client/cpp/platform/shared_object.h"

namespace schaas::client {

/// A kernel's device functions, loaded on one device.
class GpuModule {
 public:
  /// Errors: unsupported [gpu-image]; internal [gpu-failed].
  static support::Result<std::shared_ptr<const GpuModule>> load(std::shared_ptr<Gpu::State> gpu,
                                                                const schaas_gpu_descriptor& descriptor,
                                                                const schaas_gpu_image* images);
  explicit GpuModule(std::shared_ptr<Gpu::State> gpu) : gpu_(std::move(gpu)) {}
  GpuModule(const GpuModule&) = delete;
  GpuModule& operator=(const GpuModule&) = delete;
  /// Waits for what still runs on the device.
  ~GpuModule();
  void* function(std::size_t phase) const { return functions_[phase]; }

 private:
  std::shared_ptr<Gpu::State> gpu_;
  void* module_ = nullptr;
  std::vector<void*> functions_;  ///< by phase
};

struct GpuKernel::Library {
  Library(SharedObject file, const schaas_gpu_descriptor* described, const schaas_gpu_image* compiled)
      : object(std::move(file)), descriptor(described), images(compiled) {}
  SharedObject object;
  const schaas_gpu_descriptor* descriptor;
  const schaas_gpu_image* images;
  std::mutex mutex;
  std::map<const Gpu::State*, std::shared_ptr<const GpuModule>> modules;  ///< each keeps its device
};

}  // namespace schaas::client
