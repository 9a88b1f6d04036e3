#include "server/http/http_connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

// A stream for the library over a socket, with one deadline and one size for a whole request. Without them
// four clients that send a byte now and then held every thread of the server. Bytes that arrived with an
// earlier request wait in the buffer and count for the next one.
namespace schaas::server {
namespace {

using Clock = std::chrono::steady_clock;

// Waits for the socket until a point in time, across interrupts by signals.
bool wait_until(socket_t socket, short events, Clock::time_point end) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd watched{socket, events, 0};
    const int ready = ::poll(&watched, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

}  // namespace

HttpConnection::~HttpConnection() {
  ::shutdown(socket_, SHUT_RDWR);
  ::close(socket_);
}

bool HttpConnection::await_request(std::chrono::milliseconds idle) {
  if (from_ == to_ && !wait_until(socket_, POLLIN, Clock::now() + idle)) return false;
  // The deadline covers reading the request and writing its answer.
  deadline_ = Clock::now() + request_time;
  received_ = to_ - from_;
  return true;
}

void HttpConnection::stop_reading() { ::shutdown(socket_, SHUT_RD); }

bool HttpConnection::wait_for(short events) const { return wait_until(socket_, events, deadline_); }

bool HttpConnection::is_readable() const { return from_ < to_ || wait_for(POLLIN); }
bool HttpConnection::is_writable() const { return wait_for(POLLOUT); }

// Reads from the buffer, which is filled by one receive when it is empty.
ssize_t HttpConnection::read(char* to, std::size_t size) {
  if (from_ == to_) {
    if (received_ >= request_bytes || Clock::now() >= deadline_ || !wait_for(POLLIN)) return -1;
    const ssize_t got = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
    if (got <= 0) return got;
    from_ = 0;
    to_ = static_cast<std::size_t>(got);
    received_ += to_;
  }
  const std::size_t count = std::min(size, to_ - from_);
  std::copy_n(buffer_.data() + from_, count, to);
  from_ += count;
  return static_cast<ssize_t>(count);
}

ssize_t HttpConnection::write(const char* from, std::size_t size) {
  if (Clock::now() >= deadline_ || !wait_for(POLLOUT)) return -1;
  return ::send(socket_, from, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// Nobody asks: clients are of this machine.
void HttpConnection::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}
void HttpConnection::get_local_ip_and_port(std::string& ip, int& port) const {
  get_remote_ip_and_port(ip, port);
}

}  // namespace schaas::server
