#include <random>

#include "client/cpp/remote/connection_state.h"
#include "client/cpp/remote/retry_policy.h"

// The attempts of a call. Each has an id for the server's log, a deadline of its own, and the token; a busy
// server is asked again as the retry policy says. A stop from another thread cancels the attempt under way.
namespace schaas::client {
namespace {

// Makes the id of this request in the server's log.
std::string request_id() {
  static constexpr char digits[] = "0123456789abcdef";
  thread_local std::mt19937_64 random{std::random_device{}()};
  std::string id;
  for (std::uint64_t bits = random(); id.size() < 16; bits >>= 4) id += digits[bits & 15];
  return id;
}

}  // namespace

void Connection::State::begin(grpc::ClientContext& context, std::chrono::milliseconds time) const {
  context.AddMetadata("schaas-request-id", request_id());
  // A time that the clock cannot count to means no deadline; what is left of one is one, too.
  constexpr std::chrono::milliseconds endless = std::chrono::hours(24 * 365 * 100);
  if (time < endless) context.set_deadline(std::chrono::system_clock::now() + time);
  if (!authorization.empty()) context.AddMetadata("authorization", authorization);
}

support::Result<void> Connection::State::call(std::chrono::milliseconds time, const Call& once,
                                              const std::stop_token& stop) const {
  RetryPolicy retry(options.busy_limit, options.busy, stop);
  for (;;) {
    grpc::ClientContext context;
    begin(context, time);
    const std::stop_callback cancel(stop, [&] { context.TryCancel(); });
    const grpc::Status status = once(context);
    if (status.ok()) return {};
    if (stop.stop_requested()) return cancelled();
    if (!retry.wait_after(status, context))
      return stop.stop_requested() ? cancelled() : failure(status, context);
  }
}

}  // namespace schaas::client
