#include "client/cpp/remote/retry_policy.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

// Exponential backoff with jitter for calls that a busy server refused. The server says how long to wait at
// first, as it knows its queue.
namespace schaas::client {
namespace {

constexpr double max_pause = 30;

// Returns the delay that the server asked for. It is a second when all threads were taken, for which gRPC has
// a status of its own. None: the call is not to be retried.
std::optional<double> seconds_said(const grpc::Status& status, const grpc::ClientContext& context) {
  const auto& metadata = context.GetServerTrailingMetadata();
  const auto said = metadata.find("schaas-retry-seconds");
  if (said != metadata.end()) {
    const double seconds =
        std::strtod(std::string(said->second.data(), said->second.size()).c_str(), nullptr);
    // The number comes from elsewhere and may be anything.
    return std::isfinite(seconds) ? std::clamp(seconds, 0.001, max_pause) : 1;
  }
  const bool no_thread = status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED &&
                         metadata.find("schaas-diagnostic-bin") == metadata.end() &&
                         status.error_message().find("hread") != std::string::npos;
  return no_thread ? std::optional(1.0) : std::nullopt;
}

}  // namespace

RetryPolicy::RetryPolicy(std::chrono::milliseconds longest, std::function<void(double seconds)> waiting,
                         std::stop_token stop)
    : end_(std::chrono::steady_clock::now() + longest),
      waiting_(std::move(waiting)),
      stop_(std::move(stop)) {}

bool RetryPolicy::wait_after(const grpc::Status& status, const grpc::ClientContext& context) {
  const auto said = seconds_said(status, context);
  return said && wait(*said);
}

bool RetryPolicy::wait(double first) {
  const double jitter = std::uniform_real_distribution(0.5, 1.5)(random_);
  // 2^16 times the first delay is far above the limit of 30 s.
  const double seconds = std::min(max_pause, std::ldexp(first, std::min(refusals_++, 16))) * jitter;
  const auto pause =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
  // A pause that would end after the limit is not begun.
  if (std::chrono::steady_clock::now() + pause > end_) return false;
  if (waiting_) waiting_(seconds);
  // Nothing notifies the condition: the time or the stop ends the wait.
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop_, pause, [] { return false; });
  return !stop_.stop_requested();
}

}  // namespace schaas::client
