#include <random>

#include "connection_state.h"
#include "patience.h"

namespace schaas::client {
namespace {

// What the server's log calls this request by.
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
  if (time != std::chrono::milliseconds::max()) context.set_deadline(std::chrono::system_clock::now() + time);
  if (!authorization.empty()) context.AddMetadata("authorization", authorization);
}

support::Result<void> Connection::State::call(std::chrono::milliseconds time, const Call& once) const {
  Patience patience(options.busy_limit, options.busy);
  for (;;) {
    grpc::ClientContext context;
    begin(context, time);
    const grpc::Status status = once(context);
    if (status.ok()) return {};
    if (!patience.wait_after(status, context)) return failure(status, context);
  }
}

}  // namespace schaas::client
