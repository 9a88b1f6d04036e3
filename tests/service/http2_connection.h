#pragma once
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

namespace schaas::test {

/// A minimal HTTP/2 client over a Unix socket, which speaks only as much of the protocol as a test needs.
class Http2Connection {
 public:
  enum Type : unsigned char {
    data = 0,
    headers = 1,
    reset = 3,
    settings = 4,
    ping = 6,
    goaway = 7,
    window_update = 8
  };
  struct Frame {
    unsigned char type = 0, flags = 0;
    std::uint32_t stream = 0;  ///< 0: the whole connection
    std::string payload;
  };

  /// Connects to `address`, "unix:/path". Sends and reads time out after `patience`.
  explicit Http2Connection(const std::string& address,
                           std::chrono::seconds patience = std::chrono::minutes(1))
      : Http2Connection(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), address, patience) {}
  /// Connects a socket, which it closes in the end.
  Http2Connection(int socket, const std::string& address,
                  std::chrono::seconds patience = std::chrono::minutes(1))
      : socket_(socket) {
    const timeval time{patience.count(), 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    address.copy(to.sun_path, sizeof to.sun_path - 1, std::string("unix:").size());
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
      throw std::runtime_error("nobody listens on " + address);
  }
  ~Http2Connection() { ::close(socket_); }
  Http2Connection(const Http2Connection&) = delete;
  Http2Connection& operator=(const Http2Connection&) = delete;

  /// Sends bytes; false when the peer has closed or stopped reading.
  bool send(const std::string& bytes) {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  bool send(const Frame& frame) {
    std::string head = number(frame.payload.size(), 3);
    head += static_cast<char>(frame.type);
    head += static_cast<char>(frame.flags);
    return send(head + number(frame.stream, 4) + frame.payload);
  }
  bool say_hello() { return send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") && send(Frame{settings, 0, 0, ""}); }
  /// Begins a call of this method, "/schaas.v1.Scheduler/Info".
  bool call(std::uint32_t stream, const std::string& method) {
    constexpr unsigned char end_of_headers = 4;
    return send(Frame{headers, end_of_headers, stream,
                      field(":method", "POST") + field(":scheme", "http") + field(":path", method) +
                          field(":authority", "here") + field("content-type", "application/grpc") +
                          field("te", "trailers")});
  }

  /// Reads the next frame; none when the connection was closed or nothing came in time.
  std::optional<Frame> next() {
    const std::string head = read(9);
    if (head.size() < 9) return std::nullopt;
    return Frame{static_cast<unsigned char>(head[3]), static_cast<unsigned char>(head[4]),
                 number_in(head.substr(5)) & 0x7fffffffU, read(number_in(head.substr(0, 3)))};
  }
  /// Reads up to the next frame of this type; none when the connection was closed before.
  std::optional<Frame> next(Type type) {
    for (;;) {
      auto frame = next();
      if (!frame || frame->type == type) return frame;
    }
  }
  /// Returns true when the peer closes the connection, whatever it sends before; false when it is silent for
  /// long.
  bool is_closed() {
    while (!read(1).empty()) {
    }
    return was_closed();
  }
  /// Returns true when the last read reached the end of the stream.
  bool was_closed() const { return errno_ == 0 || errno_ == ECONNRESET; }

  /// Reads up to four bytes, most significant first.
  static std::uint32_t number_in(const std::string& bytes) {
    std::uint32_t out = 0;
    for (const char byte : bytes.substr(0, 4)) out = (out << 8) + static_cast<unsigned char>(byte);
    return out;
  }
  static std::string number(std::size_t value, int bytes) {
    std::string out;
    for (int b = bytes - 1; b >= 0; --b) out += static_cast<char>(value >> (8 * b) & 0xff);
    return out;
  }

 private:
  // Encodes a header field as a literal (RFC 7541, 6.2.2).
  static std::string field(const std::string& name, const std::string& value) {
    std::string out(1, '\0');
    out += static_cast<char>(name.size());
    out += name;
    out += static_cast<char>(value.size());
    return out + value;
  }
  /// Less at the end.
  std::string read(std::size_t bytes) {
    std::string out(bytes, '\0');
    std::size_t have = 0;
    while (have < bytes) {
      const ssize_t got = ::recv(socket_, out.data() + have, bytes - have, 0);
      errno_ = got < 0 ? errno : 0;
      if (got <= 0) break;
      have += static_cast<std::size_t>(got);
    }
    out.resize(have);
    return out;
  }
  int socket_;
  int errno_ = 0;
};

}  // namespace schaas::test
