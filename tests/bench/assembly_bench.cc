// Sparse results counted and then filled, and appended in one pass (ExecutionOptions::may_append): processor
// milliseconds, least of several runs in turns; the result's arrays are kept between runs (kept) or made
// anew.
//
//   assembly_bench DATA [REPEATS]        DATA: the folder of the matrices
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "schaas/kernel.h"
#include "schaas/tensor_files.h"
#include "tests/support/compiled_kernel.h"

namespace {

using namespace schaas;
using client::PackedTensor;

double processor_milliseconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

struct Case {
  const char* name;
  const char* expression;
  int operands;
  const char* trace;
};
const Case cases[] = {{"A * B", "Z(i,k) = A(i,j) * B(j,k)", 2, "linear"},
                      {"A + B", "Z(i,j) = A(i,j) + B(i,j)", 2, "linear"},
                      {"A + B + C", "Z(i,j) = A(i,j) + B(i,j) + C(i,j)", 3, "linear"}};

/// All operands are the same matrix.
void measure(const std::string& name, const client::CooTensor& entries, int repeats) {
  const auto csr = format::parse("csr", 2, "B").value();
  PackedTensor matrix = client::pack(entries, csr, {"B", client::ValueType::f64, 32}).value();
  for (const Case& each : cases) {
    problem::ProblemText text;
    text.expression = each.expression;
    for (const char* tensor : {"Z", "A", "B", "C"}) {
      if (text.expression.find(tensor) != std::string::npos) text.formats[tensor] = "csr";
    }
    text.position_bits = "32";
    const auto kernel = test_support::compiled_kernel(text, each.trace);
    double least[2][2] = {{1e30, 1e30}, {1e30, 1e30}};
    for (int threads = 1; threads <= 2; ++threads) {
      std::vector<PackedTensor> results;
      std::vector<client::Execution> executions;
      for (int n = 0; n < 2; ++n) {
        results.push_back(
            client::zeros({entries.extents[0], entries.extents[1]}, csr, {"Z", client::ValueType::f64, 32})
                .value());
      }
      for (int n = 0; n < 2; ++n) {
        client::ExecutionOptions options;
        options.threads = threads;
        options.may_append = n == 1;
        std::vector<PackedTensor*> arguments{&results[static_cast<std::size_t>(n)]};
        for (int o = 0; o < each.operands; ++o) arguments.push_back(&matrix);
        executions.push_back(client::Execution::prepare(kernel, arguments, options).value());
      }
      for (int r = 0; r <= repeats; ++r) {
        for (int n = 0; n < 2; ++n) {
          const double begin = processor_milliseconds();
          if (!executions[static_cast<std::size_t>(n)].run().ok()) std::exit(1);
          const double took = processor_milliseconds() - begin;
          if (r > 0) least[threads - 1][n] = std::min(least[threads - 1][n], took);
        }
      }
      if (results[0].stored() != results[1].stored()) std::exit(1);
    }
    std::printf("%-18s %9zu  %-10s %8.2f %8.2f %6.2f   %8.2f %8.2f %6.2f\n", name.c_str(), entries.entries(),
                each.name, least[0][0], least[0][1], least[0][0] / least[0][1], least[1][0], least[1][1],
                least[1][0] / least[1][1]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 15;
  std::printf("%-18s %9s  %-10s %8s %8s %6s   %8s %8s %6s\n", "matrix", "entries", "kernel", "counted",
              "appended", "ratio", "2 threads", "appended", "ratio");
  for (const char* name : {"cora", "bcsstk16", "cage10", "p2p-Gnutella31", "bcsstk25", "wiki-Vote", "pubmed",
                           "memplus", "ca-HepPh"}) {
    const auto file = client::read(std::string(argv[1]) + "/" + name + ".mtx.gz");
    if (!file.ok()) {
      std::printf("%s\n", support::render(file.error()).c_str());
      continue;
    }
    measure(name, std::get<client::CooTensor>(*file), repeats);
  }
  return 0;
}
