// What the programs beside tests/bench/sparse_results.py print first.
#pragma once
#include <chrono>
#include <cstdio>

/// The seconds of each of `repeat` calls, in one line.
template <class Call>
void print_seconds(int repeat, const Call& call) {
  for (; repeat > 0; --repeat) {
    const auto start = std::chrono::steady_clock::now();
    call();
    std::printf("%.9f ", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::printf("\n");
}
