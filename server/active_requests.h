#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

#include <grpcpp/server_context.h>

#include "compiler/support/cancellation.h"
#include "server/transfer.h"

namespace schaas::server {

/// The requests being worked on. A watching thread fires the Cancellation of each whose client has left,
/// whose deadline has passed or whose server is being shut down by force. Thread-safe.
class ActiveRequests {
 public:
  /// One request; what it points to outlives its registration.
  struct Request {
    grpc::ServerContext* context;
    support::Cancellation* cancellation;
    const std::atomic<bool>*
        outlives_client;  ///< while true, a client that leaves stops nothing; may be null
    Transfer* transfer;
  };

  /// A client that takes nothing of what is sent for longer than `transfer` is treated as one that has left.
  explicit ActiveRequests(std::chrono::nanoseconds transfer);
  ~ActiveRequests();
  ActiveRequests(const ActiveRequests&) = delete;
  ActiveRequests& operator=(const ActiveRequests&) = delete;

  /// Registered as long as it lives.
  class Registration {
   public:
    Registration(ActiveRequests& all, const Request& request);
    ~Registration();
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;

   private:
    ActiveRequests& all_;
    std::list<Request>::iterator entry_;
  };

  /// How long nothing has been asked; zero while a request is worked on.
  std::chrono::steady_clock::duration idle() const;
  std::size_t count() const;
  /// Waits until nothing is worked on, at most so long.
  void wait_until_idle(std::chrono::steady_clock::duration longest);
  /// From now on also requests that outlive their clients are cancelled.
  void cancel_all();

 private:
  void watch();

  const std::chrono::nanoseconds transfer_;
  mutable std::mutex mutex_;
  std::condition_variable began_, ended_;
  bool asleep_ = false;  ///< the watcher, until a request begins
  std::list<Request> entries_;
  bool forced_ = false;
  std::chrono::steady_clock::time_point last_end_ = std::chrono::steady_clock::now();
  bool stopping_ = false;
  std::thread watcher_;
};

}  // namespace schaas::server
