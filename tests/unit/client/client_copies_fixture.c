/* A kernel that reads its operand from a copy: y(j) = B(i,j), B csr, its sums column by column from a copy in csc. */
#include "proto/kernel_abi.h"

#ifndef FIXTURE_COPIED
#define FIXTURE_COPIED 1
#endif
#ifndef FIXTURE_MODES
#define FIXTURE_MODES {1, 0}
#endif

static int64_t columns(const schaas_tensor* const* args) { return args[0]->extents[0]; }

static int32_t sum(const schaas_tensor* const* args, void* const* shared, void* workspace, int64_t begin,
                   int64_t end) {
  const int32_t* pos = (const int32_t*)args[2]->levels[1].pos;
  const double* values = (const double*)args[2]->values;
  double* y = (double*)args[0]->values;
  (void)shared;
  (void)workspace;
  for (int64_t j = begin; j < end; ++j) {
    for (int32_t p = pos[j]; p < pos[j + 1]; ++p) y[j] += values[p];
  }
  return SCHAAS_OK;
}

static int64_t none(const schaas_tensor* const* args, int32_t which) {
  (void)args;
  (void)which;
  return 0;
}
static int64_t nothing(const schaas_tensor* const* args) {
  (void)args;
  return 0;
}

static const schaas_phase phases[] = {{sum, columns, 1, 2, 1, SCHAAS_STEP_COMPUTE}};
static const int32_t modes[] = FIXTURE_MODES;
static const schaas_copy copies[] = {{FIXTURE_COPIED, modes}};

const schaas_kernel_descriptor schaas_kernel = {
    .abi_version = SCHAAS_KERNEL_ABI_VERSION,
    .argument_count = 3,
    .phase_count = 1,
    .phases = phases,
    .shared_bytes = none,
    .workspace_bytes = nothing,
    .key = "00cc",
    .problem = "schaas-problem 1\ny(j) = B(i,j)\nformat y dense:0\nformat B dense,compressed:0,1\nvalues f64\n"
               "positions 32\nprofile default\n",
    .schedule = "store(tensor=B, order={1,0})",
    .isa = "generic",
    .copy_count = 1,
    .copies = copies,
};
