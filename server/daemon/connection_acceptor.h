#pragma once
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/server_builder.h>

#include "server/http/listen_address.h"
#include "server/telemetry/log.h"

namespace schaas::server {

/// Listens, and hands gRPC a bounded number of connections. gRPC 1.51 bounds none, and stops listening for
/// ever when the process runs out of file descriptors. At the bound, or without descriptors, connections wait
/// in the system's queue until others end. One host (on Unix sockets: one user) has at most half of them; its
/// further ones are closed at once.
class ConnectionAcceptor {
 public:
  /// `max_connections` is lowered to what the process's limit on descriptors leaves.
  ConnectionAcceptor(std::size_t max_connections, Log log);
  ~ConnectionAcceptor();
  ConnectionAcceptor(const ConnectionAcceptor&) = delete;
  ConnectionAcceptor& operator=(const ConnectionAcceptor&) = delete;

  /// Listens on the address, whose port becomes the real one; a Unix socket gets this mode. Connections go to
  /// the builder's server. Errors: invalid [listen].
  support::Result<void> listen(ListenAddress& address, unsigned socket_mode, grpc::ServerBuilder& builder,
                               const std::shared_ptr<grpc::ServerCredentials>& credentials);
  /// Begins to accept; the server runs.
  void start();
  /// Stops listening and removes Unix sockets. The server still runs.
  void stop();

 private:
  struct Socket {
    int fd;
    std::string path;  ///< path of a Unix socket; else ""
    std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> server;
  };
  struct Connection {
    ino_t inode;  ///< tells it from a later file of the same descriptor
    std::string host;
  };

  void run();
  bool accept_from(Socket& socket);
  void take(Socket& socket, int fd, const std::string& host);
  void purge_closed();
  std::size_t connections_of(const std::string& host) const;
  void say(const std::string& sentence);

  const std::size_t max_connections_;
  const Log log_;
  std::vector<Socket> sockets_;
  std::map<int, Connection> connections_;  ///< by descriptor; also some that have ended
  std::atomic<bool> stopping_{false};
  int wake_ = -1;  ///< readable once it stops
  std::chrono::steady_clock::time_point quiet_until_{};
  std::chrono::steady_clock::time_point purge_again_{};
  std::thread thread_;
};

}  // namespace schaas::server
