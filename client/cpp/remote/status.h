#pragma once
#include <grpcpp/grpcpp.h>

#include <string>

#include "compiler/support/diagnostic.h"

namespace schaas::client {

/// The diagnostic of a failed call: the server's own from the trailing metadata, else one made from the
/// status code.
support::Diagnostic diagnostic_of(const grpc::Status& status, const grpc::ClientContext& context,
                                  const std::string& address);
/// unreachable [server-down]
support::Diagnostic server_down(const std::string& address, const std::string& why);

}  // namespace schaas::client
