/* The kernel ABI: the C structs a generated kernel receives and the descriptor it exports. Version 1.
 *
 * A kernel computes `result += product of operands` over tensors packed by the client. It is one or a few PHASES, run in
 * order with a barrier between them; each phase is a plain C function over a half-open range of its outermost loop (rows, or
 * positions of a compressed level). The client owns the threads: it splits [0, range(args)) into balanced pieces and calls
 * `run` on each, on many threads at once when `parallel` is set, else on one. Kernels are re-entrant, allocate nothing, keep
 * no state, never abort and never read outside the arrays, given valid tensors: positions ascending, coordinates below
 * the extent, sorted and unique within a fiber (the client checks this before the first call).
 * The client sets the result's values to zero before the first phase: kernels accumulate into them.
 *
 * On the wire and on disk: fields are only ever appended, with a new version number.
 */
#ifndef SCHAAS_KERNEL_ABI_H
#define SCHAAS_KERNEL_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCHAAS_KERNEL_ABI_VERSION 1
#define SCHAAS_KERNEL_SYMBOL "schaas_kernel"

enum { SCHAAS_LEVEL_DENSE = 0, SCHAAS_LEVEL_COMPRESSED = 1 };
enum { SCHAAS_F64 = 0, SCHAAS_F32 = 1 };

/* One storage level. dense: pos and crd are null. compressed: pos has entries(parent) + 1 elements, crd has
 * pos[last] elements, both of `index_bits` bits, signed. */
typedef struct schaas_level {
  int32_t format;     /* SCHAAS_LEVEL_* */
  int32_t index_bits; /* 32 or 64; 0 for dense */
  const void* pos;
  const void* crd;
  int64_t entries;    /* stored entries of this level: dense: entries(parent) * extent */
} schaas_level;

/* Levels are in storage order; level l stores mode mode_order[l]. values has entries(last level) elements (1 for a scalar). */
typedef struct schaas_tensor {
  int32_t order;
  int32_t value_type; /* SCHAAS_F64 or SCHAAS_F32 */
  const int64_t* extents;      /* by mode */
  const int32_t* mode_order;   /* by level */
  const schaas_level* levels;  /* by level */
  void* values;
} schaas_tensor;

/* What a phase gets. args: the result first, then the operands, as the descriptor names them. shared: `shared_count`
 * arrays that live from the first phase that uses them to the last, zeroed by the client before the first phase, 64-byte
 * aligned. workspace: private to the calling thread, workspace_bytes(args), 64-byte aligned, zeroed once before
 * the first call of a thread; a kernel leaves it in a state in which it may be used again (also by another phase). */
typedef int32_t (*schaas_phase_run)(const schaas_tensor* const* args, void* const* shared, void* workspace,
                                    int64_t begin, int64_t end);

typedef struct schaas_phase {
  schaas_phase_run run;
  int64_t (*range)(const schaas_tensor* const* args); /* the outermost loop is [0, range) */
  int32_t parallel;      /* 1: disjoint ranges may run at the same time */
  int32_t balance_arg;   /* -1: iterations cost alike; else the argument whose level balance_level's positions weigh them: */
  int32_t balance_level; /* weight of iteration p = pos[p + 1] - pos[p] of that compressed level */
} schaas_phase;

typedef struct schaas_kernel_descriptor {
  int32_t abi_version;
  int32_t argument_count;
  int32_t phase_count;
  int32_t shared_count;
  const schaas_phase* phases;
  int64_t (*shared_bytes)(const schaas_tensor* const* args, int32_t which);
  int64_t (*workspace_bytes)(const schaas_tensor* const* args);
  const char* key;      /* kernel key, hexadecimal */
  const char* problem;  /* canonical problem text: formats, value type, position width of every argument */
  const char* schedule; /* trace */
  const char* isa;      /* x86-64-v2, x86-64-v3, x86-64-v4, ..., generic */
} schaas_kernel_descriptor;

/* run returns 0, or */
enum { SCHAAS_OK = 0, SCHAAS_ERROR_ARGUMENT = 1 };

#ifdef __cplusplus
}
#endif
#endif /* SCHAAS_KERNEL_ABI_H */
