// Predicts the time of each schedule for a GPU on matrices of the travelling bench (tests/bench/gpu), without
// a device: tests/bench/gpu/choice.py compares the choice with what was measured.
//
//     gpu_choice_bench NAME,PROCESSORS,HZ,BYTES_A_SECOND,CACHE_BYTES COLUMNS[,COLUMNS...]
//                      NAME,ROWS,COLUMNS,ENTRIES,DEVIATION,LARGEST...
//
// The first argument is the device. Prints a line of JSON for each problem, matrix, number of columns and
// schedule.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "schaas/connection.h"
#include "schaas/gpu_select.h"

namespace {

using namespace schaas;

struct Problem {
  const char* name;
  const char* statement;
  std::vector<std::string> stored;   ///< csr
  std::vector<std::string> columns;  ///< indices with so many values as there are columns
  client::ValueType value_type = client::ValueType::f32;
};

const std::vector<Problem>& problems() {
  static const std::vector<Problem> all = {
      {"spmm", "C(i,k) = A(i,j) * B(j,k)", {"A"}, {"k"}},
      {"sddmm", "Y(i,j) = A(i,j) * C(i,k) * D(j,k)", {"A", "Y"}, {"k"}},
      {"fused", "Y(i,l) = A(i,j) * C(i,k) * D(j,k) * E(j,l)", {"A"}, {"k", "l"}},
      {"spmm bf16", "C(i,k) = A(i,j) * B(j,k)", {"A"}, {"k"}, client::ValueType::bf16},
  };
  return all;
}

struct Matrix {
  std::string name;
  std::int64_t rows = 0, columns = 0, entries = 0;
  client::Spread spread;
};

/// Reads `name,rows,columns,entries,deviation,largest`: the spread is that of the rows' lengths.
bool read_matrix(const std::string& text, Matrix& matrix) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) return false;
  matrix.name = text.substr(0, comma);
  long long rows = 0, columns = 0, entries = 0;
  const int read = std::sscanf(text.c_str() + comma, ",%lld,%lld,%lld,%lf,%lf", &rows, &columns, &entries,
                               &matrix.spread.deviation, &matrix.spread.largest);
  matrix.rows = rows, matrix.columns = columns, matrix.entries = entries;
  return read == 5;
}

/// Reads `name,processors,hz,bytes a second,cache bytes`.
bool read_device(const std::string& text, client::GpuTarget& target) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) return false;
  auto& device = target.device;
  device.name = text.substr(0, comma);
  double cache = 0;
  const int read = std::sscanf(text.c_str() + comma, ",%d,%lf,%lf,%lf", &device.processors,
                               &device.cycles_per_second, &device.bytes_per_second, &cache);
  device.cache_bytes = cache;
  device.free_bytes = 80e9;
  target.position_bits = 32;
  return read == 4;
}

int print_predictions(const Problem& problem, const std::vector<client::GpuSchedule>& schedules,
                      const client::GpuTarget& target, const Matrix& matrix, std::int64_t n) {
  client::Sizes sizes;
  sizes.extents = {{"i", matrix.rows}, {"j", matrix.columns}};
  for (const auto& index : problem.columns) sizes.extents[index] = n;
  for (const auto& tensor : problem.stored) {
    sizes.entries[tensor] = {matrix.rows, matrix.entries};
    sizes.spreads[tensor] = {{}, matrix.spread};
  }
  const client::GpuSelector selector(schedules);
  const auto selection = selector.select(sizes, problem.value_type, target);
  if (!selection.ok()) return std::fprintf(stderr, "%s\n", selection.error().message.c_str()), 1;
  for (std::size_t s = 0; s < schedules.size(); ++s) {
    std::printf(
        "{\"problem\": \"%s\", \"matrix\": \"%s\", \"n\": %lld, \"point\": \"%s of %s\", \"predicted\": "
        "%.6g, "
        "\"chosen\": %s}\n",
        problem.name, matrix.name.c_str(), static_cast<long long>(n), schedules[s].point.c_str(),
        schedules[s].entry.c_str(), selection->evaluated[s].seconds,
        static_cast<int>(s) == selection->index ? "true" : "false");
  }
  return 0;
}

int run(const client::GpuTarget& target, const std::vector<std::int64_t>& columns,
        const std::vector<Matrix>& matrices) {
  auto connection = client::Connection::open();
  if (!connection.ok()) return std::fprintf(stderr, "%s\n", connection.error().message.c_str()), 1;
  for (const Problem& problem : problems()) {
    client::ScheduleRequest request;
    request.problem.expression = problem.statement;
    for (const auto& tensor : problem.stored) request.problem.formats[tensor] = "csr";
    request.problem.value_type = problem.value_type;
    request.search_only = true;
    request.gpu = true;
    const auto answer = connection->schedule(request);
    if (!answer.ok()) return std::fprintf(stderr, "%s\n", answer.error().message.c_str()), 1;
    for (const Matrix& matrix : matrices) {
      for (const std::int64_t n : columns)
        if (print_predictions(problem, answer->frontier.gpu, target, matrix, n) != 0) return 1;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  client::GpuTarget target;
  if (argc < 4 || !read_device(argv[1], target)) return 1;
  std::vector<std::int64_t> columns;
  for (const char* at = argv[2]; *at != 0; at += *at == ',' ? 1 : 0) {
    char* end = nullptr;
    columns.push_back(std::strtoll(at, &end, 10));
    if (end == at) return 1;
    at = end;
  }
  std::vector<Matrix> matrices;
  for (int a = 3; a < argc; ++a) {
    if (!read_matrix(argv[a], matrices.emplace_back())) return 1;
  }
  return run(target, columns, matrices);
}
