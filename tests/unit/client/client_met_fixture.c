/* A kernel that makes what the entries of its operand meet: y(i) = B(i,j) * x(j), B csr, from w(j) = 2 x(j) of the columns that
 * have entries. Others of w hold what they held before. */
#include "proto/kernel_abi.h"

#ifndef FIXTURE_START
#define FIXTURE_START SCHAAS_SHARED_MET
#endif
#ifndef FIXTURE_ARGUMENT
#define FIXTURE_ARGUMENT 1
#endif
#ifndef FIXTURE_LEVEL
#define FIXTURE_LEVEL 1
#endif

static int64_t rows(const schaas_tensor* const* args) { return args[0]->extents[0]; }
static int64_t columns(const schaas_tensor* const* args) { return args[2]->extents[0]; }

static int32_t twice(const schaas_tensor* const* args, void* const* shared, void* workspace, int64_t begin,
                     int64_t end) {
  const int64_t* met = (const int64_t*)shared[1];
  const double* x = (const double*)args[2]->values;
  double* w = (double*)shared[0];
  (void)workspace;
  for (int64_t q = begin; q < end; ++q) w[met[q]] = 2 * x[met[q]];
  return SCHAAS_OK;
}

static int32_t sum(const schaas_tensor* const* args, void* const* shared, void* workspace, int64_t begin,
                   int64_t end) {
  const int32_t* pos = (const int32_t*)args[1]->levels[1].pos;
  const int32_t* crd = (const int32_t*)args[1]->levels[1].crd;
  const double* b = (const double*)args[1]->values;
  const double* w = (const double*)shared[0];
  double* y = (double*)args[0]->values;
  (void)workspace;
  for (int64_t i = begin; i < end; ++i) {
    for (int32_t p = pos[i]; p < pos[i + 1]; ++p) y[i] += b[p] * w[crd[p]] / 2;
  }
  return SCHAAS_OK;
}

static int64_t shared_bytes(const schaas_tensor* const* args, int32_t which) {
  (void)which;
  return 8 * columns(args);
}
static int64_t nothing(const schaas_tensor* const* args) {
  (void)args;
  return 0;
}

static const schaas_phase phases[] = {
    {.run = twice, .range = columns, .parallel = 1, .balance_arg = -1, .fold_target = -1, .over = 2},
    {.run = sum, .range = rows, .parallel = 1, .balance_arg = -1, .fold_target = -1}};
static const schaas_shared shared[] = {{SCHAAS_SHARED_STORED, -1, -1},
                                       {FIXTURE_START, FIXTURE_ARGUMENT, FIXTURE_LEVEL}};

const schaas_kernel_descriptor schaas_kernel = {
    .abi_version = SCHAAS_KERNEL_ABI_VERSION,
    .argument_count = 3,
    .phase_count = 2,
    .shared_count = 2,
    .phases = phases,
    .shared_bytes = shared_bytes,
    .workspace_bytes = nothing,
    .key = "00dd",
    .problem = "schaas-problem 1\ny(i) = B(i,j) * x(j)\nformat y dense:0\nformat B dense,compressed:0,1\nformat x dense:0\n"
               "values f64\npositions 32\nprofile default\n",
    .schedule = "trace",
    .isa = "generic",
    .shared = shared,
};
