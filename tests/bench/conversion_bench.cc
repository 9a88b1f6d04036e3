// Conversions of a random square matrix, direct, through a list of entries, and as a copy for the runs of a
// kernel (once to make it, and each time to bring its values up to date).
//
//   conversion_bench [ROWS [ENTRIES [REPEATS]]]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "client/cpp/tensor/stored_copy.h"
#include "schaas/convert.h"

namespace {

using namespace schaas;

client::CooTensor random_matrix(std::int64_t rows, std::int64_t entries) {
  std::mt19937_64 random(1);
  client::CooTensor matrix{{rows, rows}, {{}, {}}, {}};
  for (std::int64_t e = 0; e < entries; ++e) {
    matrix.coordinates[0].push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(rows)));
    matrix.coordinates[1].push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(rows)));
    matrix.values.push_back(1);
  }
  return matrix;
}

template <class Way>
double best_milliseconds(const Way& way, int repeats) {
  double best = 1e30;
  for (int n = 0; n < repeats; ++n) {
    const auto begin = std::chrono::steady_clock::now();
    const auto result = way();
    if (!result.ok()) std::printf("%s\n", support::render(result.error()).c_str());
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count());
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t rows = argc > 1 ? std::atoll(argv[1]) : 200000;
  const std::int64_t entries = argc > 2 ? std::atoll(argv[2]) : 2000000;
  const int repeats = argc > 3 ? std::atoi(argv[3]) : 3;
  const client::CooTensor matrix = random_matrix(rows, entries);
  std::printf("%lld rows and columns, %lld entries\n%-6s %-6s %12s %12s %14s %10s %12s\n",
              static_cast<long long>(rows), static_cast<long long>(entries), "from", "to", "1 thread/ms",
              "threads/ms", "by entries/ms", "copy/ms", "refresh/ms");
  for (const char* from : {"csr", "coo", "dcsr"}) {
    const auto packed = client::pack(matrix, *format::parse(from, 2, "B"), {"B", client::ValueType::f64, 32});
    if (!packed.ok()) return 1;
    for (const char* to : {"csr", "csc", "coo", "coo:1,0", "dcsr", "dcsc"}) {
      const format::TensorFormat format = *format::parse(to, 2, "B");
      const auto timed = [&](auto way, int threads) {
        return best_milliseconds(
            [&] {
              return way(*packed, format, client::ConvertOptions{"B", threads});
            },
            repeats);
      };
      auto copy = client::StoredCopy::make(*packed, format, {"B", 1});
      if (!copy.ok()) return 1;
      const auto refresh = [&]() -> support::Result<void> {
        copy->refresh(0, 1);
        return {};
      };
      std::printf("%-6s %-7s %11.1f %12.1f %14.1f %10.1f %12.1f\n", from, to, timed(client::convert, 1),
                  timed(client::convert, 0), timed(client::convert_by_entries, 0),
                  timed(client::StoredCopy::make, 1), best_milliseconds(refresh, repeats));
    }
  }
}
