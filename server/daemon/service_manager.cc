#include "server/daemon/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <string_view>

// The notification protocol of systemd (sd_notify(3)) by hand: one datagram to the socket that NOTIFY_SOCKET
// names. Without the variable, outside of a service, nothing happens.
namespace schaas::server {

void tell_service_manager(const std::string& state) {
  const char* named = std::getenv("NOTIFY_SOCKET");
  const std::string_view path = named == nullptr ? "" : named;
  sockaddr_un address{};
  if (path.size() < 2 || path.size() > sizeof address.sun_path || (path[0] != '/' && path[0] != '@')) return;
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, path.size());
  if (path[0] == '@') address.sun_path[0] = '\0';  // an abstract socket
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  // A failure cannot be reported; the manager's own timeout detects it.
  [[maybe_unused]] const auto sent = ::sendto(fd, state.data(), state.size(), MSG_NOSIGNAL,
                                              reinterpret_cast<const sockaddr*>(&address), length);
  ::close(fd);
}

}  // namespace schaas::server
