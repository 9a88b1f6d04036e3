#include "client/cpp/remote/server_address.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>

#include "schaas/connection.h"
#include "schaas/host.h"

// Addresses: a Unix socket or a host and a port. On this machine the operating system tells who listens: by
// the credentials of a Unix socket's peer, or by the table of TCP sockets. A connection to the loopback
// interface is trusted only where every listener on that port belongs to the user.
namespace schaas::client {
namespace {

support::Diagnostic bad_address(const std::string& address) {
  return support::invalid(
      "server-address", "`" + address + "` is no server address; expected unix:/absolute/path or host:port");
}

// At most five digits, so their value fits an int.
bool is_port(const std::string& text) {
  return !text.empty() && text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
         std::stoi(text) >= 1 && std::stoi(text) <= 65535;
}

// In one of the system's tables, no other user listens on the port. Counts the listeners.
bool only_listens(uid_t user, const char* table, int port, int& found) {
  std::ifstream lines(table);
  std::string line;
  // The first line is a heading. Fields: number, local and remote address in hexadecimal, state, then queues,
  // timers, and the owner.
  for (std::getline(lines, line); std::getline(lines, line);) {
    unsigned local = 0, state = 0, owner = 0;
    const bool read =
        std::sscanf(line.c_str(), "%*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*x:%*x %*x:%*x %*x %u", &local,
                    &state, &owner) == 3;
    constexpr unsigned listening = 0x0a;
    if (!read || state != listening || local != static_cast<unsigned>(port)) continue;
    if (owner != user) return false;
    ++found;
  }
  return true;
}

}  // namespace

// The kernel's limit without the terminating zero.
support::Result<void> check_socket_path(const std::string& path) {
  constexpr std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;
  if (path.size() <= longest) return {};
  return support::noting(
      support::invalid("socket-path", "the socket path " + path + " has " + std::to_string(path.size()) +
                                          " bytes; Unix sockets allow " + std::to_string(longest)),
      "set XDG_RUNTIME_DIR, or choose a shorter data directory");
}

namespace {

std::string configured_server(const ConnectOptions& options) {
  if (!options.server.empty()) return options.server;
  const char* server = std::getenv("SCHAAS_SERVER");
  return server == nullptr ? "" : server;
}

}  // namespace

bool means_private(const ConnectOptions& options) { return configured_server(options).empty(); }

std::string server_address(const ConnectOptions& options) {
  if (!means_private(options)) return configured_server(options);
  return "unix:" + private_socket_path(options.data_directory.empty() ? default_data_directory()
                                                                      : options.data_directory);
}

support::Result<void> check_address(const std::string& address) {
  if (address.starts_with("unix:")) {
    const std::string path = address.substr(5);
    if (path.empty() || path[0] != '/') return bad_address(address);
    return check_socket_path(path);
  }
  // The last colon separates the port: addresses of version 6 have others, in brackets.
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0 || !is_port(address.substr(colon + 1)))
    return bad_address(address);
  const std::string host = address.substr(0, colon);
  if (host.find_first_of(" \t/") != std::string::npos) return bad_address(address);
  return {};
}

std::vector<std::string> addresses_in(const std::string& list) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    out.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

namespace {

// Returns the host of "name:port" and "[::1]:port", without brackets.
std::string host_of(const std::string& address) {
  const std::string host = address.substr(0, address.rfind(':'));
  return host.starts_with("[") && host.ends_with("]") ? host.substr(1, host.size() - 2) : host;
}

// Returns the machines of a name as numbers, those of the family that the system prefers.
std::vector<std::string> numeric_hosts(const std::string& host) {
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_ADDRCONFIG;
  std::vector<std::string> out;
  if (getaddrinfo(host.c_str(), nullptr, &wanted, &found) != 0) return out;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    char number[NI_MAXHOST];
    if (one->ai_family == found->ai_family &&
        getnameinfo(one->ai_addr, one->ai_addrlen, number, sizeof number, nullptr, 0, NI_NUMERICHOST) == 0 &&
        std::find(out.begin(), out.end(), number) == out.end())
      out.emplace_back(number);
  }
  freeaddrinfo(found);
  return out;
}

}  // namespace

Target target_of(const std::string& address, std::size_t first) {
  if (address.starts_with("unix:")) return {address, ""};
  return target_among(address, numeric_hosts(host_of(address)), first);
}

Target target_among(const std::string& address, const std::vector<std::string>& hosts, std::size_t first) {
  if (hosts.size() < 2) return {address, ""};
  const bool is_v6 = hosts.front().find(':') != std::string::npos;
  std::string uri = is_v6 ? "ipv6:" : "ipv4:";
  for (std::size_t n = 0; n < hosts.size(); ++n) {
    const std::string& host = hosts[(first + n) % hosts.size()];
    // Brackets are escaped in a target.
    uri += (n == 0 ? "" : ",") + (is_v6 ? "%5B" + host + "%5D" : host) + address.substr(address.rfind(':'));
  }
  return {uri, host_of(address)};
}

std::optional<uid_t> listener_of(const std::string& path) {
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path) return std::nullopt;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file < 0) return std::nullopt;
  ucred peer{};
  socklen_t bytes = sizeof peer;
  // SO_PEERCRED names the user who called listen(), as the kernel noted it.
  const bool answers = connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                       getsockopt(file, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0;
  close(file);
  return answers ? std::optional(peer.uid) : std::nullopt;
}

bool is_on_this_machine(const std::string& address) {
  if (address.starts_with("unix:")) return true;
  const std::string host = address.substr(0, address.rfind(':'));
  return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

bool answers_as(const std::string& address, uid_t user) {
  if (!is_on_this_machine(address)) return false;
  if (address.starts_with("unix:")) return listener_of(address.substr(5)) == user;
  // check_address() has accepted the port.
  const int port = std::stoi(address.substr(address.rfind(':') + 1));
  int found = 0;
  const bool only_theirs =
      only_listens(user, "/proc/net/tcp", port, found) && only_listens(user, "/proc/net/tcp6", port, found);
  return only_theirs && found > 0;
}

}  // namespace schaas::client
