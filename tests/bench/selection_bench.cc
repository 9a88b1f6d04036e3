// What picking a schedule on real sizes takes, for frontiers of several lengths: alone, with what
// is looked up once for a frontier, and from one that is prepared; for the processor, and for the frontier's
// schedules for a GPU, of which the device's figures are the defaults.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "schaas/connection.h"
#include "schaas/gpu_select.h"
#include "schaas/select.h"

namespace {

using namespace schaas;
using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

struct Case {
  const char* name;
  const char* statement;
  const char* format;
  client::Sizes sizes;
};

std::vector<Case> cases() {
  const std::vector<std::int64_t> matrix{20'000, 200'000}, tensor{5'000, 40'000, 200'000};
  return {
      {"SpMM",
       "A(i,k) = B(i,j) * C(j,k)",
       "csr",
       {{{"i", 20'000}, {"j", 20'000}, {"k", 64}}, {{"B", matrix}}, {{"B", {{}, {12, 300}}}}}},
      {"K4",
       "A(i,l) = B(i,j) * C(j,k) * D(k,l)",
       "csr",
       {{{"i", 20'000}, {"j", 20'000}, {"k", 64}, {"l", 64}}, {{"B", matrix}}}},
      {"K2",
       "A(i,m) = B(i,j) * C(i,k) * D(j,k) * E(j,l) * F(l,m)",
       "csr",
       {{{"i", 20'000}, {"j", 20'000}, {"k", 64}, {"l", 64}, {"m", 64}}, {{"B", matrix}}}},
      {"K5",
       "A(l,m,n) = B(i,j,k) * C(i,l) * D(j,m) * E(k,n)",
       "csf",
       {{{"i", 5'000}, {"j", 2'000}, {"k", 3'000}, {"l", 32}, {"m", 32}, {"n", 32}}, {{"B", tensor}}}},
  };
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

/// Median microseconds of a prepared selection; negative: it failed.
template <class Select>
double median_of(const Select& select, double& first) {
  std::vector<double> times;
  for (int n = 0; n < 1001; ++n) {
    const auto start = Clock::now();
    const auto selection = select();
    times.push_back(microseconds_since(start));
    if (!selection.ok()) return std::printf("%s\n", selection.error().message.c_str()), -1;
  }
  first = times.front();
  return median(times);
}

int run() {
  auto connection = client::Connection::open();
  if (!connection.ok()) return std::printf("%s\n", connection.error().message.c_str()), 1;
  std::printf("%-4s %8s %9s %12s %12s %12s %8s %12s %12s\n", "", "entries", "variants", "alone us",
              "first us", "median us", "for GPU", "first us", "median us");
  std::string chosen;
  for (const Case& each : cases()) {
    client::ScheduleRequest request;
    request.problem.expression = each.statement;
    request.problem.formats = {{"B", each.format}};
    request.search_only = true;
    request.gpu = true;
    const auto answer = connection->schedule(request);
    if (!answer.ok()) return std::printf("%s\n", answer.error().message.c_str()), 1;
    const auto& entries = answer->frontier.entries;
    std::size_t variants = 0;
    for (const auto& entry : entries) variants += entry.variants.size();
    const auto begin = Clock::now();
    const auto once = client::select(entries, each.sizes, {});
    const double alone = microseconds_since(begin);
    if (!once.ok()) return std::printf("%s\n", once.error().message.c_str()), 1;
    const client::Selector selector(entries);
    double first = 0, gpu_first = 0;
    const double here = median_of([&] { return selector.select(each.sizes, {}); }, first);
    const client::GpuSelector gpu(answer->frontier.gpu);
    const double there = median_of(
        [&] { return gpu.select(each.sizes, client::ValueType::f64, client::GpuTarget{}); }, gpu_first);
    if (here < 0 || there < 0) return 1;
    chosen += std::string(each.name) + ": " +
              gpu.select(each.sizes, client::ValueType::f64, client::GpuTarget{})->reason + "\n";
    std::printf("%-4s %8zu %9zu %12.1f %12.1f %12.1f %8zu %12.1f %12.1f\n", each.name, entries.size(),
                variants, alone, first, here, gpu.schedules().size(), gpu_first, there);
  }
  std::printf("%s", chosen.c_str());
  return 0;
}

}  // namespace

int main() { return run(); }
