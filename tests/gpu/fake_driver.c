/* What the client asks of libcuda.so.1, on the host: device memory is memory, a module is the shared object that its
   image lies in, and a launch is a call of whoever set fake_launch, or of the emulation in that object. For tests
   without a GPU. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/gpu_abi.h"

int (*fake_launch)(const char* function, unsigned blocks, unsigned threads, void* parameters) = 0;
size_t fake_free_bytes = (size_t)1 << 30;
int fake_devices = 1;
int fake_architecture = 90;
int64_t fake_allocations = 0; /* not released yet */
const void* fake_image = 0;
int fake_processors = -1; /* -1: does not tell */
int64_t fake_launches = 0;

struct fake_function {
  const char* name;
  const schaas_gpu_phase* phase;
};
struct fake_module {
  const schaas_gpu_descriptor* kernel;
  struct fake_function functions[16];
};

int cuInit(unsigned flags) { return flags == 0 ? 0 : 1; }
int cuDeviceGetCount(int* count) { return *count = fake_devices, 0; }
int cuDeviceGetName(char* name, int length, int device) {
  (void)device;
  strncpy(name, "Fake GPU", (size_t)length);
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  (void)device;
  *value = attribute == 75 ? fake_architecture / 10 : attribute == 76 ? fake_architecture % 10 : attribute == 16 ? fake_processors : -1;
  return 0;
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) { return (void)device, *bytes = (size_t)1 << 31, 0; }
int cuDevicePrimaryCtxRetain(void** context, int device) { return (void)device, *context = &fake_devices, 0; }
int cuDevicePrimaryCtxRelease_v2(int device) { return (void)device, 0; }
int cuCtxSetCurrent(void* context) { return context == &fake_devices ? 0 : 201; }
int cuMemGetInfo_v2(size_t* available, size_t* total) {
  *available = fake_free_bytes;
  *total = (size_t)1 << 31;
  return 0;
}
int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  if (bytes == 0) return 1;
  void* const place = malloc(bytes);
  if (place == 0) return 2;
  memset(place, 0x5a, bytes);
  *address = (uint64_t)(uintptr_t)place;
  ++fake_allocations;
  return 0;
}
int cuMemFree_v2(uint64_t address) {
  free((void*)(uintptr_t)address);
  --fake_allocations;
  return 0;
}
int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) {
  memcpy((void*)(uintptr_t)to, from, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
  memcpy(to, (const void*)(uintptr_t)from, bytes);
  return 0;
}
int cuMemsetD8_v2(uint64_t to, unsigned char value, size_t bytes) {
  memset((void*)(uintptr_t)to, value, bytes);
  return 0;
}
int cuModuleLoadData(void** module, const void* image) {
  Dl_info info;
  struct link_map* map = 0;
  struct fake_module* made = calloc(1, sizeof *made);
  fake_image = image;
  if (made == 0) return 2;
  if (dladdr1(image, &info, (void**)&map, RTLD_DL_LINKMAP) != 0 && map != 0)
    made->kernel = dlsym(map, SCHAAS_GPU_SYMBOL);
  *module = made;
  return 0;
}
int cuModuleUnload(void* module) { return free(module), 0; }
int cuModuleGetFunction(void** function, void* module, const char* name) {
  struct fake_module* from = module;
  for (int n = 0; from->kernel != 0 && n < from->kernel->phase_count && n < 16; ++n) {
    if (strcmp(from->kernel->phases[n].function, name) != 0) continue;
    from->functions[n].name = name; /* of the kernel, which stays */
    from->functions[n].phase = &from->kernel->phases[n];
    *function = &from->functions[n];
    return 0;
  }
  return 500;
}
int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void** parameters,
                   void** extra) {
  const struct fake_function* called = function;
  if (grid_y * grid_z * block_y * block_z != 1 || shared_bytes != 0 || extra != 0) return 1;
  if (block_x != (unsigned)called->phase->block) return 1;
  ++fake_launches;
  if (fake_launch != 0) return fake_launch(called->name, grid_x, block_x, parameters[0]);
  return called->phase->launch == 0 ? 1 : called->phase->launch(parameters[0], grid_x, stream);
}
int cuCtxSynchronize(void) { return 0; }
int cuGetErrorString(int error, const char** text) {
  return *text = error == 719 ? "launch failed" : "other", 0;
}
