/* The kernel ABI: the C structs a generated kernel receives and the descriptor it exports. Version 11.
 *
 * A kernel computes a statement over tensors packed by the client. It is one or a few PHASES, run in order
 * with a barrier between them; each phase is a plain C function over a half-open range of its outermost loop
 * (rows, or positions of a compressed level). The client owns the threads: it splits [0, range(args)) into
 * balanced pieces and calls `run` on each, on many threads at once when `parallel` is set, else on one.
 * Kernels are re-entrant, allocate nothing, keep no state, never abort and never read outside the arrays,
 * given valid tensors (the client checks before the first call). The client sets the result's values to
 * `result_fill` before the first phase that computes, unless the kernel says that it writes them all, or the
 * statement updates a result (`A(i) += ...`), which then starts from what it holds: kernels fold into them.
 *
 * A PHASE THAT FOLDS has iterations that write the same elements, as y(j) += B(i,j) by rows has. Run whole,
 * on one thread, it is a phase like others. To run ranges of it at the same time the client gives each range
 * but one an array of its own in place of the target, every element at the identity of the monoid, and when
 * all are done folds these arrays into the target, in the order of their ranges, so that for one cut there is
 * one result. It decides by `work` and the size of the target whether that pays.
 *
 * AN ITERATION MAY BE CUT, where `part` is not null: a row with most of the entries need not be one thread's.
 * part(iteration, first, last) does what the iteration does for positions [first, last) of the balance level,
 * which lie in its own. It folds into `carry`, an array of carry_elements(args) values at the identity of
 * `part_fold`; when all parts of the iteration are done the client folds their arrays into one, in order, and
 * gives it to `combine`, once. With carry_elements null `carry` is null, there is nothing to combine, and
 * part writes where the phase does: elements of its own, or, when the phase folds, the piece's array.
 *
 * A RESULT WITH COMPRESSED LEVELS is made by counting, scanning, filling. The phases of step COUNT write, for
 * each counter c (one per compressed level of the result, in level order) and each unit u, counter[u] = the
 * entries that unit u will add at that level; a unit is one iteration of the outermost loop of the last COUNT
 * phase, which is that of the last COMPUTE phase too. Before the first COMPUTE phase that follows a COUNT
 * phase the client scans each counter (counter[u] = entries of the units before u, counter[range] = their
 * sum), allocates the result's arrays, sets `entries`, the first and the last position (pos[0] = 0,
 * pos[parents] = entries: of a level without parents' loops nothing is left to write) and every value to
 * `result_fill` (unless writes_all). The COMPUTE phases then write: unit u its coordinates from place
 * counter[u] on, their values, and pos[p + 1] for every parent position p that it owns; together the units
 * own them all. They do not write the counters: the client may run the COMPUTE phases again, with other
 * values, without counting again. Where `values` is not null and the arrays are those of such an earlier run,
 * it does the same as `run`, but for the coordinates and positions, which it leaves as they are.
 *
 * A RESULT MAY BE APPENDED, where `appends` is not 0, which spares counting: the result's first level is
 * dense, its second the one compressed level, all below are dense; unit u owns parent u alone, one COMPUTE
 * phase follows the COUNT phases, and writes_all is 1. Of the counter the kernel reads counter[begin] alone.
 * Whoever runs it may leave out the COUNT phases and let each range write to any arrays that have room for
 * units times coordinates of the level from place counter[begin] on; pos[u + 1] then tells where u's entries
 * end. Where they end up in the result is up to the caller.
 *
 * A COPY is an argument that whoever runs the kernel makes of another one: the same tensor in the same level
 * formats, its modes in another order. The last `copy_count` arguments are copies; they hold what the
 * originals hold when the first phase begins.
 *
 * A WORKSPACE WITH HASH TABLES, where `table_bytes` is not null, has a size that nobody knows before: its
 * tables have `places` places, a power of two, which whoever runs the kernel writes as an int64_t at its
 * beginning; all else is zero. It begins with SCHAAS_FIRST_PLACES. A COUNT phase returns SCHAAS_TABLES_FULL
 * when a table is more than half full: the thread gets a workspace with twice the places and runs the range
 * again. The COMPUTE phases after it need as many places as any thread had to take.
 *
 * WHAT AN OPERAND MEETS: where a phase makes rows of a shared array that are read at the coordinates of a
 * compressed level alone, it makes those rows alone (`over`, SCHAAS_SHARED_MET).
 *
 * FLAGS: the array `shared` has one pointer more than shared_count, to an int32_t with those SCHAAS_FLAG_* of
 * the descriptor's `streams` that are wanted. STREAMS: a large result is stored past the caches; it changes
 * no value, and pays where the result is too large to be in a cache when it is read. GATHERS: sums over
 * stored entries take gather instructions; the order of additions is another one, and they pay on some
 * processors.
 *
 * On the wire and on disk: fields are only ever appended, with a new version number.
 */
#ifndef SCHAAS_KERNEL_ABI_H
#define SCHAAS_KERNEL_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCHAAS_KERNEL_ABI_VERSION 13
#define SCHAAS_KERNEL_SYMBOL "schaas_kernel"

enum {
  SCHAAS_LEVEL_DENSE = 0,
  SCHAAS_LEVEL_COMPRESSED = 1,
  SCHAAS_LEVEL_COMPRESSED_NONUNIQUE = 2,
  SCHAAS_LEVEL_SINGLETON = 3,
  SCHAAS_LEVEL_SINGLETON_NONUNIQUE = 4,
  SCHAAS_LEVEL_BITMAP = 5,
  SCHAAS_LEVEL_BANDED = 6,
  SCHAAS_LEVEL_HASHED = 7,
  SCHAAS_LEVEL_COMPRESSED_UNORDERED = 8
};
enum {
  SCHAAS_F64 = 0,
  SCHAAS_F32 = 1,
  SCHAAS_I64 = 2,
  SCHAAS_I32 = 3,
  SCHAAS_BF16 = 4,
  SCHAAS_F16 = 5,
  SCHAAS_I8 = 6,
  SCHAAS_I16 = 7,
  SCHAAS_U8 = 8,
  SCHAAS_U16 = 9,
  SCHAAS_U32 = 10,
  SCHAAS_U64 = 11,
  SCHAAS_BOOL = 12,
  SCHAAS_C64 = 13, /* real and imaginary part of 32 bits each, in this order */
  SCHAAS_C128 = 14
};
enum { SCHAAS_STEP_COMPUTE = 0, SCHAAS_STEP_COUNT = 1 };
enum { SCHAAS_FLAG_STREAMS = 1, SCHAAS_FLAG_GATHERS = 2 };
/* A result may be appended. ALWAYS: counting takes about as long as filling. ALONE: it takes much less, so
 * that only one thread, which copies nothing, gains by leaving it out. */
enum { SCHAAS_APPENDS_NEVER = 0, SCHAAS_APPENDS_ALWAYS = 1, SCHAAS_APPENDS_ALONE = 2 };
/* The monoid of a phase that folds. max(a, b) is b when b > a, else a; `or` and `and` give 1 or 0. */
enum {
  SCHAAS_FOLD_NONE = 0,
  SCHAAS_FOLD_SUM = 1,
  SCHAAS_FOLD_PRODUCT = 2,
  SCHAAS_FOLD_MIN = 3,
  SCHAAS_FOLD_MAX = 4,
  SCHAAS_FOLD_OR = 5,
  SCHAAS_FOLD_AND = 6
};

static inline uint64_t schaas_hash(uint64_t coordinate) {
  return (coordinate * UINT64_C(0x9E3779B97F4A7C15)) >> 32;
}

/* One storage level. dense: pos and crd are null. compressed: pos has entries(parent) + 1 elements, crd has
 * pos[last] elements, both of `index_bits` bits, signed; coordinates ascend within a fiber. compressed
 * nonunique: the same, but equal coordinates follow each other, told apart by the singleton levels below.
 * singleton: pos is null, crd has entries(parent) elements: the entry at position p of the parent has
 * coordinate crd[p]. compressed unordered, of results alone: as compressed, coordinates of a fiber distinct
 * but in no order. bitmap: pos is null, crd has `entries` bytes: crd[p] is 1 where position p is held;
 * where it is 0, what is stored below or as its value is not read. banded: pos as compressed; crd has
 * entries(parent) elements: parent p holds the pos[p + 1] - pos[p] coordinates from crd[p] on, in positions
 * from pos[p] on.
 * hashed: pos as compressed, crd has pos[last] elements: positions pos[p] to pos[p + 1] are a table of none,
 * or of 2 or more places, a power of two, at most half of them taken. A free place has crd -1. Coordinate c
 * is in the first place from schaas_hash(c) modulo their number on, around the end, that is free or has it.
 */
typedef struct schaas_level {
  int32_t format;     /* SCHAAS_LEVEL_* */
  int32_t index_bits; /* 32 or 64; 0 for dense, 8 for bitmap */
  const void* pos;
  const void* crd;
  int64_t entries; /* positions of this level: dense and bitmap: entries(parent) * extent */
} schaas_level;

/* Levels are in storage order; level l stores mode mode_order[l]. values has entries(last level) elements (1
 * for a scalar). */
typedef struct schaas_tensor {
  int32_t order;
  int32_t value_type;         /* SCHAAS_F64, ... */
  const int64_t* extents;     /* by mode */
  const int32_t* mode_order;  /* by level */
  const schaas_level* levels; /* by level */
  void* values;
} schaas_tensor;

/* What a phase gets. args: the result first, then the operands, as the descriptor names them, then copies.
 * shared: `shared_count` arrays that live from the first phase that uses them to the last, 64-byte aligned,
 * before the first phase as descriptor.shared says. workspace: private to the calling thread,
 * workspace_bytes(args), 64-byte aligned, zeroed once before the first call of a thread; a kernel leaves it
 * in a state in which it may be used again (also by another phase). */
typedef int32_t (*schaas_phase_run)(const schaas_tensor* const* args, void* const* shared, void* workspace,
                                    int64_t begin, int64_t end);

typedef struct schaas_phase {
  schaas_phase_run run;
  int64_t (*range)(const schaas_tensor* const* args); /* the outermost loop is [0, range) */
  int32_t parallel;                                   /* 1: disjoint ranges may run at the same time */
  int32_t balance_arg;   /* -1: iterations cost alike; else the argument whose level balance_level's positions
                            weigh them: */
  int32_t balance_level; /* weight of iteration p = pos[p + 1] - pos[p] of that compressed level */
  int32_t step;          /* SCHAAS_STEP_* */
  int32_t fold;          /* SCHAAS_FOLD_*; NONE: disjoint ranges write disjoint elements */
  int32_t fold_target; /* of a phase that folds: -1: the result's values, else this shared array of values */
  double (*work)(const schaas_tensor* const* args); /* of a phase that folds: innermost iterations, about;
                                                       else null */
  int32_t (*part)(const schaas_tensor* const* args, void* const* shared, void* workspace, int64_t iteration,
                  int64_t first, int64_t last, void* carry);
  int64_t (*carry_elements)(const schaas_tensor* const* args);
  int32_t (*combine)(const schaas_tensor* const* args, void* const* shared, int64_t iteration,
                     const void* carry);
  int32_t part_fold; /* SCHAAS_FOLD_* */
  schaas_phase_run values;
  int32_t over; /* 0; else 1 + the shared array of met coordinates whose places the outermost loop runs over:
                   it is [0, how many they are), range at most */
} schaas_phase;

/* Where the COUNT phases count the entries of one compressed level of the result: a shared array of int64
 * with range(last COUNT phase) + 1 elements. */
typedef struct schaas_counter {
  int32_t level;       /* of the result */
  int32_t shared_slot; /* which shared array */
} schaas_counter;

/* An argument that is made of another one: level l stores mode mode_order[l]. The formats of the levels are
 * those of the original, but with `locates` the first level is dense instead of compressed, and singleton
 * levels that told its coordinates apart are compressed. */
typedef struct schaas_copy {
  int32_t argument; /* the original, an operand */
  const int32_t* mode_order;
  int32_t locates; /* 0 or 1; 1 only of an original whose first level is compressed */
} schaas_copy;

/* How a shared array begins. */
enum {
  SCHAAS_SHARED_ZERO = 0,   /* zeroed by the client before each run */
  SCHAAS_SHARED_STORED = 1, /* with anything: phases store whatever of it they read */
  /* int64: the coordinates that level `level` of argument `argument`, a compressed one, holds, ascending,
   * each once; made by the client once, as the entries of operands stay. shared_bytes is what all coordinates
   * take; those that are met may have less memory. */
  SCHAAS_SHARED_MET = 2
};
typedef struct schaas_shared {
  int32_t start; /* SCHAAS_SHARED_* */
  int32_t argument;
  int32_t level;
} schaas_shared;

/* Extent of a mode of an argument for which alone the kernel is made. */
typedef struct schaas_fixed_extent {
  int32_t argument;
  int32_t mode; /* of the tensor as it is written, as in schaas_tensor.extents */
  int64_t extent;
} schaas_fixed_extent;

typedef struct schaas_kernel_descriptor {
  int32_t abi_version;
  int32_t argument_count;
  int32_t phase_count;
  int32_t shared_count;
  const schaas_phase* phases;
  int64_t (*shared_bytes)(const schaas_tensor* const* args, int32_t which);
  int64_t (*workspace_bytes)(const schaas_tensor* const* args);
  const char* key;       /* kernel key, hexadecimal */
  const char* problem;   /* canonical problem text: formats, value type, position width of every argument */
  const char* schedule;  /* trace */
  const char* isa;       /* x86-64-v2, x86-64-v3, x86-64-v4, ..., generic */
  int32_t counter_count; /* the result's compressed levels; 0 for a dense result */
  const schaas_counter* counters; /* by level, outermost first */
  double result_fill;             /* what the result holds where nothing is stored or computed */
  int32_t writes_all; /* 1: the COMPUTE phases, if all have units, store every value of the result; none is
                         read before */
  int32_t copy_count; /* the last of the argument_count arguments are copies */
  const schaas_copy* copies;
  /* null: no tables; else workspace_bytes for tables of so many places; workspace_bytes is that for
   * SCHAAS_FIRST_PLACES */
  int64_t (*table_bytes)(const schaas_tensor* const* args, int64_t places);
  int32_t appends;             /* SCHAAS_APPENDS_* */
  int32_t streams;             /* SCHAAS_FLAG_*: what the kernel has code for */
  const schaas_shared* shared; /* by slot; null when there are none */
  int32_t fixed_count;
  const schaas_fixed_extent* fixed; /* null when there are none */
} schaas_kernel_descriptor;

/* run returns 0, or */
enum { SCHAAS_OK = 0, SCHAAS_ERROR_ARGUMENT = 1, SCHAAS_TABLES_FULL = 2 };
enum { SCHAAS_FIRST_PLACES = 1024 };

#ifdef __cplusplus
}
#endif
#endif /* SCHAAS_KERNEL_ABI_H */
