/* y = B x with an installed schaas, B in csr, on arrays of this program. */
#include <schaas/schaas.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int32_t status, schaas_error* error) {
  if (status == SCHAAS_SUCCESS) return;
  fprintf(stderr, "%s\n", schaas_error_text(error));
  exit(status);
}

int main(void) {
  /* B = [[1 0 2] [0 0 0] [0 3 0]] */
  int32_t positions[] = {0, 2, 2, 3}, coordinates[] = {0, 2, 1}, order[] = {0, 1};
  double values[] = {1, 2, 3}, x[] = {1, 10, 100};
  int64_t extents[] = {3, 3};
  schaas_level csr[] = {{SCHAAS_LEVEL_DENSE, 0, NULL, NULL, 3},
                        {SCHAAS_LEVEL_COMPRESSED, 32, positions, coordinates, 3}};
  schaas_level dense[] = {{SCHAAS_LEVEL_DENSE, 0, NULL, NULL, 3}};
  schaas_tensor b = {2, SCHAAS_F64, extents, order, csr, values},
                in = {1, SCHAAS_F64, extents, order, dense, x};
  schaas_operand operands[] = {{"B", &b}, {"x", &in}};
  const char* formats[] = {"B", "csr"};
  schaas_problem problem = {.struct_bytes = sizeof problem,
                            .expression = "y(i) = B(i,j) * x(j)",
                            .formats = formats,
                            .format_count = 1,
                            .value_type = SCHAAS_F64,
                            .position_bits = 32};
  schaas_session* session;
  schaas_kernels* kernels;
  schaas_storage* result;
  schaas_error* error = NULL;
  check(schaas_session_open(NULL, &session, &error), error); /* $SCHAAS_SERVER, else a private server */
  check(schaas_kernels_open(session, &problem, &kernels, &error), error);
  check(schaas_compute(kernels, operands, 2, NULL, &result, &error), error);
  const double* y = schaas_storage_view(result)->values;
  printf("%g %g %g\n", y[0], y[1], y[2]);
  schaas_storage_free(result);
  schaas_kernels_close(kernels);
  schaas_session_close(session);
  return 0;
}
