#pragma once
#include <functional>
#include <optional>
#include <utility>

#include "compiler/space/recursion.h"
#include "compiler/support/cancellation.h"

namespace schaas::space {

/// Tells a deep recursion to unwind: it asks `stopped()` and returns whatever it has; the entry point then
/// returns `error()` instead of the answer and drops unfinished parts.
class Watch {
 public:
  /// `tick` is called every few hundred steps, some milliseconds apart.
  Watch(Recursion& recursion, const support::Cancellation& cancellation, const char* stage,
        std::function<void()> tick = {})
      : recursion_(recursion), cancellation_(cancellation), stage_(stage), tick_(std::move(tick)) {
    recursion.clear_overflow();
  }

  /// The same for another thread.
  Watch without_tick() const {
    Watch other = *this;
    other.tick_ = {};
    return other;
  }

  bool stopped() {
    if (error_) return true;
    if (recursion_.overflowed()) {
      stop_for_memory();
    } else if ((++steps_ & 255U) == 0) {
      if (auto asked = cancellation_.check(stage_); !asked.ok()) error_ = asked.error();
      if (tick_) tick_();
    }
    return error_.has_value();
  }
  /// Tells the bytes that the fold and the recursion hold now.
  void hold(std::size_t bytes) {
    if (!error_ && bytes > recursion_.options().max_bytes) stop_for_memory();
  }
  void stop(support::Diagnostic error) { error_ = std::move(error); }
  const support::Diagnostic& error() const { return *error_; }

 private:
  void stop_for_memory() {
    error_ = support::exhausted("space-memory",
                                std::string(stage_) + " takes more memory than the limit of the search (" +
                                    std::to_string(recursion_.options().max_bytes >> 20) + " MiB; " +
                                    std::to_string(recursion_.size()) + " states are known)");
  }

  const Recursion& recursion_;
  const support::Cancellation& cancellation_;
  const char* stage_;
  std::function<void()> tick_;
  unsigned steps_ = 0;
  std::optional<support::Diagnostic> error_;
};

}  // namespace schaas::space
