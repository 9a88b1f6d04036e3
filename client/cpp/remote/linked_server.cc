#include "client/cpp/remote/server_source.h"

namespace schaas::client {

support::Result<std::shared_ptr<ServerSource>> open_server(const ConnectOptions& options) {
  SCHAAS_ASSIGN_OR_RETURN(Connection connection, Connection::open(options));
  return std::shared_ptr<ServerSource>(std::make_shared<Connection>(std::move(connection)));
}

}  // namespace schaas::client
