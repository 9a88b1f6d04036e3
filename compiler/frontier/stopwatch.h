#pragma once
#include <chrono>

namespace schaas::frontier {

/// Adds the time since the last lap to a field of Seconds.
class Stopwatch {
 public:
  void lap(double& seconds) {
    const auto now = std::chrono::steady_clock::now();
    seconds += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace schaas::frontier
