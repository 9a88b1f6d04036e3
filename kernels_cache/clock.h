#pragma once
#include <chrono>
#include <memory>
#include <string>

namespace schaas::kernels_cache {

/// The stores' source of time (UTC). Thread-safe.
class Clock {
 public:
  using Time = std::chrono::sys_time<std::chrono::milliseconds>;
  virtual ~Clock() = default;
  virtual Time now() const = 0;
};

std::shared_ptr<const Clock> system_clock();
/// Returns a clock that always reads `time`, for tests.
std::shared_ptr<const Clock> fixed_clock(Clock::Time time);

/// Prints "2026-03-01T12:00:05.250Z": ISO 8601, sorts as text.
std::string print(Clock::Time time);

}  // namespace schaas::kernels_cache
