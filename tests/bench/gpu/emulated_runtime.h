// What runner.cu calls of the CUDA runtime, on the host: to check the runner and the kernels where no device
// is. Kernels are emulated (cuda_emulation.h), a clock stands in for events.
#pragma once
#include <chrono>
#include <cstdlib>
#include <cstring>

using cudaEvent_t = std::chrono::steady_clock::time_point*;
enum { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };

template <class T>
int cudaMalloc(T** at, std::size_t bytes) {
  *at = static_cast<T*>(std::malloc(bytes));
  return *at == nullptr ? 2 : 0;
}
inline int cudaFree(void* at) { return std::free(at), 0; }
inline int cudaMemcpy(void* to, const void* from, std::size_t bytes, int) {
  return std::memcpy(to, from, bytes), 0;
}
inline int cudaMemset(void* at, int value, std::size_t bytes) { return std::memset(at, value, bytes), 0; }
inline int cudaMemsetAsync(void* at, int value, std::size_t bytes) { return cudaMemset(at, value, bytes); }
inline int cudaDeviceSynchronize() { return 0; }
inline int cudaEventCreate(cudaEvent_t* event) {
  return *event = new std::chrono::steady_clock::time_point, 0;
}
inline int cudaEventDestroy(cudaEvent_t event) { return delete event, 0; }
inline int cudaEventRecord(cudaEvent_t event) { return *event = std::chrono::steady_clock::now(), 0; }
inline int cudaEventSynchronize(cudaEvent_t) { return 0; }
inline int cudaEventElapsedTime(float* ms, cudaEvent_t begin, cudaEvent_t end) {
  return *ms = std::chrono::duration<float, std::milli>(*end - *begin).count(), 0;
}
