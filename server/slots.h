#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "compiler/support/cancellation.h"

namespace schaas::server {

/// A fixed number of places; whoever finds none waits, and gives up when cancelled. Thread-safe.
class Slots {
 public:
  explicit Slots(int count) : free_(count) {}

  /// Holds a place until it goes out of scope.
  class Place {
   public:
    explicit Place(Slots& slots) : slots_(&slots) {}
    Place(Place&& other) noexcept : slots_(std::exchange(other.slots_, nullptr)) {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    Place& operator=(Place&&) = delete;
    ~Place() {
      if (slots_ != nullptr) slots_->give_back();
    }

   private:
    Slots* slots_;
  };

  support::Result<Place> take(const support::Cancellation& cancellation) {
    std::unique_lock lock(mutex_);
    while (free_ == 0) {
      SCHAAS_RETURN_IF_ERROR(cancellation.check("waiting for a free place"));
      changed_.wait_for(lock, std::chrono::milliseconds(20));  // a Cancellation cannot wake anybody
    }
    --free_;
    return Place(*this);
  }

 private:
  void give_back() {
    const std::lock_guard lock(mutex_);
    ++free_;
    changed_.notify_one();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  int free_;
};

}  // namespace schaas::server
