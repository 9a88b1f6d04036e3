// Requests to the HTTP server, as bytes on a connection, with the routes' patterns and queries behind them.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "server/http/http_server.h"
#include "tests/fuzz/target.h"

namespace schaas::fuzz {
namespace {

std::unique_ptr<server::HttpServer> open_server() {
  const auto answer = [](const server::HttpRequest& request) {
    return server::HttpResponse{
        200, "text/plain", request.parameter("q") + (request.matches.empty() ? "" : request.matches.back())};
  };
  auto opened = server::HttpServer::open("127.0.0.1:0", {{"/", answer}, {"/page/([0-9a-f]{1,64})", answer}},
                                         server::silent_log());
  require(opened.ok());
  return std::move(opened).value();
}

/// Returns a connection from this address of the loopback network; below 0, with errno, when there is none.
int connection_from(std::uint32_t number, const std::string& address) {
  sockaddr_in from{}, to{};
  from.sin_family = to.sin_family = AF_INET;
  from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + number % 0xffff);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  const int out = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  require(out >= 0);
  const int late = 1;  // the port is chosen by connect(2), which knows the other end
  setsockopt(out, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &late, sizeof late);
  require(bind(out, reinterpret_cast<const sockaddr*>(&from), sizeof from) == 0);
  if (connect(out, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return out;
  const int why = errno;
  close(out);
  errno = why;
  return -1;
}

// Ports of ended connections rest for a minute, and one address has less than 2^15 of them: connections come
// from one address of the loopback network after the other. The fuzzer's clock may interrupt connect(2), and
// other processes may have the ports of an address.
int connection_to(const std::string& address) {
  static std::uint32_t connections = 0;
  for (int tries = 0; tries < 100; ++tries) {
    const int out = connection_from(connections++ >> 13, address);
    if (out >= 0) return out;
    require(errno == EINTR || errno == EADDRNOTAVAIL);
    if (errno == EADDRNOTAVAIL) connections += 1U << 13;
  }
  require(false);
  return -1;
}

/// Sends what the server reads, and waits until it closes.
void ask(const std::string& address, const std::string& bytes) {
  const int connection = connection_to(address);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t now = send(connection, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (now <= 0) break;
    sent += static_cast<std::size_t>(now);
  }
  shutdown(connection, SHUT_WR);
  char answer[4096];
  while (recv(connection, answer, sizeof answer, 0) > 0) {
  }
  close(connection);
}

}  // namespace

void one(std::string_view bytes) {
  static const auto server = open_server();
  ask(server->address(), std::string(bytes));
  ask(server->address(), "GET /" + std::string(bytes) + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

}  // namespace schaas::fuzz
