#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "client/cpp/platform/seconds_since.h"
#include "schaas/connection.h"
#include "schaas/fill.h"
#include "schaas/host.h"
#include "schaas/kernel.h"
#include "schaas/rates.h"

// Measures the machine parameters that selection uses. A product with a sparse matrix gathers rows of a dense
// one. The size of the dense matrix decides from which cache the rows come; all else is equal. Four sizes
// give L1, L2, the last-level cache, and memory; memory is measured with all threads, too, as threads share
// it.
namespace schaas::client {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t row = 64;  // elements
constexpr std::int64_t row_bytes = row * 8;
constexpr std::int64_t entries_of_a_row = 32;  // B; the rows of the result are few beside the gathered ones
constexpr std::int64_t min_entries = 1 << 18;
constexpr std::int64_t max_calibration_bytes = std::int64_t{1} << 30;
constexpr double seconds_each = 0.3;
constexpr int min_runs = 3, max_runs = 200;

ScheduleRequest request_of_rows() {
  ScheduleRequest request;
  request.problem.expression = "A(i,k) = B(i,j) * C(j,k)";
  request.problem.formats = {{"B", "csr"}};
  request.problem.position_bits = "32";
  request.traces = {"linear"};
  request.traces_only = true;
  return request;
}

// Makes entries of B at random columns: about equally many in each column, so that all rows of C are visited.
CooTensor gathering(std::int64_t columns) {
  // Each row of C is gathered twice at least.
  const std::int64_t rows = std::max(min_entries, 2 * columns) / entries_of_a_row;
  CooTensor tensor{{rows, columns}, {{}, {}}, {}};
  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::int64_t> any(0, columns - 1);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t n = 0; n < entries_of_a_row; ++n) {
      tensor.coordinates[0].push_back(i);
      tensor.coordinates[1].push_back(any(random));
      tensor.values.push_back(0.5);
    }
  }
  return tensor;
}

support::Result<format::TensorFormat> format_of(const char* text, const char* tensor) {
  return format::parse(text, 2, tensor);
}

// Nanoseconds for an element with one number of threads after the other, the least of several runs each.
support::Result<std::vector<double>> measure(const Kernel& kernel, std::int64_t columns,
                                             const std::vector<int>& threads) {
  const PackOptions options{"B", ValueType::f64, 32};
  SCHAAS_ASSIGN_OR_RETURN(const auto dense, format_of("dense,dense", "C"));
  SCHAAS_ASSIGN_OR_RETURN(const auto csr, format_of("csr", "B"));
  SCHAAS_ASSIGN_OR_RETURN(PackedTensor b, pack(gathering(columns), csr, options));
  SCHAAS_ASSIGN_OR_RETURN(const DenseTensor numbers, fill("C", {columns, row}, 1, ValueType::f64));
  SCHAAS_ASSIGN_OR_RETURN(PackedTensor c, pack(numbers, dense, options));
  SCHAAS_ASSIGN_OR_RETURN(PackedTensor a, zeros({b.extents()[0], row}, dense, options));
  const auto elements = static_cast<double>(b.stored() * row);
  std::vector<double> out;
  for (const int team : threads) {
    ExecutionOptions with;
    with.threads = team;
    SCHAAS_ASSIGN_OR_RETURN(auto execution, Execution::prepare(kernel, {&a, &b, &c}, with));
    double best = 0, spent = 0;
    // The least time counts: other work of the machine only adds.
    for (int run = 0; run < max_runs && (run < min_runs || spent < seconds_each); ++run) {
      const auto start = Clock::now();
      SCHAAS_RETURN_IF_ERROR(execution.run());
      const double took = seconds_since(start);
      best = run == 0 ? took : std::min(best, took);
      spent += took;
    }
    out.push_back(best / elements * 1e9);
  }
  return out;
}

std::int64_t memory_bytes() {
  return std::min({2 * last_level_cache_bytes(), max_calibration_bytes, main_memory_bytes() / 8});
}

}  // namespace

support::Result<Calibration> calibrate(Connection& connection, int threads,
                                       const std::function<void(const std::string&)>& progress) {
  SCHAAS_ASSIGN_OR_RETURN(const ScheduleAnswer answer, connection.schedule(request_of_rows()));
  if (answer.kernels.empty())
    return support::internal("no-kernel", "the server answered without the kernel that measures");
  SCHAAS_ASSIGN_OR_RETURN(const std::string binary, connection.download(answer.kernels.front()));
  SCHAAS_ASSIGN_OR_RETURN(const Kernel kernel, Kernel::load(binary, answer.kernels.front().digest));

  Calibration out;
  const std::int64_t second = second_cache_bytes();
  // Half a cache holds the rows and leaves room for the rest of the product. The third size is above L2 and
  // well within the last-level cache.
  const std::int64_t sizes[] = {first_cache_bytes() / 2, second / 2,
                                std::min(8 * second, last_level_cache_bytes() / 2), memory_bytes()};
  const char* names[] = {"first-level cache", "second-level cache", "last-level cache", "memory"};
  for (int n = 0; n < 4; ++n) {
    if (progress) progress(names[n]);
    std::vector<int> teams = {1};
    if (n == 3 && threads > 1) teams.push_back(threads);
    SCHAAS_ASSIGN_OR_RETURN(const auto found,
                            measure(kernel, std::max<std::int64_t>(sizes[n] / row_bytes, 1), teams));
    for (std::size_t t = 0; t < teams.size(); ++t)
      out.measured.push_back({names[n], sizes[n], teams[t], found[t]});
  }
  out.rates = rates_of(out.measured);
  return out;
}

}  // namespace schaas::client
