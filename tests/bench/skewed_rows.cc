// Phases that used to run on one thread, and rows that hold most of the entries: what cutting them gains. For
// each matrix how many entries the busiest of 2, 8 and 64 threads has, over the mean, when rows are shared
// out, when entries are, and when long rows are cut besides; for each kernel the best of several runs by one
// thread, by two without and by two with arrays that threads fold into and rows that are cut.
//
//   skewed_rows DATA [REPEATS]        DATA: the folder of the matrices
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "client/cpp/runtime/balance.h"
#include "schaas/fill.h"
#include "schaas/kernel.h"
#include "schaas/tensor_files.h"
#include "tests/support/compiled_kernel.h"

namespace {

using namespace schaas;
using client::ExecutionOptions;
using client::PackedTensor;
using client::ValueType;

struct Kernel {
  const char* name;
  const char* expression;
  const char* trace;
  std::vector<int> result, operand;  ///< extents: 0 is the rows, 1 the columns, else that many
};

const Kernel kernels[] = {{"row sums", "A(i) = B(i,j) * C(j)", "linear", {0}, {1}},
                          {"rows of 16", "A(i,k) = B(i,j) * C(j,k)", "linear", {0, 16}, {1, 16}},
                          {"column sums", "A(j) = B(i,j) * C(i)", "linear", {1}, {0}},
                          {"one sum", "a = B(i,j) * C(j)", "linear", {}, {1}}};

double best_milliseconds(client::Execution& execution, int repeats) {
  double best = 1e30;
  for (int n = 0; n <= repeats; ++n) {
    const auto begin = std::chrono::steady_clock::now();
    if (!execution.run().ok()) std::exit(1);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (n > 0) best = std::min(best, took.count());
  }
  return best;
}

enum class Split {
  rows,     ///< as many rows for each thread
  entries,  ///< twelve pieces a thread of as many entries, whoever is free takes the next
  cut,      ///< these, and rows that are longer than a piece are cut
};

/// Entries of the busiest thread over the mean of all.
double imbalance(const PackedTensor& matrix, int threads, Split split) {
  const schaas_tensor view = matrix.view();
  const schaas_level* weights = &view.levels[1];
  const auto entries_before = [&](std::int64_t row) { return client::total_weight(row, weights) - row; };
  const std::int64_t rows = matrix.extents()[0], total = entries_before(rows);
  std::vector<std::int64_t> taken(static_cast<std::size_t>(threads));
  if (split == Split::rows) {
    for (int t = 0; t < threads; ++t)
      taken[static_cast<std::size_t>(t)] =
          entries_before(rows * (t + 1) / threads) - entries_before(rows * t / threads);
  } else {
    const std::int64_t pieces = 12 * threads, weight = client::total_weight(rows, weights);
    for (const auto& run : client::tasks_between(client::cut_range(rows, pieces, weights),
                                                 split == Split::cut ? weights : nullptr,
                                                 std::max<std::int64_t>(weight / pieces, 256), weight))
      *std::min_element(taken.begin(), taken.end()) +=
          run.is_part() ? run.last - run.first : entries_before(run.end) - entries_before(run.begin);
  }
  return static_cast<double>(*std::max_element(taken.begin(), taken.end())) * threads /
         static_cast<double>(total);
}

void measure(const std::string& name, const client::CooTensor& entries, int repeats) {
  const auto csr = format::parse("csr", 2, "B").value();
  PackedTensor matrix = client::pack(entries, csr, {"B", ValueType::f64, 32}).value();
  std::printf("%-20s %9zu  busiest thread over the mean, by rows, by entries, rows cut:", name.c_str(),
              entries.entries());
  for (const int threads : {2, 8, 64}) {
    std::printf("   %d threads", threads);
    for (const Split split : {Split::rows, Split::entries, Split::cut})
      std::printf(" %5.2f", imbalance(matrix, threads, split));
  }
  std::printf("\n");
  for (const Kernel& kernel : kernels) {
    problem::ProblemText text;
    text.expression = kernel.expression;
    text.formats = {{"B", "csr"}};
    text.position_bits = "32";
    const auto loaded = test_support::compiled_kernel(text, kernel.trace);
    std::vector<PackedTensor> dense;
    for (const auto& modes : {kernel.result, kernel.operand}) {
      std::vector<std::int64_t> extents;
      for (const int mode : modes)
        extents.push_back(mode < 2 ? entries.extents[static_cast<std::size_t>(mode)] : mode);
      const auto format = format::dense(static_cast<int>(extents.size()));
      const auto values = client::fill("C", extents, 1, ValueType::f64).value();
      dense.push_back(client::pack(values, format, {"C", ValueType::f64, 32}).value());
    }
    const auto timed = [&](int threads, ExecutionOptions::Folding folding) {
      ExecutionOptions options;
      options.threads = threads;
      options.folding = folding;
      auto execution = client::Execution::prepare(loaded, {&dense[0], &matrix, &dense[1]}, options).value();
      return best_milliseconds(execution, repeats);
    };
    const double one = timed(1, ExecutionOptions::Folding::never);
    const double without = timed(2, ExecutionOptions::Folding::never);
    const double with = timed(2, ExecutionOptions::Folding::when_it_pays);
    std::printf("%-20s %9zu  %-12s %8.3f %8.3f %8.3f   %5.2f %5.2f\n", name.c_str(), entries.entries(),
                kernel.name, one, without, with, one / without, one / with);
  }
}

client::CooTensor with_a_full_row(std::int64_t rows) {
  client::CooTensor out{{rows, rows}, {{}, {}}, {}};
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < (i == rows / 3 ? rows : 1); ++j) {
      out.coordinates[0].push_back(i);
      out.coordinates[1].push_back(i == rows / 3 ? j : (i * 7919) % rows);
      out.values.push_back(1);
    }
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 15;
  std::printf("%-20s %9s  %-12s %8s %8s %8s   %5s %5s\n", "matrix", "entries", "kernel", "1/ms", "2 old",
              "2 new", "old x", "new x");
  measure("one full row", with_a_full_row(1000000), repeats);
  for (const char* name : {"email-Enron", "p2p-Gnutella31", "wiki-Vote", "BlogCatalog", "soc-Slashdot0902",
                           "NotreDame_www", "musae-github", "BOYD2_A"}) {
    const auto file = client::read(std::string(argv[1]) + "/" + name + ".mtx.gz");
    if (!file.ok()) {
      std::printf("%s\n", support::render(file.error()).c_str());
      continue;
    }
    measure(name, std::get<client::CooTensor>(*file), repeats);
  }
  return 0;
}
