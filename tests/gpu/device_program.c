/* y = B x from C with arrays that lie on a device, which gpu_path_test stands in for (fake_driver.c). */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "schaas/schaas.h"

static void* driver;

#define CUDA(name, ...) (((int (*)())dlsym(driver, name))(__VA_ARGS__))

static void* there(const void* from, size_t bytes) {
  uint64_t address = 0;
  if (CUDA("cuMemAlloc_v2", &address, bytes) != 0) return NULL;
  CUDA("cuMemcpyAsync", address, (uint64_t)(uintptr_t)from, bytes, NULL);
  return (void*)(uintptr_t)address;
}

static int failed(schaas_error* error) {
  printf("error %d %s: %s\n", schaas_error_status(error), schaas_error_code(error), schaas_error_message(error));
  schaas_error_free(error);
  return 1;
}

static void fetch(double* to, const void* from, size_t bytes) {
  CUDA("cuMemcpyAsync", (uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from, bytes, NULL);
}

int main(void) {
  schaas_error* error = NULL;
  schaas_session* session = NULL;
  schaas_kernels* kernels = NULL;
  schaas_computation* computation = NULL;
  void *context = NULL, *stream = NULL;
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == NULL || CUDA("cuDevicePrimaryCtxRetain", &context, 0) != 0 || CUDA("cuCtxPushCurrent_v2", context) != 0 ||
      CUDA("cuStreamCreate", &stream, 0) != 0)
    return 2;

  const char* formats[] = {"B", "csr"};
  /* B = [[1 0 2] [0 0 0] [0 3 0]] */
  int32_t pos[] = {0, 2, 2, 3}, crd[] = {0, 2, 1}, order[] = {0, 1};
  double values[] = {1, 2, 3}, x[] = {1, 10, 100}, y[] = {0, 0, 0};
  int64_t matrix[] = {3, 3}, vector[] = {3};
  schaas_level rows[] = {{SCHAAS_LEVEL_DENSE, 0, NULL, NULL, 3}, {SCHAAS_LEVEL_COMPRESSED, 32, pos, crd, 3}};
  schaas_level dense[] = {{SCHAAS_LEVEL_DENSE, 0, NULL, NULL, 3}};
  schaas_tensor b = {2, SCHAAS_F64, matrix, order, rows, values};
  schaas_tensor in = {1, SCHAAS_F64, vector, order, dense, x};
  schaas_tensor out = {1, SCHAAS_F64, vector, order, dense, y};
  schaas_operand operands[] = {{"B", &b}, {"x", &in}};
  schaas_problem problem;
  memset(&problem, 0, sizeof problem);
  problem.struct_bytes = sizeof problem;
  problem.expression = "y(i) = B(i,j) * x(j)";
  problem.formats = formats;
  problem.format_count = 1;
  problem.position_bits = 32;
  problem.patience_seconds = 300;
  const char* names[] = {"B", "x", "y"};
  schaas_gpu gpu = {sizeof gpu, 0, 1, NULL, names, 3};
  schaas_options options;
  memset(&options, 0, sizeof options);
  options.result = &out;
  options.gpu = &gpu;
  if (schaas_session_open(NULL, &session, &error) != 0) return failed(error);
  if (schaas_kernels_open(session, &problem, &kernels, &error) != 0) return failed(error);

  /* A program that was built before there was `gpu`. */
  char* told = NULL;
  options.struct_bytes = offsetof(schaas_options, gpu);
  if (schaas_bind(kernels, operands, 2, &options, &computation, &error) != 0) return failed(error);
  if (schaas_computation_describe(computation, &told, &error) != 0) return failed(error);
  printf("old options: %s\n", strstr(told, "\"device\":null") != NULL ? "cuda is not asked for" : told);
  schaas_text_free(told);
  schaas_computation_close(computation);
  options.struct_bytes = sizeof options;

  rows[1].pos = there(pos, sizeof pos);
  rows[1].crd = there(crd, sizeof crd);
  b.values = there(values, sizeof values);
  in.values = there(x, sizeof x);
  out.values = there(y, sizeof y);
  if (schaas_bind(kernels, operands, 2, &options, &computation, &error) != 0) return failed(error);
  if (schaas_run(computation, &error) != 0) return failed(error);
  if (schaas_result(computation)->values != out.values) return 3;
  fetch(y, out.values, sizeof y);
  if (schaas_computation_describe(computation, &told, &error) != 0) return failed(error);
  printf("%s: %g %g %g\n", strstr(told, "\"device\":\"Fake GPU\"") != NULL ? "on Fake GPU" : told, y[0], y[1], y[2]);
  schaas_text_free(told);
  schaas_computation_close(computation);

  /* Operands that come on a stream; the computation is closed before they are there. */
  const double next[] = {2, 10, 200};
  CUDA("cuMemcpyAsync", (uint64_t)(uintptr_t)in.values, (uint64_t)(uintptr_t)next, sizeof next, stream);
  CUDA("cuMemsetD8Async", (uint64_t)(uintptr_t)out.values, 0, sizeof y, stream);
  gpu.stream = stream;
  const int64_t before = *(int64_t*)dlsym(driver, "fake_launches");
  if (schaas_compute(kernels, operands, 2, &options, NULL, &error) != 0) return failed(error);
  const int64_t after = *(int64_t*)dlsym(driver, "fake_launches");
  CUDA("cuStreamSynchronize", stream);
  fetch(y, out.values, sizeof y);
  printf("on a stream: before %d, after %g %g %g\n", (int)(after - before), y[0], y[1], y[2]);

  in.values = x;
  if (schaas_bind(kernels, operands, 2, &options, &computation, &error) == 0) return 4;
  failed(error);
  gpu.device = 3;
  if (schaas_bind(kernels, operands, 2, &options, &computation, &error) == 0) return 5;
  failed(error);
  schaas_kernels_close(kernels);
  schaas_session_close(session);
  return 0;
}
