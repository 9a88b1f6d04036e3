/* The ABI of kernels for GPUs: what the host half of a generated kernel exports. Version 2.
 *
 * A kernel is one or a few PHASES, run in order, each one launch of a function of the device. Tensors are
 * those of kernel_abi.h: the structs lie on the host, and what `pos`, `crd` and `values` point to on the
 * device. Whoever runs the kernel sets the result's values to `result_fill` before the first phase unless
 * writes_all, gives each of the `shared_count` shared arrays shared_bytes(args, which) bytes of the device,
 * zeroed, and, where workspace_bytes(args) is not 0, so many zeroed bytes for each thread that runs at the
 * same time.
 *
 * prepare() fills the one parameter of the device function, a struct of `parameter_bytes` bytes passed by
 * value, and says how many blocks of `block` threads (one-dimensional) to launch: 0: nothing to do; -1: the
 * arguments are not those the kernel was made for. Fewer blocks compute the same, in more turns.
 *
 * On the wire and on disk: fields are only ever appended, with a new version number.
 */
#ifndef SCHAAS_GPU_ABI_H
#define SCHAAS_GPU_ABI_H

#include <stdint.h>

#include "proto/kernel_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SCHAAS_GPU_ABI_VERSION 2
#define SCHAAS_GPU_SYMBOL "schaas_gpu_kernel"
/* The largest extent and number of entries of kernels with positions of 32 bits: loops may step beyond their
 * end. */
#define SCHAAS_GPU_MOST_ITERATIONS (INT32_MAX - 65535)

typedef struct schaas_gpu_phase {
  const char* function; /* of the device module */
  int32_t block;        /* threads of a block */
  int32_t parameter_bytes;
  int64_t (*prepare)(const schaas_tensor* const* args, void* const* shared, void* workspace,
                     int64_t workspace_threads, void* parameters);
  /* Launches on a stream; null where the host half was compiled without the device's. 0: launched. */
  int32_t (*launch)(const void* parameters, int64_t blocks, void* stream);
} schaas_gpu_phase;

typedef struct schaas_gpu_descriptor {
  int32_t abi_version;
  int32_t argument_count;
  int32_t phase_count;
  int32_t shared_count;
  const schaas_gpu_phase* phases;
  int64_t (*shared_bytes)(const schaas_tensor* const* args, int32_t which);
  int64_t (*workspace_bytes)(const schaas_tensor* const* args); /* of one thread */
  const char* key;
  const char* problem;
  const char* schedule;
  double result_fill;
  int32_t writes_all;
  int32_t copy_count; /* as in kernel_abi.h */
  const schaas_copy* copies;
  int32_t
      result_entries_of; /* the argument whose levels, with their arrays, the result has; -1: it is dense */
  int32_t fixed_count;
  const schaas_fixed_extent* fixed; /* as in kernel_abi.h */
} schaas_gpu_descriptor;

/* Beside the descriptor in a shared object: modules of the device, the last with architecture 0. "sm_80":
 * cubin, runs on 8.0 and later 8.x. "compute_90": PTX, which the driver compiles for 9.0 and anything newer.
 */
#define SCHAAS_GPU_IMAGES_SYMBOL "schaas_gpu_images"
typedef struct schaas_gpu_image {
  const char* architecture;
  const void* bytes;
  int64_t size;
} schaas_gpu_image;

#ifdef __cplusplus
}
#endif
#endif /* SCHAAS_GPU_ABI_H */
