#include "client/cpp/gpu/gpu_module.h"

#include <cstdlib>
#include <string>

namespace schaas::client {
namespace {

using support::Result;

// Returns the image for a device; null: there is none. Cubins run on devices of their major version, from
// their own minor version on; of several the last one that fits is taken. PTX is compiled by the driver for
// any later device, and is taken where no cubin fits.
const schaas_gpu_image* image_for(const schaas_gpu_image* images, int architecture) {
  const schaas_gpu_image* found = nullptr;
  for (const auto* image = images; image->architecture != nullptr; ++image) {
    const std::string text = image->architecture;
    const int version = std::atoi(text.c_str() + text.find('_') + 1);
    const bool cubin = text.rfind("sm_", 0) == 0;
    if (cubin ? version / 10 == architecture / 10 && version <= architecture
              : found == nullptr && version <= architecture)
      found = image;
  }
  return found;
}

}  // namespace

Result<std::shared_ptr<const GpuModule>> GpuModule::load(std::shared_ptr<Gpu::State> gpu,
                                                         const schaas_gpu_descriptor& descriptor,
                                                         const schaas_gpu_image* images) {
  const auto* image = image_for(images, gpu->architecture);
  if (image == nullptr)
    return support::unsupported("gpu-image", "the kernel has no module for " + gpu->facts.name + " (sm_" +
                                                 std::to_string(gpu->architecture) +
                                                 "); kernels for the CPU (`--target cpu`) work");
  const auto module = std::make_shared<GpuModule>(std::move(gpu));
  const GpuDriver& driver = module->gpu_->driver;
  const GpuContext context(*module->gpu_);
  SCHAAS_RETURN_IF_ERROR(context.entered());
  SCHAAS_RETURN_IF_ERROR(
      driver.check(driver.load_module(&module->module_, image->bytes), "the kernel's module"));
  for (std::int32_t p = 0; p < descriptor.phase_count; ++p) {
    void* function = nullptr;
    const char* const name = descriptor.phases[p].function;
    SCHAAS_RETURN_IF_ERROR(
        driver.check(driver.function(&function, module->module_, name), std::string("`") + name + "`"));
    module->functions_.push_back(function);
  }
  return std::shared_ptr<const GpuModule>(module);
}

GpuModule::~GpuModule() {
  if (module_ == nullptr) return;
  const GpuContext context(*gpu_);
  if (!context.entered().ok()) return;
  // Code must not be unloaded while a kernel runs.
  gpu_->driver.wait_for_all();
  gpu_->driver.unload_module(module_);
}

}  // namespace schaas::client
