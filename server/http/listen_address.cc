#include "server/http/listen_address.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

// Addresses as texts, and Unix sockets as files. A socket file stays behind when its server dies. It is
// removed only after a connection to it failed, and only when it is a socket: a file of the name is the
// user's.
namespace schaas::server {
namespace {

using support::Diagnostic;
using support::Result;

Diagnostic wrong(const std::string& text, const std::string& why) {
  return support::invalid("listen", "cannot listen on `" + text + "`: " + why);
}

// Checks the path against the size of a socket address.
Result<ListenAddress> parse_unix(const std::string& text, const std::string& path) {
  if (path.empty() || path[0] != '/') return wrong(text, "expected an absolute path after `unix:`");
  constexpr std::size_t longest = sizeof(sockaddr_un{}.sun_path) - 1;
  if (path.size() > longest) {
    return wrong(text, "the path has " + std::to_string(path.size()) +
                           " bytes, a socket's may have at most " + std::to_string(longest));
  }
  ListenAddress address;
  address.is_unix = true;
  address.path = path;
  return address;
}

bool all_digits(const std::string& text) {
  return !text.empty() && text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Returns true when a server accepts connections at the socket.
bool answers(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  // EAGAIN: a server listens and its queue is full. A blocking call would wait for it.
  const bool connected =
      ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN;
  ::close(fd);
  return connected;
}

}  // namespace

bool ListenAddress::is_local() const {
  return is_unix || host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

std::string ListenAddress::text() const {
  return is_unix ? "unix:" + path : host + ":" + std::to_string(port);
}

// Reads both forms; an IPv6 host needs brackets, since its colons would hide the port.
Result<ListenAddress> parse_listen_address(const std::string& text) {
  if (text.starts_with("unix:")) return parse_unix(text, text.substr(5));
  const std::size_t colon = text.rfind(':');
  const std::string host = text.substr(0, colon == std::string::npos ? text.size() : colon);
  const std::string port = colon == std::string::npos ? "" : text.substr(colon + 1);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (host.empty() || !all_digits(port) || (host.find(':') != std::string::npos && !bracketed)) {
    return wrong(text, "expected `unix:/path/to/socket` or `host:port`, such as 127.0.0.1:8470");
  }
  ListenAddress address;
  address.host = host;
  address.port = std::stoi(port);
  if (address.port > 65535) return wrong(text, "ports go up to 65535");
  return address;
}

Result<void> check_socket(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return wrong("unix:" + path, "its folder cannot be written: " + std::string(std::strerror(errno)));
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || S_ISSOCK(status.st_mode)) return {};
  return wrong("unix:" + path, "there is a file of this name that is no socket");
}

Result<void> clear_stale_socket(const std::string& path) {
  SCHAAS_RETURN_IF_ERROR(check_socket(path));
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  if (answers(path)) {
    return support::unreachable("socket-in-use", "another server answers at `unix:" + path + "`");
  }
  if (::unlink(path.c_str()) != 0) {
    return wrong("unix:" + path,
                 std::string("cannot remove what a dead server left: ") + std::strerror(errno));
  }
  return {};
}

}  // namespace schaas::server
