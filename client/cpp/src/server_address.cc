#include "server_address.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace schaas::client {
namespace {

support::Diagnostic bad_address(const std::string& address) {
  return support::invalid(
      "server-address", "`" + address + "` is no server address; expected unix:/absolute/path or host:port");
}

bool is_port(const std::string& text) {
  return !text.empty() && text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
         std::stoi(text) >= 1 && std::stoi(text) <= 65535;
}

}  // namespace

support::Result<void> check_socket_path(const std::string& path) {
  constexpr std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;
  if (path.size() <= longest) return {};
  return support::noting(
      support::invalid("socket-path", "the socket path " + path + " has " + std::to_string(path.size()) +
                                          " bytes; Unix sockets allow " + std::to_string(longest)),
      "set XDG_RUNTIME_DIR, or choose a shorter data directory");
}

support::Result<void> check_address(const std::string& address) {
  if (address.starts_with("unix:")) {
    const std::string path = address.substr(5);
    if (path.empty() || path[0] != '/') return bad_address(address);
    return check_socket_path(path);
  }
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0 || !is_port(address.substr(colon + 1)))
    return bad_address(address);
  const std::string host = address.substr(0, colon);
  if (host.find_first_of(" \t/") != std::string::npos) return bad_address(address);
  return {};
}

bool socket_answers(const std::string& path) {
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path) return false;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file < 0) return false;
  const bool answers = connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(file);
  return answers;
}

}  // namespace schaas::client
