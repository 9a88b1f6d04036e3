#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "compiler/support/cancellation.h"

namespace schaas::server {

/// Scheduling class of work; smaller values go first.
enum class Priority { interactive, batch };

/// A bounded queue in front of a fixed number of permits. Interactive work goes before batch work, each in
/// order of arrival; batch work that waited for the starvation bound counts as interactive. Interactive work
/// is refused while `max_waiting` wait. Thread-safe.
class AdmissionQueue {
 public:
  /// `what` completes "32 ... are waiting".
  AdmissionQueue(int count, std::size_t max_waiting, std::string what,
                 std::chrono::milliseconds starvation_bound = std::chrono::seconds(30))
      : free_(count),
        count_(count),
        max_waiting_(max_waiting),
        what_(std::move(what)),
        starvation_bound_(starvation_bound) {}

  /// Holds a permit until it goes out of scope.
  class Permit {
   public:
    explicit Permit(AdmissionQueue& queue) : owner_(&queue) {}
    Permit(Permit&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
    Permit(const Permit&) = delete;
    Permit& operator=(const Permit&) = delete;
    Permit& operator=(Permit&&) = delete;
    ~Permit() {
      if (owner_ != nullptr) owner_->release();
    }

   private:
    AdmissionQueue* owner_;
  };

  /// Waits for a permit. Errors: exhausted [overloaded], at once; those of the cancellation.
  support::Result<Permit> acquire(Priority priority, const support::Cancellation& cancellation) {
    std::unique_lock lock(mutex_);
    if (priority == Priority::interactive && free_ == 0 && queue_.size() >= max_waiting_) {
      return support::noting(
          support::exhausted("overloaded", "the server is overloaded: " + std::to_string(queue_.size()) +
                                               " " + what_ + " are waiting"),
          "stored answers are still served; retry in a moment");
    }
    Waiting self{priority, ++arrivals_};
    queue_.insert(self);
    const auto starved = Clock::now() + starvation_bound_;
    while (free_ == 0 || *queue_.begin() != self) {
      if (const auto state = cancellation.check("waiting in the admission queue"); !state.ok()) {
        queue_.erase(self);
        changed_.notify_all();
        return state.error();
      }
      if (self.first == Priority::batch && Clock::now() >= starved) {
        queue_.erase(self);
        self.first = Priority::interactive;
        queue_.insert(self);
      }
      changed_.wait_for(lock, std::chrono::milliseconds(20));  // a Cancellation cannot wake a waiting thread
    }
    queue_.erase(self);
    --free_;
    changed_.notify_all();
    return Permit(*this);
  }

  std::size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return queue_.size();
  }
  std::size_t running() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(count_ - free_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Waiting = std::pair<Priority, std::uint64_t>;  // the second member is the order of arrival

  void release() {
    const std::lock_guard lock(mutex_);
    ++free_;
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int free_;
  const int count_;
  const std::size_t max_waiting_;
  const std::string what_;
  const std::chrono::milliseconds starvation_bound_;
  std::uint64_t arrivals_ = 0;
  std::set<Waiting> queue_;
};

}  // namespace schaas::server
