/* What the client asks of libcuda.so.1, on the host, stricter than a device. For tests without a GPU.

   Device memory is mapped so that nobody may touch it but a copy or a launch while it runs: a read by code of the host
   ends the program. A module is the shared object that its image lies in, and a launch is a call of whoever set
   fake_launch, or of the emulation in that object. What is put on a stream is done when somebody waits for it, or by
   what comes on the null stream, which waits for all; copies from the host have read their source when they return, as
   from ordinary memory. Every call needs the context current on its thread. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "proto/gpu_abi.h"

int (*fake_launch)(const char* function, unsigned blocks, unsigned threads, void* parameters) = 0;
size_t fake_free_bytes = (size_t)1 << 30;
int fake_devices = 1;
int fake_architecture = 90;
int fake_pools = 1;    /* memory is had and given back in the order of streams */
int fake_ordinal = 0;  /* of the device on which memory is said to lie */
int64_t fake_allocations = 0; /* not released yet */
int64_t fake_pending = 0;     /* put on streams and not done yet */
int64_t fake_to_device = 0, fake_to_host = 0; /* bytes copied */
const void* fake_image = 0;
int fake_processors = -1; /* -1: does not tell */
int64_t fake_launches = 0;

enum { invalid_value = 1, no_memory = 2, invalid_context = 201, invalid_handle = 400, not_found = 500, not_supported = 801 };

struct fake_function {
  const char* name;
  const schaas_gpu_phase* phase;
};
struct fake_module {
  const schaas_gpu_descriptor* kernel;
  struct fake_function functions[16];
};

/* ---- device memory ---- */

struct allocation {
  char* place;
  size_t bytes, mapped;
  struct allocation* next;
};
static struct allocation* allocations = 0;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static __thread int depth = 0; /* of contexts */

static struct allocation* holding(uint64_t address) {
  const char* const at = (const char*)(uintptr_t)address;
  for (struct allocation* one = allocations; one != 0; one = one->next)
    if (at >= one->place && at < one->place + one->mapped) return one;
  return 0;
}
static int reaches(const struct allocation* one, uint64_t address, size_t bytes) {
  return (uintptr_t)address + bytes <= (uintptr_t)one->place + one->bytes;
}
static void let(int protection) {
  for (struct allocation* one = allocations; one != 0; one = one->next) mprotect(one->place, one->mapped, protection);
}
static int allocate(uint64_t* address, size_t bytes) {
  if (bytes == 0) return invalid_value;
  struct allocation* made = calloc(1, sizeof *made);
  made->bytes = bytes;
  made->mapped = (bytes + 4095) / 4096 * 4096;
  made->place = mmap(0, made->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made->place == MAP_FAILED) return free(made), no_memory;
  memset(made->place, 0x5a, made->mapped);
  mprotect(made->place, made->mapped, PROT_NONE);
  made->next = allocations;
  allocations = made;
  *address = (uint64_t)(uintptr_t)made->place;
  ++fake_allocations;
  return 0;
}
static int release(uint64_t address) {
  for (struct allocation** one = &allocations; *one != 0; one = &(*one)->next) {
    if ((*one)->place != (char*)(uintptr_t)address) continue;
    struct allocation* const gone = *one;
    *one = gone->next;
    munmap(gone->place, gone->mapped);
    free(gone);
    --fake_allocations;
    return 0;
  }
  return invalid_value;
}

/* ---- streams ---- */

struct task {
  enum { copying, setting, launching, releasing } kind;
  uint64_t to, from;
  size_t bytes;
  void* held; /* what a copy from the host has read, or the parameters of a launch */
  unsigned value, blocks;
  const struct fake_function* function;
  struct task* next;
};
struct fake_stream {
  struct task *first, **last;
  struct fake_stream* next;
};
static struct fake_stream legacy = {0, &legacy.first, 0}, of_thread = {0, &of_thread.first, &legacy};
static struct fake_stream* streams = &of_thread;
static int failed = 0; /* of a task, told to who waits next */

static struct fake_stream* stream_of(void* handle) {
  if (handle == (void*)1) return &legacy;
  if (handle == (void*)2) return &of_thread;
  for (struct fake_stream* one = streams; one != 0; one = one->next)
    if (one == handle) return one;
  return 0;
}
static int launched(const struct fake_function* called, unsigned blocks, void* parameters) {
  ++fake_launches;
  if (fake_launch != 0) return fake_launch(called->name, blocks, (unsigned)called->phase->block, parameters);
  return called->phase->launch == 0 ? invalid_value : called->phase->launch(parameters, blocks, 0);
}
static int done(struct task* task) {
  int status = 0;
  let(PROT_READ | PROT_WRITE);
  if (task->kind == copying)
    memcpy((void*)(uintptr_t)task->to, task->held != 0 ? task->held : (void*)(uintptr_t)task->from, task->bytes);
  if (task->kind == setting) memset((void*)(uintptr_t)task->to, (int)task->value, task->bytes);
  if (task->kind == launching) status = launched(task->function, task->blocks, task->held);
  let(PROT_NONE);
  if (task->kind == releasing) status = release(task->to);
  free(task->held);
  free(task);
  return status;
}
static int finish(struct fake_stream* stream) {
  while (stream->first != 0) {
    struct task* const task = stream->first;
    stream->first = task->next;
    if (stream->first == 0) stream->last = &stream->first;
    --fake_pending;
    const int status = done(task);
    if (failed == 0) failed = status;
  }
  const int status = failed;
  failed = 0;
  return status;
}
static int finish_all(void) {
  int status = 0;
  for (struct fake_stream* one = streams; one != 0; one = one->next) {
    const int here = finish(one);
    if (status == 0) status = here;
  }
  return status;
}
/* Takes the task over. */
static int put(struct task task, void* handle) {
  struct task* const kept = malloc(sizeof task);
  *kept = task;
  kept->next = 0;
  if (handle == 0) {
    const int before = finish_all(), status = done(kept);
    return before != 0 ? before : status;
  }
  struct fake_stream* const stream = stream_of(handle);
  if (stream == 0) return free(kept->held), free(kept), invalid_handle;
  *stream->last = kept;
  stream->last = &kept->next;
  ++fake_pending;
  return 0;
}

#define IN_CONTEXT(body)                 \
  if (depth == 0) return invalid_context; \
  pthread_mutex_lock(&mutex);            \
  const int status = (body);             \
  pthread_mutex_unlock(&mutex);          \
  return status

int cuStreamCreate(void** stream, unsigned flags) {
  (void)flags;
  struct fake_stream* const made = calloc(1, sizeof *made);
  made->last = &made->first;
  made->next = streams;
  streams = made;
  *stream = made;
  return 0;
}
int cuStreamDestroy_v2(void* stream) {
  for (struct fake_stream** one = &streams; *one != 0; one = &(*one)->next) {
    if (*one != stream) continue;
    finish(*one);
    struct fake_stream* const gone = *one;
    *one = gone->next;
    free(gone);
    return 0;
  }
  return invalid_handle;
}
static int finish_one(void* handle) {
  if (handle == 0) return finish_all();
  struct fake_stream* const stream = stream_of(handle);
  return stream == 0 ? invalid_handle : finish(stream);
}
int cuStreamSynchronize(void* stream) { IN_CONTEXT(finish_one(stream)); }
int cuCtxSynchronize(void) { IN_CONTEXT(finish_all()); }

/* ---- devices and contexts ---- */

int cuInit(unsigned flags) { return flags == 0 ? 0 : invalid_value; }
int cuDeviceGetCount(int* count) { return *count = fake_devices, 0; }
int cuDeviceGetName(char* name, int length, int device) {
  (void)device;
  strncpy(name, "Fake GPU", (size_t)length);
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  (void)device;
  *value = attribute == 75    ? fake_architecture / 10
           : attribute == 76  ? fake_architecture % 10
           : attribute == 16  ? fake_processors
           : attribute == 115 ? fake_pools
                              : -1;
  return 0;
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) { return (void)device, *bytes = (size_t)1 << 31, 0; }
int cuDevicePrimaryCtxRetain(void** context, int device) { return (void)device, *context = &fake_devices, 0; }
int cuDevicePrimaryCtxRelease_v2(int device) { return (void)device, 0; }
int cuCtxPushCurrent_v2(void* context) { return context == &fake_devices ? (++depth, 0) : invalid_context; }
int cuCtxPopCurrent_v2(void** context) {
  if (depth == 0) return invalid_context;
  *context = &fake_devices;
  return --depth, 0;
}
int cuCtxGetCurrent(void** context) { return *context = depth > 0 ? &fake_devices : 0, 0; }
int cuMemGetInfo_v2(size_t* available, size_t* total) {
  if (depth == 0) return invalid_context;
  *available = fake_free_bytes;
  *total = (size_t)1 << 31;
  return 0;
}

/* ---- memory, copies, launches ---- */

static int pointer_attribute(void* value, int attribute, uint64_t address) {
  if (holding(address) == 0) return invalid_value; /* as of ordinary memory of the host */
  *(unsigned*)value = attribute == 9 ? (unsigned)fake_ordinal : 2;
  return attribute == 9 || attribute == 2 ? 0 : invalid_value;
}
int cuPointerGetAttribute(void* value, int attribute, uint64_t address) {
  IN_CONTEXT(pointer_attribute(value, attribute, address));
}
int cuMemAlloc_v2(uint64_t* address, size_t bytes) { IN_CONTEXT(allocate(address, bytes)); }
static int wait_and_release(uint64_t address) { return finish_all(), release(address); }
int cuMemFree_v2(uint64_t address) { IN_CONTEXT(wait_and_release(address)); }
int cuMemAllocAsync(uint64_t* address, size_t bytes, void* stream) {
  if (!fake_pools) return not_supported;
  if (stream != 0 && stream_of(stream) == 0) return invalid_handle;
  IN_CONTEXT(allocate(address, bytes));
}
int cuMemFreeAsync(uint64_t address, void* stream) {
  if (!fake_pools) return not_supported;
  const struct task task = {.kind = releasing, .to = address};
  IN_CONTEXT(put(task, stream));
}
static int copy(uint64_t to, uint64_t from, size_t bytes, void* stream) {
  const struct allocation *target = holding(to), *source = holding(from);
  if (target == 0 && source == 0) return invalid_value;
  if ((target != 0 && !reaches(target, to, bytes)) || (source != 0 && !reaches(source, from, bytes))) return invalid_value;
  struct task task = {.kind = copying, .to = to, .from = from, .bytes = bytes};
  if (source == 0) {
    task.held = malloc(bytes + 1);
    memcpy(task.held, (const void*)(uintptr_t)from, bytes);
    fake_to_device += (int64_t)bytes;
  }
  if (target == 0) fake_to_host += (int64_t)bytes;
  return put(task, stream);
}
int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void* stream) { IN_CONTEXT(copy(to, from, bytes, stream)); }
static int set(uint64_t to, unsigned char value, size_t bytes, void* stream) {
  const struct allocation* const target = holding(to);
  if (target == 0 || !reaches(target, to, bytes)) return invalid_value;
  const struct task task = {.kind = setting, .to = to, .value = value, .bytes = bytes};
  return put(task, stream);
}
int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void* stream) { IN_CONTEXT(set(to, value, bytes, stream)); }
int cuModuleLoadData(void** module, const void* image) {
  Dl_info info;
  struct link_map* map = 0;
  struct fake_module* made = calloc(1, sizeof *made);
  fake_image = image;
  if (made == 0) return no_memory;
  if (depth == 0) return free(made), invalid_context;
  if (dladdr1(image, &info, (void**)&map, RTLD_DL_LINKMAP) != 0 && map != 0)
    made->kernel = dlsym(map, SCHAAS_GPU_SYMBOL);
  *module = made;
  return 0;
}
int cuModuleUnload(void* module) { return depth == 0 ? invalid_context : (free(module), 0); }
int cuModuleGetFunction(void** function, void* module, const char* name) {
  struct fake_module* from = module;
  for (int n = 0; from->kernel != 0 && n < from->kernel->phase_count && n < 16; ++n) {
    if (strcmp(from->kernel->phases[n].function, name) != 0) continue;
    from->functions[n].name = name; /* of the kernel, which stays */
    from->functions[n].phase = &from->kernel->phases[n];
    *function = &from->functions[n];
    return 0;
  }
  return not_found;
}
int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void** parameters,
                   void** extra) {
  const struct fake_function* called = function;
  if (grid_y * grid_z * block_y * block_z != 1 || shared_bytes != 0 || extra != 0) return invalid_value;
  if (block_x != (unsigned)called->phase->block) return invalid_value;
  const size_t bytes = (size_t)called->phase->parameter_bytes;
  struct task task = {.kind = launching, .held = malloc(bytes + 1), .blocks = grid_x, .function = called};
  memcpy(task.held, parameters[0], bytes);
  IN_CONTEXT(put(task, stream));
}
int cuGetErrorString(int error, const char** text) {
  return *text = error == 719 ? "launch failed" : "other", 0;
}
