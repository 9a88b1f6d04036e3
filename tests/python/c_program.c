/* y = B x from C: B in csr, arrays where they lie. Prints the result, then what errors look like. */
#include <stdio.h>
#include <string.h>

#include "schaas/schaas.h"

static int failed(schaas_error* error) {
  printf("error %d %s\n%s\n", schaas_error_status(error), schaas_error_code(error), schaas_error_text(error));
  schaas_error_free(error);
  return 1;
}

static schaas_problem product(const char* expression, const char* const* formats) {
  schaas_problem problem;
  memset(&problem, 0, sizeof problem);
  problem.struct_bytes = sizeof problem;
  problem.expression = expression;
  problem.formats = formats;
  problem.format_count = 1;
  problem.value_type = SCHAAS_F64;
  problem.position_bits = 32;
  return problem;
}

int main(void) {
  schaas_error* error = NULL;
  schaas_session* session = NULL;
  schaas_kernels* kernels = NULL;
  schaas_computation* computation = NULL;
  const char* formats[] = {"B", "csr"};
  /* B = [[1 0 2] [0 0 0] [0 3 0]] */
  int32_t pos[] = {0, 2, 2, 3}, crd[] = {0, 2, 1};
  double values[] = {1, 2, 3}, x[] = {1, 10, 100}, y[] = {-1, -1, -1};
  int64_t matrix[] = {3, 3}, vector[] = {3};
  int32_t order[] = {0, 1};
  schaas_level csr[] = {{SCHAAS_LEVEL_DENSE, 0, NULL, NULL, 3}, {SCHAAS_LEVEL_COMPRESSED, 32, pos, crd, 3}};
  schaas_level dense[] = {{SCHAAS_LEVEL_DENSE, 0, NULL, NULL, 3}};
  schaas_tensor b = {2, SCHAAS_F64, matrix, order, csr, values};
  schaas_tensor in = {1, SCHAAS_F64, vector, order, dense, x};
  schaas_tensor out = {1, SCHAAS_F64, vector, order, dense, y};
  schaas_operand operands[] = {{"B", &b}, {"x", &in}};
  schaas_options options;
  schaas_problem problem = product("y(i) = B(i,j) * x(j)", formats);
  memset(&options, 0, sizeof options);
  options.struct_bytes = sizeof options;
  options.result = &out;
  options.threads = 1;

  if (schaas_api_version() != SCHAAS_API_VERSION) return 2;
  if (schaas_session_open(NULL, &session, &error) != 0) return failed(error);
  if (schaas_kernels_open(session, &problem, &kernels, &error) != 0) return failed(error);
  char* told = NULL;
  if (schaas_frontier_at(kernels, NULL, 0, NULL, &told, &error) != 0) return failed(error);
  printf("%s\n", strstr(told, "\"here\":null") != NULL ? "no sizes" : told);
  schaas_text_free(told);
  if (schaas_bind(kernels, operands, 2, &options, &computation, &error) != 0) return failed(error);
  if (schaas_frontier_at(kernels, operands, 2, &options, &told, &error) != 0) return failed(error);
  printf("%s\n", strstr(told, "\"nonzeros\":{\"B\":3}") != NULL && strstr(told, "<svg") != NULL ? "sizes" : told);
  schaas_text_free(told);
  if (schaas_run(computation, &error) != 0) return failed(error);
  printf("%g %g %g %s\n", y[0], y[1], y[2], schaas_result(computation)->values == y ? "in place" : "elsewhere");
  values[2] = 5; /* values may change between runs */
  if (schaas_run(computation, &error) != 0) return failed(error);
  printf("%g %g %g\n", y[0], y[1], y[2]);
  schaas_computation_close(computation);

  options.result = NULL; /* the library makes the result */
  schaas_storage* storage = NULL;
  if (schaas_compute(kernels, operands, 2, &options, &storage, &error) != 0) return failed(error);
  printf("%g\n", ((const double*)schaas_storage_view(storage)->values)[2]);
  schaas_storage_free(storage);

  crd[1] = 9;
  if (schaas_compute(kernels, operands, 2, &options, &storage, &error) == 0) return 3;
  printf("%s\n", schaas_error_text(error));
  schaas_error_free(error);
  problem = product("y(i) = B(i,j * x(j)", formats);
  schaas_kernels* none = NULL;
  if (schaas_kernels_open(session, &problem, &none, &error) != SCHAAS_INVALID || none != NULL) return 4;
  printf("%s\n", schaas_error_text(error));
  schaas_error_free(error);
  if (schaas_bind(NULL, operands, 2, NULL, &computation, NULL) != SCHAAS_INVALID) return 5;
  schaas_kernels_close(kernels);
  schaas_session_close(session);
  return 0;
}
