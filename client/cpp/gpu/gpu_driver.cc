#include "client/cpp/gpu/gpu_driver.h"

#include <dlfcn.h>

#include "client/cpp/platform/dynamic_library.h"

// The CUDA driver's library is loaded when a GPU is first wanted: programs that use none depend on no driver.
// A driver that lacks a function is too old, and the message names the function. Some names have a suffix
// _v2: those are the functions that the toolkit's header maps the plain names to.
namespace schaas::client {

support::Diagnostic no_gpu(const std::string& why) {
  return support::unsupported("no-gpu",
                              "no GPU can be used: " + why + "; kernels for the CPU (`--target cpu`) work");
}

support::Result<void> GpuDriver::check(int status, const std::string& what) const {
  if (status == 0) return {};
  const char* text = nullptr;
  if (error_text(status, &text) != 0 || text == nullptr) text = "unknown error";
  return support::internal(
      "gpu-failed", "the GPU driver refused " + what + ": " + text + " (" + std::to_string(status) + ")");
}

support::Result<GpuDriver> load_gpu_driver(const std::string& library) {
  GpuDriver driver;
  void* const handle = open_library(library);
  if (handle == nullptr) return no_gpu("the NVIDIA driver's library `" + library + "` is not installed");
  driver.library = std::shared_ptr<void>(handle, [](void* loaded) { close_library(loaded); });
  std::string missing;
  // The first missing function is the one to report.
  const auto find = [&](auto& function, const char* name) {
    void* const symbol = dlsym(handle, name);
    if (symbol == nullptr && missing.empty()) missing = name;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
  };
  find(driver.init, "cuInit");
  find(driver.device_count, "cuDeviceGetCount");
  find(driver.device_name, "cuDeviceGetName");
  find(driver.device_attribute, "cuDeviceGetAttribute");
  find(driver.device_memory, "cuDeviceTotalMem_v2");
  find(driver.retain_context, "cuDevicePrimaryCtxRetain");
  find(driver.release_context, "cuDevicePrimaryCtxRelease_v2");
  find(driver.push_context, "cuCtxPushCurrent_v2");
  find(driver.pop_context, "cuCtxPopCurrent_v2");
  find(driver.memory_info, "cuMemGetInfo_v2");
  find(driver.pointer_attribute, "cuPointerGetAttribute");
  find(driver.allocate, "cuMemAlloc_v2");
  find(driver.release, "cuMemFree_v2");
  find(driver.allocate_in_order, "cuMemAllocAsync");
  find(driver.release_in_order, "cuMemFreeAsync");
  find(driver.copy, "cuMemcpyAsync");
  find(driver.set_bytes, "cuMemsetD8Async");
  find(driver.load_module, "cuModuleLoadData");
  find(driver.unload_module, "cuModuleUnload");
  find(driver.function, "cuModuleGetFunction");
  find(driver.launch, "cuLaunchKernel");
  find(driver.wait_for_stream, "cuStreamSynchronize");
  find(driver.wait_for_all, "cuCtxSynchronize");
  find(driver.error_text, "cuGetErrorString");
  if (!missing.empty()) return no_gpu("`" + library + "` has no `" + missing + "`, so the driver is too old");
  return driver;
}

}  // namespace schaas::client
