/* schaas from C: the stable binary interface of libschaas, on which the Python package stands.
 *
 *     schaas_session* session;
 *     schaas_error* error = NULL;
 *     if (schaas_session_open(NULL, &session, &error) != 0) die(schaas_error_text(error));
 *     schaas_problem problem = {.expression = "y(i) = B(i,j) * x(j)", ...};
 *     schaas_kernels_open(session, &problem, &kernels, &error);
 *     schaas_bind(kernels, operands, 2, NULL, &product, &error);
 *     schaas_run(product, &error);               as often as wanted
 *     use(schaas_result(product));
 *
 * Every function that can fail returns 0 or a status (below) and then sets *error, which the caller frees;
 * error may be NULL where only the status is wanted. No exception leaves the library. Tensors are the structs
 * of a kernel (schaas_tensor, schaas_level): pointers to the caller's own arrays, which are read where they
 * are and must stay for as long as something is bound to them. Sessions and kernel sets are thread-safe; a
 * computation runs on one thread at a time. Texts are UTF-8. Structs are only ever appended to: set
 * `struct_bytes` to sizeof, zero what is not needed.
 */
#ifndef SCHAAS_H
#define SCHAAS_H

#include <stddef.h>
#include <stdint.h>

#include "proto/kernel_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SCHAAS_API __attribute__((visibility("default")))

/* Raised when something is added; a library serves every program that was built for its number or a lower
 * one. */
#define SCHAAS_API_VERSION 7
SCHAAS_API int32_t schaas_api_version(void);
SCHAAS_API const char* schaas_version(void); /* "0.1.0" */

/* The families of errors, also the exit statuses of the program `schaas`. */
enum {
  SCHAAS_SUCCESS = 0,
  SCHAAS_INVALID = 2,     /* what was asked is wrong */
  SCHAAS_UNSUPPORTED = 3, /* right, but not possible yet; the text says what works */
  SCHAAS_EXHAUSTED = 4,   /* time or memory */
  SCHAAS_UNREACHABLE = 5, /* no server */
  SCHAAS_INTERNAL = 70    /* a bug */
};
typedef struct schaas_error schaas_error;
SCHAAS_API int32_t schaas_error_status(const schaas_error* error);
SCHAAS_API const char* schaas_error_code(const schaas_error* error);    /* stable: "extent-conflict" */
SCHAAS_API const char* schaas_error_message(const schaas_error* error); /* one sentence */
SCHAAS_API const char* schaas_error_text(const schaas_error* error);    /* with source line and caret */
SCHAAS_API void schaas_error_free(schaas_error* error);
/* Of texts that a function returns. */
SCHAAS_API void schaas_text_free(char* text);

/* What a call waits for: it connects, the server searches, then compiles kernels. Since version 5. */
typedef struct schaas_progress {
  size_t struct_bytes;
  const char* stage;  /* "connecting", "searching", "compiling", "measuring"; until the callback returns */
  double seconds;     /* waited so far */
  uint64_t done;      /* of the stage */
  uint64_t of;        /* 0: unknown */
  int32_t kernels;    /* that have come */
  int32_t kernels_of; /* that will come without further requests; 0: unknown */
} schaas_progress;
/* Called on the thread of the call, when a wait begins and at least each 50 ms. Another value than 0 ends the
 * call within 0.1 s with SCHAAS_EXHAUSTED, "cancelled"; the server finishes what it works on, the session
 * remains as it is. Must not call the library. schaas_never_wait ends a call that would wait. Since 5. */
typedef int32_t (*schaas_progress_function)(void* context, const schaas_progress* progress);
SCHAAS_API int32_t schaas_never_wait(void* context, const schaas_progress* progress);

/* A connection to a server: "unix:/path" or "host:port"; NULL: $SCHAAS_SERVER, else the user's private
 * server, which is started when it does not run. */
typedef struct schaas_session schaas_session;
SCHAAS_API int32_t schaas_session_open(const char* server, schaas_session** session, schaas_error** error);
/* The same with proofs of who is at either end (docs/security.md); NULL stands for the environment variable
 * of the program `schaas`. Since version 2. */
typedef struct schaas_connect_options {
  size_t struct_bytes;
  const char* server;
  const char* server_key; /* "ed25519:..." or a file with it: the key the server must have */
  const char* tls_ca;     /* PEM file of the server's certificate authority, or "system": TLS */
  const char* tls_cert;   /* PEM files of the client's own certificate and key */
  const char* tls_key;
  const char* token;                 /* for servers that ask for one */
  const char* token_file;            /* or the file it is in */
  schaas_progress_function progress; /* NULL: none. Since version 5, and so is what follows */
  void* progress_context;
} schaas_connect_options;
SCHAAS_API int32_t schaas_session_connect(const schaas_connect_options* options, schaas_session** session,
                                          schaas_error** error);
SCHAAS_API void schaas_session_close(schaas_session* session);
SCHAAS_API const char* schaas_session_address(const schaas_session* session);
/* The kernels of a file (`schaas bundle`): a session that needs no server and answers for what is in the file
 * alone. server_key: who must have signed them, "ed25519:..." or a file that holds it; NULL:
 * $SCHAAS_SERVER_KEY, else anybody. Since 2. */
SCHAAS_API int32_t schaas_bundle_open(const char* path, const char* server_key, schaas_session** session,
                                      schaas_error** error);
/* JSON: {address, notice, bundle}; notice is "", or that the server is gone and kernels received earlier run;
 * bundle is null, or {made_by, server, created, answers[{expression, formats{},
 * constraints[], value_type, position_bits, isa}]}. Since 2. */
SCHAAS_API int32_t schaas_session_describe(const schaas_session* session, char** json, schaas_error** error);

/* What is to be computed (docs/language.md). Null texts and zeros are defaults. */
typedef struct schaas_problem {
  size_t struct_bytes;
  const char* expression;
  const char* const* formats; /* tensor, format, tensor, format, ...: those that are not dense */
  int32_t format_count;       /* pairs */
  int32_t constraint_count;
  const char* const* constraints;
  int32_t value_type;    /* SCHAAS_F64, ... of kernel_abi.h: of all tensors but those whose format has one */
  int32_t position_bits; /* 32 or 64: of all sparse tensors */
  const char* space;     /* what is searched beyond the plain space */
  double patience_seconds; /* for so long bindings without `wait_seconds` wait for a better kernel, too */
  double budget_seconds;   /* of the search */
  uint64_t max_temporary_bytes;
  int32_t memory_depth;
  schaas_progress_function progress; /* of opening; NULL: none. Since version 5, and so is what follows */
  void* progress_context;
} schaas_problem;

/* The kernels of a problem. Opening checks the texts; kernels come with the first binding. */
typedef struct schaas_kernels schaas_kernels;
SCHAAS_API int32_t schaas_kernels_open(schaas_session* session, const schaas_problem* problem,
                                       schaas_kernels** kernels, schaas_error** error);
SCHAAS_API void schaas_kernels_close(schaas_kernels* kernels);
/* The frontier as JSON: {key, statement, complete, partial, limited, counts, entries[{id, tree, trace, time,
 * memory, members, code}]}. Waits for the search; schaas_frontier_at tells the same with progress. */
SCHAAS_API int32_t schaas_kernels_describe(schaas_kernels* kernels, char** json, schaas_error** error);

/* What a statement takes, without a server, as JSON: {operands[{name, indices[]}], result{name, indices[]},
 * factors[{name, indices[]} or {number}] (of a single product; else null), update, ranges}; since version 5
 * also semiring ("plus-times", "min-plus", ...) and its zero, a number or "inf" or "-inf", and
 * statements[{result{name, indices[]}, update ("sum", "max", ...; else null), value}]; since version 6
 * range_extents[{index, tensor, mode, begin, end, step}], the ranges with numbers alone. A value is a tree:
 * {name, indices[]}; {number} (or "inf"); {coordinate} (an index); {function, arguments[]}, its name or
 * operator ("-" of one negates); {reduction ("sum", "max", ...), indices[], argument}. */
SCHAAS_API int32_t schaas_parse(const char* expression, char** json, schaas_error** error);

/* The program of a derivative, as text, without a server (docs/language.md, Derivatives). Since version 6. */
typedef struct schaas_gradient_options {
  size_t struct_bytes;
  const char* of;          /* operand with respect to which is differentiated */
  const char *seed, *name; /* tensor that weights the result, and the derivative; NULL: d and their names */
  const char* const* formats; /* tensor, format, tensor, ...: pairs of those that are not dense */
  int32_t format_count;
} schaas_gradient_options;
SCHAAS_API int32_t schaas_gradient(const char* expression, const schaas_gradient_options* options,
                                   char** program, schaas_error** error);

typedef struct schaas_operand {
  const char* name;
  const schaas_tensor* tensor;
} schaas_operand;

/* A GPU beside the processor, and what lies on it. Schedules for both compete; what lies elsewhere than where
 * the chosen one runs is copied. The arrays of the tensors that are named lie on the device, all of a
 * tensor's: what their levels hold is trusted. A sparse result that gets the entries of an operand (a sampled
 * product) has that one's arrays of positions and coordinates, and values of its own.
 *
 * Everything is done in the order of `stream`, a handle of the driver or the runtime (CUstream,
 * cudaStream_t), after what is on it already. NULL is the legacy default stream, and then each run waits for
 * its end. With another (1 stands for the legacy stream, 2 for that of the thread) a run whose result lies on
 * the device returns at once: the result is there when the stream has come so far; until then no array may go
 * or change that the run reads. A run on the processor, or with its result there, has ended when it returns.
 * Close a computation before its stream ends: its memory on the device is given back in the stream's order.
 * Since version 4. */
typedef struct schaas_gpu {
  size_t struct_bytes;
  int32_t device; /* the driver's number, 0 is the first */
  int32_t alone;  /* 1: the processor does not compete */
  void* stream;
  const char* const* on_device; /* names of operands, or of the result */
  int32_t on_device_count;
} schaas_gpu;

/* How far positions and coordinates of sparse operands are checked before a computation. */
#define SCHAAS_CHECK_ALL 0
#define SCHAAS_CHECK_NOTHING 1 /* they are known to be right */
/* Entries of operands of schaas_compute need neither be sorted nor distinct: repeated ones are added up.
 * Where the kernel does just that, as in a product of a csr matrix with a dense one, they are taken as they
 * are; else a copy is sorted (csr, csc, coo). Elsewhere as SCHAAS_CHECK_ALL. */
#define SCHAAS_CHECK_AS_NEEDED 2

typedef struct schaas_options {
  size_t struct_bytes;
  int32_t threads;       /* 0: all processors, one for tiny work; at most 4096 */
  int32_t deterministic; /* 1: the same result to the last bit for any number of threads */
  int32_t trusted;       /* one of SCHAAS_CHECK_*, of the arrays of sparse operands */
  int32_t extent_count;
  const char* const* extent_names; /* indices that no operand has */
  const int64_t* extents;
  const char* schedule; /* NULL: auto; "linear", a frontier id or a trace */
  const schaas_tensor*
      result; /* a dense tensor to write to; NULL: the library makes the result, on the host. It may lie in
                 the memory of operands: it is then computed apart and copied after each run */
  const schaas_gpu* gpu; /* NULL: the processor computes. Since version 4 */
  /* The wait limit. 0: waits for the first kernel that can run, however long that takes, and for no better
   * one. Above 0: waits for the best kernel, but no longer than so many seconds; then the best there is runs,
   * or SCHAAS_EXHAUSTED, "wait-limit", says what was waited for. Below 0: takes what is at hand. A named
   * schedule and deterministic work wait for their one kernel. Since version 5, and so is what follows. */
  double wait_seconds;
  schaas_progress_function progress; /* NULL: none */
  void* progress_context;
} schaas_options;

/* A kernel bound to tensors. Structs and names may go after the call, arrays must stay; their values may
 * change between runs. A run takes a better kernel for these sizes that has come since, unless the schedule
 * was named or the work is deterministic. A statement that updates its result reads the operand of that name
 * before each run. */
typedef struct schaas_computation schaas_computation;
SCHAAS_API int32_t schaas_bind(schaas_kernels* kernels, const schaas_operand* operands, int32_t count,
                               const schaas_options* options, schaas_computation** computation,
                               schaas_error** error);
SCHAAS_API int32_t schaas_run(schaas_computation* computation, schaas_error** error);
SCHAAS_API void schaas_computation_close(schaas_computation* computation);
/* Until the next run, or until the computation is closed. */
SCHAAS_API const schaas_tensor* schaas_result(const schaas_computation* computation);
/* The value of the elements that the result does not store: the zero of the semiring. Since version 5. */
SCHAAS_API double schaas_result_fill(const schaas_computation* computation);
/* What runs and why, as JSON: {id, trace, tree, time, memory, isa, baseline (true: compiled
 * quickly, a faster one of the same schedule follows), reason, threads, device (name or null),
 * copies[{format, bytes}]}. */
SCHAAS_API int32_t schaas_computation_describe(const schaas_computation* computation, char** json,
                                               schaas_error** error);
/* Measures the schedules of the frontier on these tensors; later bindings of the same sizes take the fastest.
 * JSON: {fastest, measured[{id, seconds}]}. */
SCHAAS_API int32_t schaas_tune(schaas_kernels* kernels, const schaas_operand* operands, int32_t count,
                               const schaas_options* options, char** json, schaas_error** error);

/* Measures the computation with `operand` in its own format, then in each of these (NULL: the usual ones;
 * docs/formats.md). JSON: {formats[{format, bytes, convert_seconds, run_seconds, uses_to_pay or null,
 * tree}]}; one that does not fit has {format, error}. Since version 7. */
SCHAAS_API int32_t schaas_compare_formats(schaas_kernels* kernels, const schaas_operand* operands,
                                          int32_t count, const schaas_options* options, const char* operand,
                                          const char* const* formats, int32_t format_count,
                                          double measure_seconds, char** json, schaas_error** error);

/* What schaas_kernels_describe tells, and what the schedules cost for these tensors: `here` beside `entries`
 * is {chosen, reason, threads, extents{}, nonzeros{}, picture (SVG)}, and `here` in each entry {tree, time,
 * memory_bytes, fits, chosen, measured_seconds or null}: weighted trips shared by the threads, bytes of
 * temporaries, seconds that somebody measured at such sizes on such a host. Without operands at the sizes of
 * the last binding; `here` is null before there was one. Nothing is compiled. Since version 3. */
SCHAAS_API int32_t schaas_frontier_at(schaas_kernels* kernels, const schaas_operand* operands, int32_t count,
                                      const schaas_options* options, char** json, schaas_error** error);

/* Tensors that the library owns. */
typedef struct schaas_storage schaas_storage;
SCHAAS_API void schaas_storage_free(schaas_storage* storage);
SCHAAS_API const schaas_tensor* schaas_storage_view(const schaas_storage* storage);
/* The value of the elements that it does not store. Since version 5. */
SCHAAS_API double schaas_storage_fill(const schaas_storage* storage);

/* Bind, run and close in one: for a result that the library makes `result` is set, else (options->result) it
 * may be NULL, and is set to NULL. */
SCHAAS_API int32_t schaas_compute(schaas_kernels* kernels, const schaas_operand* operands, int32_t count,
                                  const schaas_options* options, schaas_storage** result,
                                  schaas_error** error);

/* A tensor of entries: coordinates by mode, values double (bool and integers int64_t, complex pairs). */
SCHAAS_API int32_t schaas_pack(const char* name, int32_t order, const int64_t* extents,
                               const int64_t* const* coordinates, const void* values, int64_t entries,
                               const char* format, int32_t value_type, int32_t position_bits,
                               schaas_storage** storage, schaas_error** error);
/* The same tensor in another format. */
SCHAAS_API int32_t schaas_convert(const char* name, const schaas_tensor* tensor, const char* format,
                                  schaas_storage** storage, schaas_error** error);
/* Matrix Market, FROSTT, NumPy or .npz of scipy, by ending, also .gz, .bz2, .xz; "-" is standard input or
 * output. Entries are read as coo with 64-bit positions, arrays dense. */
SCHAAS_API int32_t schaas_read(const char* path, schaas_storage** storage, schaas_error** error);
SCHAAS_API int32_t schaas_write(const char* path, const schaas_tensor* tensor, schaas_error** error);

/* The same four functions for tensors with another fill value than 0: the value of elements that are not
 * stored. Kernels read those as the zero of their semiring (schaas_parse), infinity for min-plus. Dense
 * levels get it where there is no entry, sparse ones leave it out. NULL: 0. Since version 5. */
typedef struct schaas_storage_options {
  size_t struct_bytes;
  double fill_value;
  int32_t position_bits; /* of schaas_convert_with, 32 or 64; 0: those of the tensor */
  int32_t unused;        /* 0 */
} schaas_storage_options;
SCHAAS_API int32_t schaas_pack_with(const char* name, int32_t order, const int64_t* extents,
                                    const int64_t* const* coordinates, const void* values, int64_t entries,
                                    const char* format, int32_t value_type, int32_t position_bits,
                                    const schaas_storage_options* options, schaas_storage** storage,
                                    schaas_error** error);
SCHAAS_API int32_t schaas_convert_with(const char* name, const schaas_tensor* tensor, const char* format,
                                       const schaas_storage_options* options, schaas_storage** storage,
                                       schaas_error** error);
SCHAAS_API int32_t schaas_read_with(const char* path, const schaas_storage_options* options,
                                    schaas_storage** storage, schaas_error** error);
SCHAAS_API int32_t schaas_write_with(const char* path, const schaas_tensor* tensor,
                                     const schaas_storage_options* options, schaas_error** error);

#ifdef __cplusplus
}
#endif
#endif /* SCHAAS_H */
