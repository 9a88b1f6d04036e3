#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

namespace schaas::server {

/// The pending write of one request. A write blocks while the client does not read. Written by the handler,
/// watched by ActiveRequests.
class PendingWrite {
 public:
  /// Sends a message of a stream; returns false when the client has gone.
  template <class Writer, class Message>
  bool send(Writer& writer, const Message& message) {
    since_ = now();
    const bool taken = writer.Write(message);
    since_ = 0;
    return taken;
  }
  /// Returns the duration of the pending write; zero without one.
  std::chrono::nanoseconds elapsed() const {
    const std::int64_t since = since_;
    return std::chrono::nanoseconds(since == 0 ? 0 : now() - since);
  }

 private:
  static std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
  std::atomic<std::int64_t> since_{0};  ///< nanoseconds of the steady clock; 0: no write is pending
};

}  // namespace schaas::server
