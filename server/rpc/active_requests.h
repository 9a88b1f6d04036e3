#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

#include <grpcpp/server_context.h>

#include "compiler/support/cancellation.h"
#include "server/rpc/pending_write.h"

namespace schaas::server {

/// Registry of running requests. A watcher thread cancels those whose client disconnected, whose deadline
/// passed or whose server is being shut down by force. Thread-safe.
class ActiveRequests {
 public:
  /// One request; its pointees outlive the registration.
  struct Request {
    grpc::ServerContext* context;
    support::Cancellation* cancellation;
    const std::atomic<bool>*
        outlives_client;  ///< while true, a disconnecting client cancels nothing; may be null
    PendingWrite* pending_write;
  };

 private:
  using Steady = std::chrono::steady_clock;
  struct Entry {
    Request request;
    Steady::time_point began, next_look;
  };

 public:
  /// A client that reads nothing for longer than `write_timeout` is treated as disconnected.
  explicit ActiveRequests(std::chrono::nanoseconds write_timeout);
  ~ActiveRequests();
  ActiveRequests(const ActiveRequests&) = delete;
  ActiveRequests& operator=(const ActiveRequests&) = delete;

  /// Registers a request for as long as it lives.
  class Registration {
   public:
    Registration(ActiveRequests& all, const Request& request);
    ~Registration();
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;

   private:
    ActiveRequests& all_;
    std::list<Entry>::iterator entry_;
  };

  /// Returns the time since the last request ended; zero while one runs.
  Steady::duration idle() const;
  std::size_t count() const;
  /// Waits until no request runs, up to the given time.
  void wait_until_idle(std::chrono::steady_clock::duration longest);
  /// Cancels all requests, also those that outlive their clients.
  void cancel_all();

 private:
  void watch();
  void look_at(Entry& entry, Steady::time_point now) const;

  const std::chrono::nanoseconds write_timeout_;
  mutable std::mutex mutex_;
  std::condition_variable began_, ended_;
  bool asleep_ = false;  ///< the watcher sleeps until a request begins
  std::list<Entry> entries_;
  bool forced_ = false;
  Steady::time_point last_end_ = Steady::now();
  bool stopping_ = false;
  std::thread watcher_;
};

}  // namespace schaas::server
