#include "server/daemon/connection_acceptor.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

// gRPC closes a connection without a word to whom it came from. A descriptor that is closed, or names another
// socket, tells it: the inode of a socket is its own.
namespace schaas::server {
namespace {

using support::Result;

/// Descriptors left to databases, compilers and downloads.
constexpr std::size_t other_descriptors = 256;
constexpr int retry_milliseconds = 50;
/// Connections that are taken from one socket before the others have their turn.
constexpr int turn = 16;
/// A look for closed connections takes at most this part of the time: refusals must be cheap.
constexpr int purge_share = 10;
constexpr std::chrono::seconds between_warnings{10};

std::size_t affordable(std::size_t connections) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return connections;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const std::size_t descriptors = limit.rlim_cur;
  return std::min(connections, std::max<std::size_t>(descriptors, other_descriptors + 8) - other_descriptors);
}

support::Diagnostic cannot_listen(const ListenAddress& address, const std::string& why) {
  return support::invalid("listen", "cannot listen on `" + address.text() + "`: " + why);
}

support::Diagnostic cannot_bind(const ListenAddress& address) {
  return cannot_listen(address, errno == EADDRINUSE || errno == EADDRNOTAVAIL
                                    ? "the address is in use, or not one of this machine"
                                    : std::strerror(errno));
}

// Connects can come only after listen(2): the mode is set before.
Result<std::vector<int>> unix_sockets(const ListenAddress& address, unsigned mode) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return cannot_bind(address);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  address.path.copy(name.sun_path, sizeof name.sun_path - 1);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 ||
      ::chmod(address.path.c_str(), mode) != 0) {
    const auto error = cannot_bind(address);
    ::close(fd);
    return error;
  }
  return std::vector<int>{fd};
}

int port_of(int fd) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size);
  return ntohs(name.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(name).sin6_port
                                          : reinterpret_cast<const sockaddr_in&>(name).sin_port);
}

int bound_to(const addrinfo& one) {
  const int fd = ::socket(one.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  const int yes = 1, no = 0;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (one.ai_family == AF_INET6) ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  if (::bind(fd, one.ai_addr, one.ai_addrlen) == 0) return fd;
  const int error = errno;
  ::close(fd);
  errno = error;
  return -1;
}

// Listens on every address of the name, all on one port.
Result<std::vector<int>> tcp_sockets(ListenAddress& address) {
  std::string host = address.host;
  if (host.starts_with("[")) host = host.substr(1, host.size() - 2);
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  if (const int error = ::getaddrinfo(host.c_str(), std::to_string(address.port).c_str(), &hints, &found))
    return cannot_listen(address, ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
  std::vector<int> sockets;
  for (addrinfo* one = found; one != nullptr; one = one->ai_next) {
    if (!sockets.empty()) {
      auto& port = one->ai_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(one->ai_addr)->sin6_port
                                              : reinterpret_cast<sockaddr_in*>(one->ai_addr)->sin_port;
      port = htons(static_cast<std::uint16_t>(address.port));
    }
    const int fd = bound_to(*one);
    if (fd < 0) continue;
    sockets.push_back(fd);
    address.port = port_of(fd);
  }
  if (sockets.empty()) return cannot_bind(address);
  return sockets;
}

// Returns the address without the port, or the user of a Unix socket.
std::string host_of(int fd, const sockaddr_storage& peer) {
  char text[INET6_ADDRSTRLEN] = "";
  if (peer.ss_family == AF_UNIX) {
    ucred user{};
    socklen_t size = sizeof user;
    ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &size);
    return "user " + std::to_string(user.uid);
  }
  ::getnameinfo(reinterpret_cast<const sockaddr*>(&peer), sizeof peer, text, sizeof text, nullptr, 0,
                NI_NUMERICHOST);
  return text;
}

ino_t inode_of(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 ? status.st_ino : 0;
}

}  // namespace

ConnectionAcceptor::ConnectionAcceptor(std::size_t max_connections, Log log)
    : max_connections_(affordable(max_connections)),
      log_(std::move(log)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

ConnectionAcceptor::~ConnectionAcceptor() {
  stop();
  if (wake_ >= 0) ::close(wake_);
}

Result<void> ConnectionAcceptor::listen(ListenAddress& address, unsigned socket_mode,
                                        grpc::ServerBuilder& builder,
                                        const std::shared_ptr<grpc::ServerCredentials>& credentials) {
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  SCHAAS_ASSIGN_OR_RETURN(const std::vector<int> fds,
                          address.is_unix ? unix_sockets(address, socket_mode) : tcp_sockets(address));
  for (const int fd : fds) {
    sockets_.push_back(
        {fd, address.path, builder.experimental().AddExternalConnectionAcceptor(Type::FROM_FD, credentials)});
    if (::listen(fd, SOMAXCONN) != 0) return cannot_bind(address);
  }
  return {};
}

void ConnectionAcceptor::start() {
  thread_ = std::thread([this] { run(); });
}

void ConnectionAcceptor::stop() {
  if (stopping_.exchange(true)) return;
  const std::uint64_t one = 1;
  if (wake_ >= 0) [[maybe_unused]]
    const auto written = ::write(wake_, &one, sizeof one);
  if (thread_.joinable()) thread_.join();
  for (const Socket& socket : sockets_) {
    ::close(socket.fd);
    if (!socket.path.empty()) ::unlink(socket.path.c_str());
  }
  sockets_.clear();
}

void ConnectionAcceptor::run() {
  std::vector<pollfd> waits;
  for (const Socket& socket : sockets_) waits.push_back({socket.fd, POLLIN, 0});
  waits.push_back({wake_, POLLIN, 0});
  bool full = false;
  while (!stopping_) {
    // While it is full only the end is waited for, and tried again after a moment.
    if (full) {
      ::poll(&waits.back(), 1, retry_milliseconds);
    } else {
      ::poll(waits.data(), waits.size(), -1);
    }
    full = false;
    for (Socket& socket : sockets_) full = !stopping_ && !accept_from(socket) ? true : full;
  }
}

// Accepts what waits, but not more than a turn. Returns false when no more can be taken for now.
bool ConnectionAcceptor::accept_from(Socket& socket) {
  for (int taken = 0; taken < turn; ++taken) {
    if (connections_.size() >= max_connections_) purge_closed();
    if (connections_.size() >= max_connections_)
      return say("all " + std::to_string(max_connections_) + " connections are in use: others wait"), false;
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    const int fd =
        ::accept4(socket.fd, reinterpret_cast<sockaddr*>(&peer), &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      take(socket, fd, host_of(fd, peer));
    } else if (errno == EAGAIN) {
      return true;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return say("cannot accept connections for now: " + std::string(std::strerror(errno))), false;
    }
  }
  return true;
}

void ConnectionAcceptor::take(Socket& socket, int fd, const std::string& host) {
  const std::size_t share = std::max<std::size_t>(1, max_connections_ / 2);
  if (connections_of(host) >= share) purge_closed();
  if (connections_of(host) >= share) {
    ::close(fd);
    return say(host + " has " + std::to_string(share) + " connections, half of all: further ones are closed");
  }
  connections_[fd] = {inode_of(fd), host};
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
  connection.listener_fd = socket.fd;
  connection.fd = fd;
  socket.server->HandleNewConnection(&connection);
}

void ConnectionAcceptor::purge_closed() {
  const auto start = std::chrono::steady_clock::now();
  if (start < purge_again_) return;
  std::erase_if(connections_, [](const auto& one) { return inode_of(one.first) != one.second.inode; });
  const auto end = std::chrono::steady_clock::now();
  purge_again_ = end + (purge_share - 1) * (end - start);
}

std::size_t ConnectionAcceptor::connections_of(const std::string& host) const {
  return static_cast<std::size_t>(std::count_if(connections_.begin(), connections_.end(),
                                                [&](const auto& one) { return one.second.host == host; }));
}

// Warns, not more often than a log can bear.
void ConnectionAcceptor::say(const std::string& sentence) {
  const auto now = std::chrono::steady_clock::now();
  if (now < quiet_until_) return;
  quiet_until_ = now + between_warnings;
  log_->warn("{}", sentence);
}

}  // namespace schaas::server
