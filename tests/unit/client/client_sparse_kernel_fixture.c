/* Kernels with compressed results, written by hand: they count, the client scans and allocates, they fill. Variants:
 * product (default): A(i,j) = B(i,k) * C(k,j), all csr. The workspace holds a row of sums, its flags and its list.
 * FIXTURE_DCSR: A(i,j) = B(i,j) * c(j), A and B dcsr; rows of which nothing is kept vanish. A unit is a row that B stores. */
#include <stdlib.h>

#include "proto/kernel_abi.h"

#ifndef FIXTURE_POSITION
#define FIXTURE_POSITION int32_t
#define FIXTURE_POSITIONS "32"
#endif
#ifndef FIXTURE_COUNT_TIMES /* a wrong count, to reach limits without filling memory */
#define FIXTURE_COUNT_TIMES 1
#endif
#ifndef FIXTURE_ERROR /* of the phase that fills */
#define FIXTURE_ERROR SCHAAS_OK
#endif
#ifndef FIXTURE_COUNTERS
#define FIXTURE_COUNTERS 1
#endif
#ifndef FIXTURE_ASSIGN
#define FIXTURE_ASSIGN "="
#endif
#ifndef FIXTURE_FILL
#define FIXTURE_FILL 0.0
#endif
typedef FIXTURE_POSITION position;

static const position* pos_of(const schaas_tensor* tensor, int level) { return (const position*)tensor->levels[level].pos; }
static const position* crd_of(const schaas_tensor* tensor, int level) { return (const position*)tensor->levels[level].crd; }

#ifndef FIXTURE_DCSR

static int64_t units(const schaas_tensor* const* args) { return args[0]->extents[0]; }
static int64_t shared_bytes(const schaas_tensor* const* args, int32_t which) {
  return which == 1 ? 8 * (units(args) + 1) : 8;
}
static int64_t workspace_bytes(const schaas_tensor* const* args) { return 17 * args[0]->extents[1] + 64; }

struct row {
  double* sums;
  int64_t* list;
  char* flags;
  int64_t length;
};
static struct row row_in(void* workspace, const schaas_tensor* const* args) {
  const int64_t columns = args[0]->extents[1];
  struct row row = {(double*)workspace, (int64_t*)workspace + columns, (char*)workspace + 16 * columns, 0};
  return row;
}
static void multiply_row(struct row* row, const schaas_tensor* const* args, int64_t i) {
  const double* b = (const double*)args[1]->values;
  const double* c = (const double*)args[2]->values;
  row->length = 0;
  for (position p = pos_of(args[1], 1)[i]; p < pos_of(args[1], 1)[i + 1]; ++p) {
    const position k = crd_of(args[1], 1)[p];
    for (position q = pos_of(args[2], 1)[k]; q < pos_of(args[2], 1)[k + 1]; ++q) {
      const position j = crd_of(args[2], 1)[q];
      if (!row->flags[j]) row->flags[j] = 1, row->list[row->length++] = j;
      row->sums[j] += b[p] * c[q];
    }
  }
}
static void reset(struct row* row) {
  for (int64_t n = 0; n < row->length; ++n) row->flags[row->list[n]] = 0, row->sums[row->list[n]] = 0;
}
static int ascending(const void* a, const void* b) {
  const int64_t x = *(const int64_t*)a, y = *(const int64_t*)b;
  return (x > y) - (x < y);
}

/* A shared temporary before anything is counted: it must survive, and be made again, when only values are. */
static int32_t prepare(const schaas_tensor* const* args, void* const* shared, void* workspace, int64_t begin, int64_t end) {
  (void)args, (void)workspace;
  if (begin < end) *(double*)shared[0] += 1;
  return SCHAAS_OK;
}
static int64_t one(const schaas_tensor* const* args) { return (void)args, 1; }

static int32_t count(const schaas_tensor* const* args, void* const* shared, void* workspace, int64_t begin, int64_t end) {
  struct row row = row_in(workspace, args);
  for (int64_t i = begin; i < end; ++i) {
    multiply_row(&row, args, i);
    ((int64_t*)shared[1])[i] += row.length * FIXTURE_COUNT_TIMES;
    reset(&row);
  }
  return SCHAAS_OK;
}

static int32_t fill(const schaas_tensor* const* args, void* const* shared, void* workspace, int64_t begin, int64_t end) {
  const schaas_level* level = &args[0]->levels[1];
  const int64_t* counter = (const int64_t*)shared[1];
  struct row row = row_in(workspace, args);
  if (FIXTURE_ERROR != SCHAAS_OK) return FIXTURE_ERROR;
  for (int64_t i = begin; i < end; ++i) {
    int64_t at = counter[i];
    multiply_row(&row, args, i);
    qsort(row.list, (size_t)row.length, sizeof *row.list, ascending);
    for (int64_t n = 0; n < row.length; ++n, ++at) {
      ((position*)level->crd)[at] = (position)row.list[n];
      ((double*)args[0]->values)[at] += row.sums[row.list[n]] * *(const double*)shared[0];
    }
    ((position*)level->pos)[i + 1] = (position)at;
    reset(&row);
  }
  return SCHAAS_OK;
}

#ifdef FIXTURE_VALUES_TIMES /* as fill, times this, of a result that has its structure: the coordinates are read */
static int32_t fill_values(const schaas_tensor* const* args, void* const* shared, void* workspace, int64_t begin,
                           int64_t end) {
  const schaas_level* level = &args[0]->levels[1];
  struct row row = row_in(workspace, args);
  for (int64_t i = begin; i < end; ++i) {
    multiply_row(&row, args, i);
    for (position at = ((const position*)level->pos)[i]; at < ((const position*)level->pos)[i + 1]; ++at)
      ((double*)args[0]->values)[at] +=
          FIXTURE_VALUES_TIMES * row.sums[((const position*)level->crd)[at]] * *(const double*)shared[0];
    reset(&row);
  }
  return SCHAAS_OK;
}
#define FIXTURE_VALUES fill_values
#else
#define FIXTURE_VALUES 0
#endif

static const schaas_phase phases[] = {{prepare, one, 0, -1, 0, SCHAAS_STEP_COMPUTE, SCHAAS_FOLD_NONE, -1, 0, 0, 0, 0, 0, 0},
                                      {count, units, 1, 1, 1, SCHAAS_STEP_COUNT, SCHAAS_FOLD_NONE, -1, 0, 0, 0, 0, 0, 0},
                                      {fill, units, 1, 1, 1, SCHAAS_STEP_COMPUTE, SCHAAS_FOLD_NONE, -1, 0, 0, 0, 0, 0, FIXTURE_VALUES}};
static const schaas_counter counters[] = {{1, 1}};
#define FIXTURE_PHASES 3
#define FIXTURE_PROBLEM                                                                                          \
  "schaas-problem 1\nA(i,j) " FIXTURE_ASSIGN " B(i,k) * C(k,j)"                                                                         \
  "\nformat A dense,compressed:0,1\nformat B dense,compressed:0,1\nformat C dense,compressed:0,1\nvalues f64\n" \
  "positions " FIXTURE_POSITIONS "\nprofile default\n"

#else /* FIXTURE_DCSR */

static int64_t units(const schaas_tensor* const* args) { return args[1]->levels[0].entries; }
static int64_t shared_bytes(const schaas_tensor* const* args, int32_t which) { return (void)which, 8 * (units(args) + 1); }
static int64_t workspace_bytes(const schaas_tensor* const* args) { return (void)args, 0; }

/* Entries of row p of B where c is not 0. */
static int32_t count(const schaas_tensor* const* args, void* const* shared, void* workspace, int64_t begin, int64_t end) {
  const double* c = (const double*)args[2]->values;
  (void)workspace;
  for (int64_t p = begin; p < end; ++p) {
    int64_t kept = 0;
    for (position q = pos_of(args[1], 1)[p]; q < pos_of(args[1], 1)[p + 1]; ++q) kept += c[crd_of(args[1], 1)[q]] != 0;
    ((int64_t*)shared[0])[p] = kept > 0;
    ((int64_t*)shared[1])[p] = kept;
  }
  return SCHAAS_OK;
}

static int32_t fill(const schaas_tensor* const* args, void* const* shared, void* workspace, int64_t begin, int64_t end) {
  const double* b = (const double*)args[1]->values;
  const double* c = (const double*)args[2]->values;
  (void)workspace;
  for (int64_t p = begin; p < end; ++p) {
    const int64_t row = ((const int64_t*)shared[0])[p];
    int64_t at = ((const int64_t*)shared[1])[p];
    if (((const int64_t*)shared[0])[p + 1] == row) continue;
    ((position*)args[0]->levels[0].crd)[row] = crd_of(args[1], 0)[p];
    for (position q = pos_of(args[1], 1)[p]; q < pos_of(args[1], 1)[p + 1]; ++q) {
      const position j = crd_of(args[1], 1)[q];
      if (c[j] == 0) continue;
      ((position*)args[0]->levels[1].crd)[at] = j;
      ((double*)args[0]->values)[at++] = b[q] * c[j];
    }
    ((position*)args[0]->levels[1].pos)[row + 1] = (position)at;
  }
  return SCHAAS_OK;
}

static const schaas_phase phases[] = {{count, units, 1, 1, 1, SCHAAS_STEP_COUNT, SCHAAS_FOLD_NONE, -1, 0, 0, 0, 0, 0, 0},
                                      {fill, units, 1, 1, 1, SCHAAS_STEP_COMPUTE, SCHAAS_FOLD_NONE, -1, 0, 0, 0, 0, 0, 0}};
static const schaas_counter counters[] = {{0, 0}, {1, 1}};
#define FIXTURE_PHASES 2
#undef FIXTURE_COUNTERS
#define FIXTURE_COUNTERS 2
#define FIXTURE_PROBLEM                                                                                        \
  "schaas-problem 1\nA(i,j) = B(i,j) * C(j)\nformat A compressed,compressed:0,1\nformat B compressed,compressed:0,1\n" \
  "format C dense:0\nvalues f64\npositions " FIXTURE_POSITIONS "\nprofile default\n"

#endif

const schaas_kernel_descriptor schaas_kernel = {SCHAAS_KERNEL_ABI_VERSION,
                                                3,
                                                FIXTURE_PHASES,
                                                2,
                                                phases,
                                                shared_bytes,
                                                workspace_bytes,
                                                "00fe",
                                                FIXTURE_PROBLEM,
                                                "trace",
                                                "generic",
                                                FIXTURE_COUNTERS,
                                                counters,
                                                FIXTURE_FILL};
