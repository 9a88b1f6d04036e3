#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "compiler/support/cancellation.h"

namespace schaas::server {

/// Runs concurrent work of the same key once: the first caller works, the others wait for its result. When
/// the worker is cancelled (its client disconnected), a waiting caller takes over; a cancelled waiter leaves
/// alone. T is copyable. Thread-safe.
template <class T>
class SingleFlight {
 public:
  /// Runs `work` or joins an equal run; `joined` tells which.
  support::Result<T> run(const std::string& key, const support::Cancellation& cancellation,
                         const std::function<support::Result<T>()>& work, bool& joined) {
    for (;;) {
      const auto [flight, first] = join(key);
      joined = !first;
      if (first) return fly(key, *flight, work);
      std::unique_lock lock(mutex_);
      while (!flight->landed) {
        SCHAAS_RETURN_IF_ERROR(cancellation.check("waiting for an equal request"));
        landed_.wait_for(lock, std::chrono::milliseconds(20));  // a Cancellation cannot wake a waiting thread
      }
      if (flight->result && !was_cancelled(*flight->result)) return *flight->result;
    }
  }

 private:
  struct Flight {
    bool landed = false;
    std::optional<support::Result<T>> result;  // none: the worker threw
  };

  static bool was_cancelled(const support::Result<T>& result) {
    return !result.ok() && (result.error().code == "cancelled" || result.error().code == "deadline");
  }

  std::pair<std::shared_ptr<Flight>, bool> join(const std::string& key) {
    const std::lock_guard lock(mutex_);
    auto& flight = flights_[key];
    const bool first = flight == nullptr;
    if (first) flight = std::make_shared<Flight>();
    return {flight, first};
  }

  support::Result<T> fly(const std::string& key, Flight& flight,
                         const std::function<support::Result<T>()>& work) {
    struct Landing {  // also when `work` throws: no caller may wait for ever
      SingleFlight& self;
      const std::string& key;
      Flight& flight;
      ~Landing() {
        const std::lock_guard lock(self.mutex_);
        flight.landed = true;
        self.flights_.erase(key);
        self.landed_.notify_all();
      }
    };
    const Landing landing{*this, key, flight};
    support::Result<T> result = work();
    const std::lock_guard lock(mutex_);
    flight.result = result;
    return result;
  }

  std::mutex mutex_;
  std::condition_variable landed_;
  std::map<std::string, std::shared_ptr<Flight>> flights_;
};

}  // namespace schaas::server
