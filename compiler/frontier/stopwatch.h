#pragma once
#include <algorithm>
#include <chrono>
#include <optional>

namespace schaas::frontier {

/// Adds the time since the last lap to a field of Seconds, and divides budgets.
class Stopwatch {
 public:
  void lap(double& seconds) {
    const auto now = std::chrono::steady_clock::now();
    seconds += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

  /// Returns the seconds that are left of a budget of so many.
  double left_of(double budget_seconds) const { return std::max(0.0, budget_seconds - since_start()); }
  /// Returns the end of a part of what is left of a budget of so many seconds; nothing for 0, no budget.
  std::optional<std::chrono::steady_clock::time_point> end_of(double part, double budget_seconds) const {
    using Clock = std::chrono::steady_clock;
    if (budget_seconds <= 0) return std::nullopt;
    const std::chrono::duration<double> share(left_of(budget_seconds) * part);
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(share);
  }

  double since_start() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = start_;
};

}  // namespace schaas::frontier
