#pragma once
#include <httplib.h>

#include <array>
#include <chrono>
#include <string>

namespace schaas::server {

/// A client's connection. The library bounds each read and write; here a whole request has a deadline and a
/// size, so that a client that sends a byte now and then holds no thread.
class HttpConnection final : public httplib::Stream {
 public:
  static constexpr std::chrono::seconds request_time{5};  ///< for a request and its answer
  static constexpr std::size_t request_bytes = std::size_t{64} << 10;

  /// Owns the socket.
  explicit HttpConnection(socket_t socket) : socket_(socket) {}
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;
  ~HttpConnection() override;

  /// Waits for the first byte of a request, whose deadline begins with it; false when none comes.
  bool await_request(std::chrono::milliseconds idle);
  /// Ends what is still read, from any thread; an answer under way is sent.
  void stop_reading();

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* to, std::size_t size) override;
  ssize_t write(const char* from, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  bool wait_for(short events) const;

  const socket_t socket_;
  std::chrono::steady_clock::time_point deadline_{};
  std::size_t received_ = 0;  ///< bytes of this request
  std::array<char, 4096> buffer_;
  std::size_t from_ = 0, to_ = 0;
};

}  // namespace schaas::server
