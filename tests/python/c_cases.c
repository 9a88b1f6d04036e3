/* The C interface with operands that are wrong, results in the memory of operands, and fill values. Prints
 * each case that fails and returns their number. Needs a server ($SCHAAS_SERVER). Built with
 * -fsanitize=address it shows that no case leaves its arrays: each of them is an allocation of its own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schaas/schaas.h"

static int failures = 0;
static schaas_session* session = NULL;
static schaas_error* error = NULL;

static void expect(int holds, const char* what) {
  if (holds) return;
  ++failures;
  printf("FAILED %s\n", what);
}

/* The call failed, with this code and with these words in its message. */
static void expect_error(int32_t status, const char* code, const char* words, const char* what) {
  const int right = status == SCHAAS_INVALID && error != NULL && strcmp(schaas_error_code(error), code) == 0 &&
                    strstr(schaas_error_text(error), words) != NULL;
  if (!right) printf("status %d: %s\n", status, error == NULL ? "no error" : schaas_error_text(error));
  expect(right, what);
  schaas_error_free(error);
  error = NULL;
}

static int succeeded(int32_t status, const char* what) {
  if (status != 0) printf("%s\n", schaas_error_text(error));
  expect(status == 0, what);
  schaas_error_free(error);
  error = NULL;
  return status == 0;
}

static void* array(const void* values, size_t bytes) {
  void* copy = malloc(bytes);
  if (bytes > 0) memcpy(copy, values, bytes);
  return copy;
}

static int equal(const double* found, const double* wanted, int count) {
  for (int n = 0; n < count; ++n)
    if (found[n] != wanted[n]) return 0;
  return 1;
}

static schaas_kernels* kernels_of(const char* expression, const char* const* formats, int count) {
  schaas_problem problem;
  schaas_kernels* kernels = NULL;
  memset(&problem, 0, sizeof problem);
  problem.struct_bytes = sizeof problem;
  problem.expression = expression;
  problem.formats = formats;
  problem.format_count = count;
  problem.value_type = SCHAAS_F64;
  problem.position_bits = 32;
  succeeded(schaas_kernels_open(session, &problem, &kernels, &error), expression);
  return kernels;
}

/* B = [[1 0 2] [0 0 0] [0 3 0]] in csr, x = (1 10 100), and a result y; the structs can be spoilt. */
typedef struct Product {
  int64_t matrix[2], vector[1], other[2];
  int32_t order[2];
  schaas_level csr[2], dense[2], result[1];
  int32_t *pos, *crd;
  double *values, *x, *y;
  schaas_tensor b, in, out;
  schaas_operand operands[2];
  schaas_options options;
} Product;

static void fill(Product* p) {
  const int32_t pos[] = {0, 2, 2, 3}, crd[] = {0, 2, 1};
  const double values[] = {1, 2, 3}, x[] = {1, 10, 100}, y[] = {-1, -1, -1};
  memset(p, 0, sizeof *p);
  p->matrix[0] = p->matrix[1] = p->vector[0] = p->other[0] = p->other[1] = 3;
  p->order[1] = 1;
  p->pos = array(pos, sizeof pos);
  p->crd = array(crd, sizeof crd);
  p->values = array(values, sizeof values);
  p->x = array(x, sizeof x);
  p->y = array(y, sizeof y);
  p->csr[0] = (schaas_level){SCHAAS_LEVEL_DENSE, 0, NULL, NULL, 3};
  p->csr[1] = (schaas_level){SCHAAS_LEVEL_COMPRESSED, 32, p->pos, p->crd, 3};
  p->dense[0] = p->result[0] = (schaas_level){SCHAAS_LEVEL_DENSE, 0, NULL, NULL, 3};
  p->dense[1] = (schaas_level){SCHAAS_LEVEL_DENSE, 0, NULL, NULL, 9};
  p->b = (schaas_tensor){2, SCHAAS_F64, p->matrix, p->order, p->csr, p->values};
  p->in = (schaas_tensor){1, SCHAAS_F64, p->vector, p->order, p->dense, p->x};
  p->out = (schaas_tensor){1, SCHAAS_F64, p->vector, p->order, p->result, p->y};
  p->operands[0] = (schaas_operand){"B", &p->b};
  p->operands[1] = (schaas_operand){"x", &p->in};
  p->options.struct_bytes = sizeof p->options;
  p->options.threads = 1;
  p->options.result = &p->out;
}

static void drop(Product* p) {
  free(p->pos);
  free(p->crd);
  free(p->values);
  free(p->x);
  free(p->y);
}

static schaas_kernels* product = NULL;
static int32_t compute(Product* p) {
  return schaas_compute(product, p->operands, 2, &p->options, NULL, &error);
}

/* Spoils one thing of a product: `spoil` is a statement about `p`. Each is refused, also when arrays are
 * trusted. */
#define REFUSED(spoil, code, words)                          \
  for (int trusted = 0; trusted < 2; ++trusted) {            \
    Product at, *p = &at;                                    \
    fill(p);                                                 \
    p->options.trusted = trusted;                            \
    spoil;                                                   \
    expect_error(compute(p), code, words, trusted ? "trusted: " #spoil : #spoil); \
    drop(p);                                                 \
  }

static void wrong_structs(void) {
  const char* structure = "tensor-structure";
  REFUSED(p->in.order = 2; p->in.extents = p->other, "operand-rank", "`x` has shape (3, 3), the expression has `x(j)`")
  REFUSED(p->in.order = 0, "operand-rank", "`x` has shape (), the expression has `x(j)`")
  REFUSED(p->b.order = 1, "operand-rank", "`B` has shape (3,), the expression has `B(i,j)`")
  REFUSED(p->b.order = -1, structure, "`B` has order -1")
  REFUSED(p->b.order = 1000000000, structure, "`B` has order 1000000000")
  REFUSED(p->matrix[1] = -3, structure, "`B` has the negative extent -3")
  REFUSED(p->in.extents = p->other; p->other[0] = -1, structure, "`x` has the negative extent -1")
  REFUSED(p->matrix[0] = INT64_C(1) << 62, structure, "`B`")
  REFUSED(p->in.extents = p->other; p->other[0] = INT64_C(1) << 62; p->dense[0].entries = INT64_C(1) << 62, structure, "`x`")
  REFUSED(p->in.extents = p->other; p->other[0] = 4, structure, "`x`")
  REFUSED(p->in.extents = p->other; p->other[0] = 4; p->dense[0].entries = 4, "extent-conflict", "`x(j)`")
  REFUSED(p->b.value_type = 99, structure, "`B` has the unknown value type 99")
  REFUSED(p->csr[1].index_bits = 16, structure, "16 bits")
  REFUSED(p->csr[1].index_bits = 0, structure, "0 bits")
  REFUSED(p->csr[1].format = 99, structure, "unknown level format 99")
  REFUSED(p->csr[1].format = -1, structure, "unknown level format -1")
  REFUSED(p->order[1] = 0, structure, "`B` mode order is not a permutation")
  REFUSED(p->order[1] = 2000000, structure, "`B` mode order is not a permutation")
  REFUSED(p->order[1] = -1, structure, "`B` mode order is not a permutation")
  REFUSED(p->b.levels = NULL, structure, "`B` has no levels")
  REFUSED(p->b.extents = NULL, structure, "`B` has no levels")
  REFUSED(p->b.mode_order = NULL, structure, "`B` has no levels")
  REFUSED(p->csr[1].pos = NULL, structure, "level 2: arrays are missing")
  REFUSED(p->csr[1].crd = NULL, structure, "level 2: arrays are missing")
  REFUSED(p->b.values = NULL, structure, "`B` has no values")
  REFUSED(p->in.values = NULL, structure, "`x` has no values")
  REFUSED(p->out.values = NULL, structure, "`y` has no values")
  REFUSED(p->csr[1].entries = -1, structure, "level 2: -1 entries")
  REFUSED(p->csr[1].entries = INT64_MAX, structure, "level 2: 9223372036854775807 entries")
  REFUSED(p->csr[0].entries = 4, structure, "level 1: 4 entries, but 1 parents of extent 3")
  REFUSED(p->b.values = (char*)p->values + 4, structure, "no multiple of 8")
  REFUSED(p->csr[1].crd = (char*)p->crd + 2, structure, "no multiple of 4")
  REFUSED(p->order[0] = 1; p->order[1] = 0; p->in.mode_order = p->out.mode_order = (int32_t[]){0}, "argument-format",
          "`B` is stored as dense,compressed:1,0")
  REFUSED(p->b.value_type = SCHAAS_F32, "argument-type", "`B` holds f32 values")
  REFUSED(p->out.order = 2; p->out.levels = p->dense; p->out.extents = p->other, "result-shape",
          "the tensor given for the result `y(i)` has shape (3, 3), the result has (3,)")
  REFUSED(p->out.extents = p->other; p->other[0] = 2; p->result[0].entries = 2, "result-shape", "has shape (2,), the result has (3,)")
  REFUSED(p->out.value_type = SCHAAS_F32, "argument-type", "`y(i)` holds f32 values")
  REFUSED(p->operands[1].name = NULL, "null-argument", "operands")
  REFUSED(p->operands[1].tensor = NULL, "null-argument", "operands")
  REFUSED(p->operands[1].name = "B", "given-twice", "`B` is given twice")
  REFUSED(p->operands[1].name = "z", "unknown-tensor", "`z`")
  REFUSED(p->options.struct_bytes = 8, "struct-size", "8")
  REFUSED(p->options.extent_count = 1, "null-argument", "extent_names")
  REFUSED(p->options.threads = -1, "threads", "-1")
}

/* Extents that are given by name, of an index that no operand has. */
static void wrong_extents(void) {
  const char* names[] = {"k"};
  int64_t extents[] = {2};
  schaas_kernels* outer = kernels_of("A(i,k) = 2 * x(i)", NULL, 0);
  schaas_storage* made = NULL;
  Product p;
  fill(&p);
  p.options.result = NULL;
  p.options.extent_names = names;
  p.options.extents = extents;
  expect_error(schaas_compute(outer, &p.operands[1], 1, &p.options, &made, &error), "missing-extent", "`k`", "no extent");
  p.options.extent_count = 1;
  if (succeeded(schaas_compute(outer, &p.operands[1], 1, &p.options, &made, &error), "an extent")) {
    expect(((const double*)schaas_storage_view(made)->values)[5] == 200, "an extent");
    schaas_storage_free(made);
  }
  extents[0] = -2;
  expect_error(schaas_compute(outer, &p.operands[1], 1, &p.options, &made, &error), "negative-extent", "`k` has extent -2",
               "a negative extent");
  names[0] = NULL;
  expect_error(schaas_compute(outer, &p.operands[1], 1, &p.options, &made, &error), "unknown-index", "", "an index without a name");
  names[0] = "k";
  for (int shift = 40; shift < 63; shift += 22) {
    extents[0] = INT64_C(1) << shift;
    const int32_t status = schaas_compute(outer, &p.operands[1], 1, &p.options, &made, &error);
    expect(status == SCHAAS_EXHAUSTED && strcmp(schaas_error_code(error), "memory") == 0, "an extent beyond memory");
    schaas_error_free(error);
    error = NULL;
  }
  schaas_kernels_close(outer);
  drop(&p);
}

/* Tensors without elements need no arrays. */
static void empty_tensors(void) {
  const int32_t pos[] = {0, 0, 0, 0};
  Product p;
  fill(&p);
  p.b.levels = p.csr;
  memcpy(p.pos, pos, sizeof pos);
  p.csr[1].entries = 0, p.csr[1].crd = NULL, p.b.values = NULL;
  if (succeeded(compute(&p), "no entries")) expect(p.y[0] == 0 && p.y[1] == 0 && p.y[2] == 0, "no entries");
  drop(&p);
  fill(&p);
  p.matrix[1] = 0, p.vector[0] = 3;
  memcpy(p.pos, pos, sizeof pos);
  p.csr[1].entries = 0, p.csr[1].crd = NULL, p.b.values = NULL;
  p.in.extents = p.other, p.other[0] = 0, p.dense[0].entries = 0, p.in.values = NULL;
  if (succeeded(compute(&p), "no columns")) expect(p.y[0] == 0 && p.y[1] == 0 && p.y[2] == 0, "no columns");
  drop(&p);
}

/* Lists of coordinates whose lengths differ. */
static void unequal_lists(void) {
  const char* formats[] = {"B", "coo"};
  schaas_kernels* kernels = kernels_of("y(i) = B(i,j) * x(j)", formats, 1);
  const int32_t pos[] = {0, 3}, rows[] = {0, 0, 2}, columns[] = {0, 2, 1};
  for (int trusted = 0; trusted < 2; ++trusted) {
    for (int off = -1; off < 2; ++off) {
      Product p;
      void* first = array(rows, sizeof rows);
      void* second = array(columns, sizeof columns);
      void* bounds = array(pos, sizeof pos);
      fill(&p);
      p.options.trusted = trusted;
      p.csr[0] = (schaas_level){SCHAAS_LEVEL_COMPRESSED_NONUNIQUE, 32, bounds, first, 3};
      p.csr[1] = (schaas_level){SCHAAS_LEVEL_SINGLETON, 32, NULL, second, 3 + off};
      const int32_t status = schaas_compute(kernels, p.operands, 2, &p.options, NULL, &error);
      if (off == 0) {
        if (succeeded(status, "a list of coordinates")) expect(p.y[0] == 201 && p.y[2] == 30, "a list of coordinates");
      } else {
        expect_error(status, "tensor-structure", "level 2: ", "unequal lists");
      }
      free(first);
      free(second);
      free(bounds);
      drop(&p);
    }
  }
  schaas_kernels_close(kernels);
}

/* Contents of arrays, which are looked at unless they are trusted. */
static void wrong_arrays(void) {
  Product p;
  for (int n = 0; n < 5; ++n) {
    fill(&p);
    if (n == 0) p.crd[1] = 3;
    if (n == 1) p.crd[0] = -1;
    if (n == 2) p.pos[1] = 7;
    if (n == 3) p.pos[3] = 1000000;
    if (n == 4) p.pos[0] = -5;
    expect_error(compute(&p), "tensor-structure", "`B` level 2", "contents of arrays");
    drop(&p);
  }
  fill(&p);
  expect_error(schaas_compute(product, NULL, 2, &p.options, NULL, &error), "null-argument", "operands", "no operands");
  expect_error(schaas_compute(product, p.operands, -1, &p.options, NULL, &error), "missing-operand", "no tensor is given",
               "a negative count");
  expect_error(schaas_compute(product, p.operands, 1, &p.options, NULL, &error), "missing-operand", "`x`", "one operand");
  p.options.result = NULL;
  expect_error(schaas_compute(product, p.operands, 2, &p.options, NULL, &error), "null-argument", "result", "no result");
  drop(&p);
}

static void wrong_problems(void) {
  schaas_problem good, problem;
  schaas_kernels* kernels = NULL;
  memset(&good, 0, sizeof good);
  good.struct_bytes = sizeof good;
  good.expression = "y(i) = B(i,j) * x(j)";
  good.position_bits = 32;
  problem = good, problem.struct_bytes = 4;
  expect_error(schaas_kernels_open(session, &problem, &kernels, &error), "struct-size", "4", "struct_bytes");
  problem = good, problem.expression = NULL;
  expect_error(schaas_kernels_open(session, &problem, &kernels, &error), "null-argument", "expression", "expression");
  problem = good, problem.value_type = 99;
  expect_error(schaas_kernels_open(session, &problem, &kernels, &error), "value-type", "9", "value_type");
  problem = good, problem.position_bits = 16;
  expect_error(schaas_kernels_open(session, &problem, &kernels, &error), "position-bits", "16", "position_bits");
  problem = good, problem.format_count = 1;
  expect_error(schaas_kernels_open(session, &problem, &kernels, &error), "null-argument", "formats", "formats");
  problem = good, problem.constraint_count = 1;
  expect_error(schaas_kernels_open(session, &problem, &kernels, &error), "null-argument", "constraints", "constraints");
}

static int32_t pack(int32_t order, const int64_t* extents, const int64_t* const* coordinates, const double* values,
                    int64_t entries, const char* format, double fill_value, schaas_storage** storage) {
  schaas_storage_options options = {sizeof options, fill_value, 0, 0};
  return schaas_pack_with("t", order, extents, coordinates, values, entries, format, SCHAAS_F64, 32, &options, storage,
                          &error);
}

static void wrong_storages(void) {
  const int64_t extents[] = {3, 3}, rows[] = {0, 2}, columns[] = {1, 2}, far[] = {1, 3};
  const int64_t negative[] = {3, -3};
  const int64_t* const modes[] = {rows, columns};
  const int64_t* const missing[] = {rows, NULL};
  const int64_t* const outside[] = {rows, far};
  const double values[] = {1, 2};
  schaas_storage_options options = {4, 0, 0, 0};
  schaas_storage* made = NULL;
  Product p;
  expect_error(pack(-2, extents, modes, values, 2, "csr", 0, &made), "tensor-structure", "order -2", "pack: order");
  expect_error(pack(1000000, extents, modes, values, 2, "csr", 0, &made), "tensor-structure", "order 1000000", "pack: order");
  expect_error(pack(2, extents, modes, values, -2, "csr", 0, &made), "tensor-structure", "-2 entries", "pack: entries");
  expect_error(pack(2, NULL, modes, values, 2, "csr", 0, &made), "null-argument", "extents", "pack: extents");
  expect_error(pack(2, extents, NULL, values, 2, "csr", 0, &made), "null-argument", "coordinates", "pack: coordinates");
  expect_error(pack(2, extents, missing, values, 2, "csr", 0, &made), "null-argument", "coordinates", "pack: coordinates of a mode");
  expect_error(pack(2, extents, modes, NULL, 2, "csr", 0, &made), "null-argument", "values", "pack: values");
  expect_error(pack(2, extents, outside, values, 2, "csr", 0, &made), "coordinate-range", "coordinate 3 in mode 2", "pack: outside");
  expect_error(pack(2, negative, modes, values, 2, "csr", 0, &made), "tensor-structure", "negative extent", "pack: negative");
  expect_error(pack(2, extents, modes, values, 2, "csx", 0, &made), "unknown-format", "csx", "pack: format");
  expect_error(pack(0, NULL, NULL, values, 2, "dense", 0, NULL), "null-argument", "storage", "pack: storage");
  expect_error(schaas_pack("t", 2, extents, modes, values, 2, "csr", 99, 32, &made, &error), "value-type", "99", "pack: value type");
  expect_error(schaas_pack("t", 2, extents, modes, values, 2, "csr", SCHAAS_F64, 33, &made, &error), "position-bits", "33",
               "pack: position bits");
  fill(&p);
  expect_error(schaas_convert_with("B", &p.b, "coo", &options, &made, &error), "struct-size", "4", "convert: struct_bytes");
  expect_error(schaas_convert("B", NULL, "coo", &made, &error), "null-argument", "tensor", "convert: tensor");
  p.crd[2] = 17;
  expect_error(schaas_convert("B", &p.b, "coo", &made, &error), "tensor-structure", "coordinate 17", "convert: outside");
  expect_error(schaas_write("/tmp/never.tns", &p.b, &error), "tensor-structure", "coordinate 17", "write: outside");
  expect_error(schaas_read(NULL, &made, &error), "null-argument", "path", "read: path");
  drop(&p);
  expect(made == NULL, "no storage is made");
}

/* y = B x, with y in memory of an operand. */
static void overlapping_results(void) {
  const double wanted[] = {201, 0, 30}, again[] = {402, 0, 90}, longer[] = {1, 10, 100, 7, 7, 7};
  Product p;
  schaas_computation* bound = NULL;
  fill(&p);
  p.out.values = p.x;
  if (succeeded(compute(&p), "the result is x")) expect(equal(p.x, wanted, 3), "the result is x");
  drop(&p);
  for (int shift = 1; shift < 3; ++shift) {
    double* both = array(longer, sizeof longer);
    fill(&p);
    p.in.values = both;
    p.out.values = both + shift;
    if (succeeded(compute(&p), "the result begins in x")) expect(equal(both + shift, wanted, 3), "the result begins in x");
    memmove(both + shift, longer, 3 * sizeof(double));
    p.in.values = both + shift;
    p.out.values = both;
    if (succeeded(compute(&p), "the result ends in x")) expect(equal(both, wanted, 3), "the result ends in x");
    free(both);
    drop(&p);
  }
  fill(&p);
  p.out.values = p.values;
  if (succeeded(compute(&p), "the result is B's values")) expect(equal(p.values, wanted, 3), "the result is B's values");
  drop(&p);
  fill(&p); /* runs again */
  p.out.values = p.x;
  if (succeeded(schaas_bind(product, p.operands, 2, &p.options, &bound, &error), "bind: the result is x")) {
    succeeded(schaas_run(bound, &error), "run: the result is x");
    expect(equal(p.x, wanted, 3) && schaas_result(bound)->values == (void*)p.x, "run: the result is x");
    p.x[0] = 2, p.x[1] = 30, p.x[2] = 200; /* the next operand */
    succeeded(schaas_run(bound, &error), "run again: the result is x");
    expect(equal(p.x, again, 3), "run again: the result is x");
    schaas_computation_close(bound);
  }
  drop(&p);
}

/* A result over positions and coordinates: B's structure is that of the binding. */
static void results_over_structure(void) {
  const double wanted[] = {201, 0, 30}, again[] = {402, 0, 60};
  for (int which = 0; which < 2; ++which) {
    Product p;
    schaas_computation* bound = NULL;
    double* space = malloc(3 * sizeof(double));
    fill(&p);
    if (which == 0) {
      memcpy(space, p.pos, 4 * sizeof(int32_t));
      p.csr[1].pos = space;
    } else {
      memcpy(space, p.crd, 3 * sizeof(int32_t));
      p.csr[1].crd = space;
    }
    p.out.values = space;
    if (succeeded(schaas_bind(product, p.operands, 2, &p.options, &bound, &error), "bind over structure")) {
      succeeded(schaas_run(bound, &error), "run over structure");
      expect(equal(space, wanted, 3), "run over structure");
      p.x[0] = 2, p.x[1] = 20, p.x[2] = 200;
      succeeded(schaas_run(bound, &error), "run again over structure");
      expect(equal(space, again, 3), "run again over structure");
      schaas_computation_close(bound);
    }
    free(space);
    drop(&p);
  }
}

/* y += B x: y starts from the operand of its name. */
static void updates(void) {
  const double start[] = {1000, 2000, 3000, 7}, wanted[] = {1201, 2000, 3030}, twice[] = {1402, 2000, 3060};
  const char* formats[] = {"B", "csr"};
  schaas_kernels* kernels = kernels_of("y(i) += B(i,j) * x(j)", formats, 1);
  for (int shift = 0; shift < 2; ++shift) { /* in place, and partly over itself */
    Product p;
    schaas_computation* bound = NULL;
    schaas_operand operands[3];
    schaas_tensor before;
    double* y = array(start, sizeof start);
    fill(&p);
    before = p.out;
    before.values = y;
    p.out.values = y + shift;
    operands[0] = p.operands[0], operands[1] = p.operands[1];
    operands[2] = (schaas_operand){"y", &before};
    if (succeeded(schaas_bind(kernels, operands, 3, &p.options, &bound, &error), "bind an update")) {
      succeeded(schaas_run(bound, &error), "run an update");
      expect(equal(y + shift, wanted, 3), shift == 0 ? "an update in place" : "an update partly over itself");
      if (shift == 0) {
        succeeded(schaas_run(bound, &error), "run an update again");
        expect(equal(y, twice, 3), "an update in place, again");
      }
      schaas_computation_close(bound);
    }
    /* The operand is stored as the result is, or refused. */
    before.order = 1, before.levels = (schaas_level[]){{SCHAAS_LEVEL_COMPRESSED, 32, p.pos, p.crd, 2}};
    p.pos[1] = 2;
    p.out.values = p.y;
    expect_error(schaas_bind(kernels, operands, 3, &p.options, &bound, &error), "argument-format", "updated `y(i)`",
                 "an update of a sparse operand");
    before.levels = p.result, before.value_type = SCHAAS_F32;
    expect_error(schaas_bind(kernels, operands, 3, &p.options, &bound, &error), "argument-type", "updated `y(i)`",
                 "an update of another type");
    free(y);
    drop(&p);
  }
  schaas_kernels_close(kernels);
}

/* What is not stored is the semiring's zero. */
static void fill_values(void) {
  const char* formats[] = {"csr", "csc", "coo", "dcsr", "dcsc", "csf", "bitmap", "banded", "hashed", "dense", "dense:1,0"};
  const int count = sizeof formats / sizeof formats[0];
  const int64_t extents[] = {2, 3}, rows[] = {0, 0, 1}, columns[] = {0, 2, 1};
  const int64_t* const modes[] = {rows, columns};
  const double values[] = {0, 2, 5}, x[] = {10, 20, 30};
  const double dense[] = {0, INFINITY, 2, INFINITY, 5, INFINITY}, wanted[] = {10, 25}, scaled[] = {1, INFINITY, 3, INFINITY, 6, INFINITY};
  const schaas_storage_options infinite = {sizeof infinite, INFINITY, 0, 0};
  for (int first = 0; first < count; ++first) {
    schaas_storage *made = NULL, *full = NULL, *result = NULL;
    if (!succeeded(pack(2, extents, modes, values, 3, formats[first], INFINITY, &made), formats[first])) continue;
    expect(schaas_storage_fill(made) == INFINITY, "a storage knows its fill value");
    for (int second = 0; second < count; ++second) {
      schaas_storage* other = NULL;
      if (!succeeded(schaas_convert_with("t", schaas_storage_view(made), formats[second], &infinite, &other, &error),
                     formats[second]))
        continue;
      succeeded(schaas_convert_with("t", schaas_storage_view(other), "dense", &infinite, &full, &error), "dense");
      expect(schaas_storage_fill(other) == INFINITY && equal(schaas_storage_view(full)->values, dense, 6), formats[second]);
      schaas_storage_free(other);
      schaas_storage_free(full);
    }
    const char* given[] = {"B", formats[first], "R", "dcsr"};
    schaas_kernels* product_of_paths = kernels_of("min-plus: y(i) = B(i,j) * x(j)", given, 1);
    int64_t three[] = {3};
    int32_t order[] = {0};
    schaas_level level[] = {{SCHAAS_LEVEL_DENSE, 0, NULL, NULL, 3}};
    schaas_tensor vector = {1, SCHAAS_F64, three, order, level, (void*)x};
    schaas_operand operands[] = {{"B", schaas_storage_view(made)}, {"x", &vector}};
    if (succeeded(schaas_compute(product_of_paths, operands, 2, NULL, &result, &error), formats[first])) {
      expect(equal(schaas_storage_view(result)->values, wanted, 2) && schaas_storage_fill(result) == INFINITY, formats[first]);
      schaas_storage_free(result);
    }
    schaas_kernels_close(product_of_paths);
    if (first == 0) { /* a sparse result */
      schaas_computation* bound = NULL;
      double one = 1;
      schaas_tensor scalar = {0, SCHAAS_F64, NULL, NULL, NULL, &one};
      schaas_kernels* step = kernels_of("min-plus: R(i,j) = B(i,j) * s", given, 2);
      operands[1] = (schaas_operand){"s", &scalar};
      if (succeeded(schaas_bind(step, operands, 2, NULL, &bound, &error), "bind R")) {
        succeeded(schaas_run(bound, &error), "run R");
        expect(schaas_result_fill(bound) == INFINITY, "a result knows its fill value");
        succeeded(schaas_convert_with("R", schaas_result(bound), "dense", &infinite, &full, &error), "R dense");
        expect(equal(schaas_storage_view(full)->values, scaled, 6), "R holds infinity where nothing is stored");
        schaas_storage_free(full);
        schaas_computation_close(bound);
      }
      schaas_kernels_close(step);
    }
    schaas_storage_free(made);
  }
  char* told = NULL;
  succeeded(schaas_parse("min-plus: y(i) = B(i,j) * x(j)", &told, &error), "parse");
  expect(told != NULL && strstr(told, "\"semiring\":\"min-plus\",\"zero\":\"inf\"") != NULL, "parse tells the zero");
  schaas_text_free(told);
  const char* csr[] = {"B", "csr"};
  schaas_gradient_options options = {sizeof options, "B", NULL, "g", csr, 1};
  char* derivative = NULL;
  succeeded(schaas_gradient("y(i) = B(i,j) * x(j)", &options, &derivative, &error), "gradient");
  expect(derivative != NULL && strcmp(derivative, "g(i,j) = (B(i,j) != 0) * dy(i) * x(j)") == 0, "the derivative is a program");
  schaas_text_free(derivative);
  options.of = "C";
  expect(schaas_gradient("y(i) = B(i,j) * x(j)", &options, &derivative, &error) == SCHAAS_INVALID, "an operand that is none");
  schaas_error_free(error);
  error = NULL;
}

int main(void) {
  const char* formats[] = {"B", "csr"};
  if (schaas_session_open(NULL, &session, &error) != 0) {
    printf("%s\n", schaas_error_text(error));
    return 99;
  }
  product = kernels_of("y(i) = B(i,j) * x(j)", formats, 1);
  wrong_structs();
  wrong_arrays();
  wrong_extents();
  empty_tensors();
  unequal_lists();
  wrong_problems();
  wrong_storages();
  overlapping_results();
  results_over_structure();
  updates();
  fill_values();
  schaas_kernels_close(product);
  schaas_session_close(session);
  if (failures == 0) printf("all right\n");
  return failures;
}
