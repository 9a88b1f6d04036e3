#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

namespace schaas::server {

/// What one request has on its way to its client: a write waits for as long as the client does not read.
/// Written by the handler, watched by ActiveRequests.
class Transfer {
 public:
  /// Sends a message of a stream; false: nobody takes it any more.
  template <class Writer, class Message>
  bool send(Writer& writer, const Message& message) {
    since_ = now();
    const bool taken = writer.Write(message);
    since_ = 0;
    return taken;
  }
  /// How long the client has not taken what is sent.
  std::chrono::nanoseconds waited() const {
    const std::int64_t since = since_;
    return std::chrono::nanoseconds(since == 0 ? 0 : now() - since);
  }

 private:
  static std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
  std::atomic<std::int64_t> since_{0};  ///< nanoseconds of the steady clock; 0: nothing is being sent
};

}  // namespace schaas::server
