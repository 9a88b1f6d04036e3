/* A kernel as the server would compile it, written by hand: A(i,k) += B(i,j) * C(j,k), B csr; two phases (the first only
 * counts rows into a shared array), a workspace per thread that it leaves zeroed. Variants are chosen by macros. */
#include "proto/kernel_abi.h"

#ifndef FIXTURE_ABI
#define FIXTURE_ABI SCHAAS_KERNEL_ABI_VERSION
#endif
#ifndef FIXTURE_ISA
#define FIXTURE_ISA "generic"
#endif
#ifndef FIXTURE_ASSIGN
#define FIXTURE_ASSIGN "="
#endif
#ifndef FIXTURE_FILL
#define FIXTURE_FILL 0.0
#endif
/* What a compiler's mistake could do: skip the last row, leave the workspace as it is, look beyond an array. */
enum { FIXTURE_SKIPS = 1, FIXTURE_LEAVES_DIRT = 2, FIXTURE_OVERRUNS = 3, FIXTURE_NEVER_ENDS = 4 };
#ifndef FIXTURE_MISTAKE
#define FIXTURE_MISTAKE 0
#endif
#ifndef FIXTURE_ERROR
#define FIXTURE_ERROR SCHAAS_OK
#endif

static int64_t rows(const schaas_tensor* const* args) { return args[0]->extents[0]; }

static int32_t count_rows(const schaas_tensor* const* args, void* const* shared, void* workspace, int64_t begin,
                          int64_t end) {
  (void)args;
  (void)workspace;
  int64_t* seen = (int64_t*)shared[0];
  for (int64_t i = begin; i < end; ++i) seen[i] += 1;
  return SCHAAS_OK;
}

static int32_t multiply(const schaas_tensor* const* args, void* const* shared, void* workspace, int64_t begin,
                        int64_t end) {
  const int64_t* seen = (const int64_t*)shared[0];
  const int32_t* pos = (const int32_t*)args[1]->levels[1].pos;
  const int32_t* crd = (const int32_t*)args[1]->levels[1].crd;
  const double* b = (const double*)args[1]->values;
  const double* c = (const double*)args[2]->values;
  double* a = (double*)args[0]->values;
  double* row = (double*)workspace;
  const int64_t width = args[0]->extents[1];
  if (FIXTURE_ERROR != SCHAAS_OK) return FIXTURE_ERROR;
  if (FIXTURE_MISTAKE == FIXTURE_NEVER_ENDS) {
    for (volatile int forever = 1; forever;) {
    }
  }
  if (FIXTURE_MISTAKE == FIXTURE_SKIPS && end == rows(args) && end > begin) --end;
  if (FIXTURE_MISTAKE == FIXTURE_OVERRUNS && end > begin && b[pos[end]] == 0.5) return SCHAAS_ERROR_ARGUMENT;
  for (int64_t i = begin; i < end; ++i) {
    for (int32_t p = pos[i]; p < pos[i + 1]; ++p) {
      for (int64_t k = 0; k < width; ++k) row[k] += b[p] * c[crd[p] * width + k];
    }
    for (int64_t k = 0; k < width; ++k) {
      a[i * width + k] += row[k] * (double)seen[i]; /* seen is 1: each row was counted once, before */
      if (FIXTURE_MISTAKE != FIXTURE_LEAVES_DIRT) row[k] = 0;
    }
  }
  return SCHAAS_OK;
}

static int64_t shared_bytes(const schaas_tensor* const* args, int32_t which) {
  (void)which;
  return 8 * args[0]->extents[0];
}
static int64_t workspace_bytes(const schaas_tensor* const* args) { return 8 * args[0]->extents[1]; }

static const schaas_phase phases[] = {{count_rows, rows, 1, -1, 0, SCHAAS_STEP_COMPUTE, SCHAAS_FOLD_NONE, -1, 0, 0, 0, 0, 0, 0},
                                      {multiply, rows, 1, 1, 1, SCHAAS_STEP_COMPUTE, SCHAAS_FOLD_NONE, -1, 0, 0, 0, 0, 0, 0}};

#ifdef FIXTURE_FIXED
static const schaas_fixed_extent fixed[] = {FIXTURE_FIXED};
#define FIXTURE_FIXED_FIELDS .fixed_count = 1, .fixed = fixed
#else
#define FIXTURE_FIXED_FIELDS .fixed_count = 0
#endif

#ifndef FIXTURE_NO_SYMBOL
const schaas_kernel_descriptor schaas_kernel = {
    FIXTURE_ABI,     3,
    2,               1,
    phases,          shared_bytes,
    workspace_bytes, "00ff",
    "schaas-problem 1\nA(i,j) " FIXTURE_ASSIGN " B(i,k) * C(k,j)\nformat A dense,dense:0,1\nformat B dense,compressed:0,1\n"
    "format C dense,dense:0,1\nvalues f64\npositions 32\nprofile default\n",
    "trace",         FIXTURE_ISA,
    0,               0,
    FIXTURE_FILL,    FIXTURE_FIXED_FIELDS};
#endif
