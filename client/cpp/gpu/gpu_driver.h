#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "compiler/support/result.h"

namespace schaas::client {

/// The functions of the CUDA driver that the client calls, by the names and types of its API (CUresult is an
/// int, 0 is success; pointers of the device are 64 bits).
struct GpuDriver {
  using Address = std::uint64_t;
  int (*init)(unsigned flags) = nullptr;
  int (*device_count)(int* count) = nullptr;
  int (*device_name)(char* name, int length, int device) = nullptr;
  int (*device_attribute)(int* value, int attribute, int device) = nullptr;
  int (*device_memory)(std::size_t* bytes, int device) = nullptr;
  int (*retain_context)(void** context, int device) = nullptr;
  int (*release_context)(int device) = nullptr;
  int (*push_context)(void* context) = nullptr;
  int (*pop_context)(void** context) = nullptr;
  int (*memory_info)(std::size_t* free, std::size_t* total) = nullptr;
  int (*pointer_attribute)(void* value, int attribute, Address address) = nullptr;
  int (*allocate)(Address* address, std::size_t bytes) = nullptr;
  int (*release)(Address address) = nullptr;
  int (*allocate_in_order)(Address* address, std::size_t bytes, void* stream) = nullptr;
  int (*release_in_order)(Address address, void* stream) = nullptr;
  int (*copy)(Address to, Address from, std::size_t bytes, void* stream) = nullptr;  ///< host or device
  int (*set_bytes)(Address to, unsigned char value, std::size_t bytes, void* stream) = nullptr;
  int (*load_module)(void** module, const void* image) = nullptr;
  int (*unload_module)(void* module) = nullptr;
  int (*function)(void** function, void* module, const char* name) = nullptr;
  int (*launch)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void** parameters,
                void** extra) = nullptr;
  int (*wait_for_stream)(void* stream) = nullptr;
  int (*wait_for_all)() = nullptr;
  int (*error_text)(int error, const char** text) = nullptr;

  std::shared_ptr<void> library;

  /// internal [gpu-failed] unless `status` is 0.
  support::Result<void> check(int status, const std::string& what) const;
};

/// Errors: unsupported [no-gpu].
support::Result<GpuDriver> load_gpu_driver(const std::string& library);
support::Diagnostic no_gpu(const std::string& why);

}  // namespace schaas::client
