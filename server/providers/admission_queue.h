#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "compiler/support/cancellation.h"

namespace schaas::server {

/// Scheduling class of work; smaller values go first. `first`: short work without which a client has nothing.
enum class Priority { first, interactive, batch };

/// A bounded queue in front of a fixed number of permits. Batch work goes last; when it has waited for the
/// starvation bound, it counts as interactive. Of other work that of the client that holds the fewest permits
/// goes first. A client's work of class `first` goes before its other work, then the work that arrived first.
/// There are as many permits again, for work of class `first` alone. A client that holds none gets one permit
/// beyond the number for its interactive work while a single other client holds them all. At most
/// `max_waiting` wait; then work that a client waits for is refused, of the client that has the most waiting.
/// Thread-safe.
class AdmissionQueue {
 public:
  /// `what` completes "32 ... are waiting".
  AdmissionQueue(int count, std::size_t max_waiting, std::string what,
                 std::chrono::milliseconds starvation_bound = std::chrono::seconds(30))
      : count_(static_cast<std::size_t>(count)),
        max_waiting_(max_waiting),
        what_(std::move(what)),
        starvation_bound_(starvation_bound) {}

  /// Holds a permit until it goes out of scope.
  class Permit {
   public:
    Permit(AdmissionQueue& queue, std::string client, bool first)
        : owner_(&queue), client_(std::move(client)), first_(first) {}
    Permit(Permit&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)),
          client_(std::move(other.client_)),
          first_(other.first_) {}
    Permit(const Permit&) = delete;
    Permit& operator=(const Permit&) = delete;
    Permit& operator=(Permit&&) = delete;
    ~Permit() {
      if (owner_ != nullptr) owner_->release(client_, first_);
    }

   private:
    AdmissionQueue* owner_;
    std::string client_;
    bool first_;
  };

  /// Waits for a permit. Errors: exhausted [overloaded], at once or when another client takes the slot in
  /// the full queue; those of the cancellation.
  support::Result<Permit> acquire(Priority priority, const std::string& client,
                                  const support::Cancellation& cancellation);

  std::size_t waiting() const;
  std::size_t waiting_of(Priority priority, const std::string& client) const;
  std::size_t running() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    Priority priority;
    std::string client;
    std::uint64_t arrival;
    bool refusable;  ///< it did not arrive as batch work
    bool displaced = false;
  };
  using Position = std::list<Waiting>::iterator;

  std::size_t in_queue() const;
  bool has_room(const Waiting& work) const;
  bool is_next(const Waiting& own) const;
  bool make_room(const std::string& client);
  std::size_t held_by(const std::string& client) const;
  support::Diagnostic overloaded() const;
  void release(const std::string& client, bool first);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  const std::size_t count_;
  const std::size_t max_waiting_;
  const std::string what_;
  const std::chrono::milliseconds starvation_bound_;
  std::uint64_t arrivals_ = 0;
  std::list<Waiting> queue_;                 ///< in order of arrival
  std::map<std::string, std::size_t> held_;  ///< permits by client; none of 0
  std::size_t running_ = 0;                  ///< permits of work but for class `first`
  std::size_t firsts_ = 0;                   ///< permits of class `first`
};

}  // namespace schaas::server
