#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>

#include "compiler/support/result.h"

namespace schaas::support {

/// Asked by long stages every few thousand steps; safe from any thread. A default one never fires.
class Cancellation {
 public:
  using Clock = std::chrono::steady_clock;
  Cancellation() = default;
  explicit Cancellation(Clock::time_point deadline) : deadline_(deadline) {}
  /// Fires when `outer` does, which must outlive it, or at the deadline, if any.
  Cancellation(const Cancellation& outer, std::optional<Clock::time_point> deadline)
      : outer_(&outer), deadline_(deadline) {}

  /// The earlier of the deadlines of this and of `outer`, if any.
  std::optional<Clock::time_point> deadline() const {
    const auto outer = outer_ != nullptr ? outer_->deadline() : std::nullopt;
    return deadline_ && outer ? std::min(*deadline_, *outer) : deadline_ ? deadline_ : outer;
  }

  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  /// ok, or exhausted [cancelled] / [deadline] naming the stage that stopped.
  Result<void> check(const char* stage) const {
    if (outer_ != nullptr) SCHAAS_RETURN_IF_ERROR(outer_->check(stage));
    if (cancelled_.load(std::memory_order_relaxed)) {
      return exhausted("cancelled", std::string("cancelled during ") + stage);
    }
    if (deadline_ && Clock::now() >= *deadline_) {
      return exhausted("deadline", std::string("deadline reached during ") + stage);
    }
    return {};
  }

 private:
  const Cancellation* outer_ = nullptr;
  std::atomic<bool> cancelled_{false};
  std::optional<Clock::time_point> deadline_;
};

}  // namespace schaas::support
