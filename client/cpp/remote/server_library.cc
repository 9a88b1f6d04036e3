#include "client/cpp/remote/server_library.h"

#include "client/cpp/remote/private_server.h"
#include "schaas/connection.h"

extern "C" __attribute__((visibility("default"))) void schaas_note_library_file(const char* path) {
  schaas::client::note_library_file(path);
}

extern "C" __attribute__((visibility("default"))) void schaas_open_server(
    const schaas::client::ConnectOptions& options, schaas::client::OpenedServer& opened) {
  auto connection = schaas::client::Connection::open(options);
  if (connection.ok()) {
    opened.source = std::make_shared<schaas::client::Connection>(std::move(connection).value());
  } else {
    opened.error = connection.error();
  }
}
