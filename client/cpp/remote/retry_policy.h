#pragma once
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <random>
#include <stop_token>

namespace schaas::client {

/// Decides if and when a call that a busy server refused is made again. The first delay is the server's; each
/// further one doubles it, up to 30 s. Up to half of it is added or subtracted at random, so that clients do
/// not come back together.
class RetryPolicy {
 public:
  /// For at most `longest`; `waiting` (may be empty) is told each time how many seconds are waited; `stop`
  /// ends a pause at once.
  RetryPolicy(std::chrono::milliseconds longest, std::function<void(double seconds)> waiting,
              std::stop_token stop = {});

  /// Waits, and says true, when the call was refused for now and there is time left.
  bool wait_after(const grpc::Status& status, const grpc::ClientContext& context);
  /// The same when nothing was said: `seconds` the first time.
  bool wait(double seconds);

 private:
  const std::chrono::steady_clock::time_point end_;
  const std::function<void(double seconds)> waiting_;
  const std::stop_token stop_;
  int refusals_ = 0;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace schaas::client
