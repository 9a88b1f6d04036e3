// Predicts the time of each schedule for a GPU on matrices of the travelling bench (tests/bench/gpu), without
// a device: tests/bench/gpu/choice.py compares the choice with what was measured.
//
//     gpu_choice_bench COLUMNS[,COLUMNS...] NAME,ROWS,COLUMNS,ENTRIES,DEVIATION,LARGEST...
//
// Prints a line of JSON for each problem, matrix, number of columns and schedule. The device's facts are
// those of an NVIDIA H100 80GB HBM3.
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
};

const std::vector<Problem>& problems() {
  static const std::vector<Problem> all = {
      {"spmm", "C(i,k) = A(i,j) * B(j,k)", {"A"}, {"k"}},
      {"sddmm", "Y(i,j) = A(i,j) * C(i,k) * D(j,k)", {"A", "Y"}, {"k"}},
      {"fused", "Y(i,l) = A(i,j) * C(i,k) * D(j,k) * E(j,l)", {"A"}, {"k", "l"}},
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

client::GpuTarget target() {
  client::GpuTarget out;
  out.device.name = "NVIDIA H100 80GB HBM3";
  out.device.processors = 132;
  out.device.cycles_per_second = 1.98e9;
  out.device.bytes_per_second = 3.35e12;
  out.device.cache_bytes = 50 * 1024.0 * 1024.0;
  out.device.free_bytes = 80e9;
  out.position_bits = 32;
  return out;
}

int print_predictions(const Problem& problem, const std::vector<client::GpuSchedule>& schedules,
                      const Matrix& matrix, std::int64_t n) {
  client::Sizes sizes;
  sizes.extents = {{"i", matrix.rows}, {"j", matrix.columns}};
  for (const auto& index : problem.columns) sizes.extents[index] = n;
  for (const auto& tensor : problem.stored) {
    sizes.entries[tensor] = {matrix.rows, matrix.entries};
    sizes.spreads[tensor] = {{}, matrix.spread};
  }
  const client::GpuSelector selector(schedules);
  const auto selection = selector.select(sizes, client::ValueType::f32, target());
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

int run(const std::vector<std::int64_t>& columns, const std::vector<Matrix>& matrices) {
  auto connection = client::Connection::open();
  if (!connection.ok()) return std::fprintf(stderr, "%s\n", connection.error().message.c_str()), 1;
  for (const Problem& problem : problems()) {
    client::ScheduleRequest request;
    request.problem.expression = problem.statement;
    for (const auto& tensor : problem.stored) request.problem.formats[tensor] = "csr";
    request.problem.value_type = client::ValueType::f32;
    request.search_only = true;
    request.gpu = true;
    const auto answer = connection->schedule(request);
    if (!answer.ok()) return std::fprintf(stderr, "%s\n", answer.error().message.c_str()), 1;
    for (const Matrix& matrix : matrices) {
      for (const std::int64_t n : columns)
        if (print_predictions(problem, answer->frontier.gpu, matrix, n) != 0) return 1;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 1;
  std::vector<std::int64_t> columns;
  for (const char* at = argv[1]; *at != 0; at += *at == ',' ? 1 : 0) {
    char* end = nullptr;
    columns.push_back(std::strtoll(at, &end, 10));
    if (end == at) return 1;
    at = end;
  }
  std::vector<Matrix> matrices;
  for (int a = 2; a < argc; ++a) {
    if (!read_matrix(argv[a], matrices.emplace_back())) return 1;
  }
  return run(columns, matrices);
}
