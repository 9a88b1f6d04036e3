// Clients that begin messages and never end them: their memory is bounded, and their connections expire.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <map>
#include <thread>

#include "server/daemon/daemon.h"
#include "tests/service/http2_connection.h"
#include "tests/service/service_client.h"
#include "tests/support/temporary_directory.h"

namespace schaas {
namespace {

using test::Http2Connection;

/// Opens calls on one connection, each of which sends all of a message but its end.
class SlowSender {
 public:
  SlowSender(const std::string& address, std::uint32_t calls, std::int64_t bytes,
             std::chrono::seconds patience)
      : connection_(address, patience) {
    open_ = connection_.say_hello();
    for (std::uint32_t n = 0; n < calls && open_; ++n) {
      const std::uint32_t stream = 2 * n + 1;
      open_ = connection_.call(stream, "/schaas.v1.Scheduler/Schedule");
      left_[stream] = bytes - 1;
      window_.try_emplace(stream, initial_);
      send(stream, std::string(1, '\0') + Http2Connection::number(static_cast<std::size_t>(bytes), 4));
    }
  }
  /// Sends until the peer stops reading.
  void send_all() {
    while (open_ && !left_.empty()) {
      bool sent = false;
      for (auto& [stream, left] : left_) {
        const std::int64_t piece = std::min({left, window_[0], window_[stream], std::int64_t{16384}});
        if (piece <= 0) continue;
        sent = send(stream, std::string(static_cast<std::size_t>(piece), 'x')) || sent;
        left -= piece;
        std::this_thread::sleep_for(pause_);
      }
      std::erase_if(left_, [](const auto& one) { return one.second == 0; });
      if (!sent && !hear()) return;
    }
  }
  /// Returns true when the daemon ends the connection before the peer's timeout.
  bool is_left() {
    while (hear()) {
    }
    return !open_ || connection_.was_closed();
  }
  std::int64_t sent() const { return sent_; }

 private:
  bool send(std::uint32_t stream, const std::string& bytes) {
    open_ = open_ && connection_.send({Http2Connection::data, 0, stream, bytes});
    const auto count = static_cast<std::int64_t>(bytes.size());
    window_[0] -= count;
    window_[stream] -= count;
    sent_ += count;
    return open_;
  }
  // Reads one frame and answers it as the protocol requires; false when none came.
  bool hear() {
    constexpr unsigned char answer = 1;
    const auto frame = connection_.next();
    if (!frame) return false;
    if (frame->type == Http2Connection::window_update) {
      window_.try_emplace(frame->stream, initial_).first->second +=
          Http2Connection::number_in(frame->payload);
    } else if (frame->type == Http2Connection::reset) {
      left_.erase(frame->stream);
    } else if (frame->type == Http2Connection::ping && frame->flags != answer) {
      open_ = open_ && connection_.send({Http2Connection::ping, answer, 0, frame->payload});
    } else if (frame->type == Http2Connection::settings && frame->flags != answer) {
      open_ = open_ && connection_.send({Http2Connection::settings, answer, 0, ""});
      for (std::size_t at = 0; at + 6 <= frame->payload.size(); at += 6)
        take_setting(frame->payload.substr(at, 6));
    }
    return true;
  }
  void take_setting(const std::string& setting) {
    constexpr std::uint32_t initial_window = 4;
    if (Http2Connection::number_in(setting.substr(0, 2)) != initial_window) return;
    const std::int64_t value = Http2Connection::number_in(setting.substr(2));
    for (auto& [stream, window] : window_) window += stream == 0 ? 0 : value - initial_;
    initial_ = value;
  }

  // A pause between pieces, as on a network, so that the count is of what the daemon admits.
  static constexpr std::chrono::microseconds pause_{500};
  Http2Connection connection_;
  bool open_ = true;
  std::int64_t initial_ = 65535, sent_ = 0;  ///< bytes
  std::map<std::uint32_t, std::int64_t> left_, window_{{0, 65535}};
};

// Returns the resident memory of this process, daemon included.
std::int64_t resident() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0, pages = 0;
  file >> all >> pages;
  return pages * 4096;
}

class SlowSenders : public testing::Test {
 protected:
  void start(server::DaemonOptions options) {
    options.data_directory = directory_ / "data";
    options.drain = std::chrono::seconds(1);
    auto daemon = server::Daemon::start(options, server::silent_log());
    ASSERT_TRUE(daemon.ok()) << support::render(daemon.error());
    daemon_ = std::move(daemon).value();
  }
  std::string address() const { return daemon_->addresses().front(); }
  test_support::TemporaryDirectory directory_;
  std::unique_ptr<server::Daemon> daemon_;
};

TEST_F(SlowSenders, AreBoundedInMemoryAndBlockNobody) {
  constexpr std::int64_t mebibyte = 1 << 20, bytes = 15 * mebibyte, bound = 64 * mebibyte;
  constexpr std::uint32_t connections = 16, calls = 4;
  server::DaemonOptions options;
  options.connection_memory = bound;
  start(options);
  test::ServiceClient client(address());
  v1::ServerInfo info;
  ASSERT_EQ(client.call(&v1::Scheduler::Stub::Info, v1::InfoRequest(), info).status, grpc::StatusCode::OK);
  const std::int64_t before = resident();
  std::atomic<std::int64_t> most{0}, sent{0};
  std::atomic<std::uint32_t> ended{0};
  std::vector<std::thread> threads;
  for (std::uint32_t n = 0; n < connections; ++n) {
    threads.emplace_back([&] {
      SlowSender sender(address(), calls, bytes, std::chrono::seconds(2));
      sender.send_all();
      sent += sender.sent();
      ++ended;
      while (ended < connections) std::this_thread::sleep_for(std::chrono::milliseconds(10));  // all hold on
    });
  }
  int answered = 0;
  while (ended < connections) {
    most = std::max(most.load(), resident() - before);
    if (client.call(&v1::Scheduler::Stub::Info, v1::InfoRequest(), info).status == grpc::StatusCode::OK)
      ++answered;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  for (auto& thread : threads) thread.join();
  EXPECT_GT(sent, bound) << "nothing was tried";
  EXPECT_LT(most, 4 * bound) << "of " << connections * calls * bytes << " bytes that would be sent";
  EXPECT_GT(answered, 0);
  // Short of memory, gRPC closes connections between calls, of this client, too: the next call opens another.
  bool again = false;
  for (int n = 0; n < 40 && !again; ++n) {
    again = client.call(&v1::Scheduler::Stub::Info, v1::InfoRequest(), info).status == grpc::StatusCode::OK;
    if (!again) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_TRUE(again);
}

// No handler runs for an incomplete message: the age of its connection ends it.
TEST_F(SlowSenders, AreDisconnectedAtTheMaximumAge) {
  server::DaemonOptions options;
  options.max_request_time = std::chrono::seconds(1);
  options.write_timeout = std::chrono::milliseconds(200);
  start(options);
  SlowSender sender(address(), 1, 1000, std::chrono::seconds(30));
  sender.send_all();
  EXPECT_TRUE(sender.is_left());
  test::ServiceClient client(address());
  v1::ServerInfo info;
  EXPECT_EQ(client.call(&v1::Scheduler::Stub::Info, v1::InfoRequest(), info).status, grpc::StatusCode::OK);
}

}  // namespace
}  // namespace schaas
