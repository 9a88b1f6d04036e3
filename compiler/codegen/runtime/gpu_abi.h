/// The structs of proto/gpu_abi.h, as abi.h those of proto/kernel_abi.h.
#pragma once
#include "abi.h"
#define SCHAAS_GPU_MOST_ITERATIONS (INT32_MAX - 65535)
typedef struct schaas_gpu_phase {
  const char* function;
  int32_t block;
  int32_t parameter_bytes;
  int64_t (*prepare)(const schaas_tensor* const* args, void* const* shared, void* workspace,
                     int64_t workspace_threads, void* parameters);
  int32_t (*launch)(const void* parameters, int64_t blocks, void* stream);
} schaas_gpu_phase;

typedef struct schaas_gpu_descriptor {
  int32_t abi_version;
  int32_t argument_count;
  int32_t phase_count;
  int32_t shared_count;
  const schaas_gpu_phase* phases;
  int64_t (*shared_bytes)(const schaas_tensor* const* args, int32_t which);
  int64_t (*workspace_bytes)(const schaas_tensor* const* args);
  const char* key;
  const char* problem;
  const char* schedule;
  double result_fill;
  int32_t writes_all;
  int32_t copy_count;
  const schaas_copy* copies;
  int32_t result_entries_of;
  int32_t fixed_count;
  const schaas_fixed_extent* fixed;
} schaas_gpu_descriptor;

typedef struct schaas_gpu_image {
  const char* architecture;
  const void* bytes;
  int64_t size;
} schaas_gpu_image;
