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

/// Who waits for a piece of work: the smaller go first.
enum class Urgency { awaited, precomputed };

/// A fixed number of places and a line before them. Those who are awaited go before those who are not, each
/// in order of arrival; nobody is passed for longer than `longest_courtesy`. When too many wait, one more
/// that is awaited is refused. Thread-safe.
class Slots {
 public:
  static constexpr std::chrono::seconds longest_courtesy{30};

  /// `what` completes "32 ... wait already".
  Slots(int count, std::size_t longest_line, std::string what)
      : free_(count), count_(count), longest_line_(longest_line), what_(std::move(what)) {}

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

  /// Errors: exhausted [overloaded], at once; those of the cancellation.
  support::Result<Place> take(Urgency urgency, const support::Cancellation& cancellation) {
    std::unique_lock lock(mutex_);
    if (urgency == Urgency::awaited && free_ == 0 && line_.size() >= longest_line_) {
      return support::noting(
          support::exhausted("overloaded", "the server is busy: " + std::to_string(line_.size()) + " " +
                                               what_ + " wait already"),
          "what is stored is answered all the same; ask again in a moment");
    }
    Waiting me{urgency, ++arrivals_};
    line_.insert(me);
    const auto passed_enough = Clock::now() + longest_courtesy;
    while (free_ == 0 || *line_.begin() != me) {
      if (const auto state = cancellation.check("waiting for a free place"); !state.ok()) {
        line_.erase(me);
        changed_.notify_all();
        return state.error();
      }
      if (me.first == Urgency::precomputed && Clock::now() >= passed_enough) {
        line_.erase(me);
        me.first = Urgency::awaited;
        line_.insert(me);
      }
      changed_.wait_for(lock, std::chrono::milliseconds(20));  // a Cancellation cannot wake anybody
    }
    line_.erase(me);
    --free_;
    changed_.notify_all();
    return Place(*this);
  }

  std::size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return line_.size();
  }
  std::size_t taken() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(count_ - free_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Waiting = std::pair<Urgency, std::uint64_t>;  // the second: order of arrival

  void give_back() {
    const std::lock_guard lock(mutex_);
    ++free_;
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int free_;
  const int count_;
  const std::size_t longest_line_;
  const std::string what_;
  std::uint64_t arrivals_ = 0;
  std::set<Waiting> line_;
};

}  // namespace schaas::server
