/// The structs of proto/kernel_abi.h without comments, printed into each kernel so that its source needs no
/// header of ours. A change of the ABI is made in both; a test compares them.
#pragma once
typedef struct schaas_level {
  int32_t format;
  int32_t index_bits;
  const void* pos;
  const void* crd;
  int64_t entries;
} schaas_level;

typedef struct schaas_tensor {
  int32_t order;
  int32_t value_type;
  const int64_t* extents;
  const int32_t* mode_order;
  const schaas_level* levels;
  void* values;
} schaas_tensor;

typedef int32_t (*schaas_phase_run)(const schaas_tensor* const* args, void* const* shared, void* workspace,
                                    int64_t begin, int64_t end);

typedef struct schaas_phase {
  schaas_phase_run run;
  int64_t (*range)(const schaas_tensor* const* args);
  int32_t parallel;
  int32_t balance_arg;
  int32_t balance_level;
  int32_t step;
  int32_t fold;
  int32_t fold_target;
  double (*work)(const schaas_tensor* const* args);
  int32_t (*part)(const schaas_tensor* const* args, void* const* shared, void* workspace, int64_t iteration,
                  int64_t first, int64_t last, void* carry);
  int64_t (*carry_elements)(const schaas_tensor* const* args);
  int32_t (*combine)(const schaas_tensor* const* args, void* const* shared, int64_t iteration,
                     const void* carry);
  int32_t part_fold;
  schaas_phase_run values;
  int32_t over;
} schaas_phase;

typedef struct schaas_counter {
  int32_t level;
  int32_t shared_slot;
} schaas_counter;

typedef struct schaas_copy {
  int32_t argument;
  const int32_t* mode_order;
  int32_t locates;
} schaas_copy;

typedef struct schaas_shared {
  int32_t start;
  int32_t argument;
  int32_t level;
} schaas_shared;

typedef struct schaas_fixed_extent {
  int32_t argument;
  int32_t mode;
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
  const char* key;
  const char* problem;
  const char* schedule;
  const char* isa;
  int32_t counter_count;
  const schaas_counter* counters;
  double result_fill;
  int32_t writes_all;
  int32_t copy_count;
  const schaas_copy* copies;
  int64_t (*table_bytes)(const schaas_tensor* const* args, int64_t places);
  int32_t appends;
  int32_t streams;
  const schaas_shared* shared;
  int32_t fixed_count;
  const schaas_fixed_extent* fixed;
} schaas_kernel_descriptor;
