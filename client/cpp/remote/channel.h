#pragma once
#include <memory>
#include <string>

#include <grpcpp/channel.h>

#include "compiler/support/result.h"
#include "schaas/connection.h"

/// Authentication of both ends of a connection.
namespace schaas::client {

/// ConnectOptions, completed from the environment, as they hold for one address: a Unix socket needs no TLS,
/// the private server no token.
struct Proof {
  std::string authority;  ///< PEM file of the certificate authority, or "system"; "": no TLS
  std::string certificate, key;
  std::string authorization;  ///< metadata of every call; "": none
  bool tls() const { return !authority.empty(); }
};

/// Returns the option, or where it is empty the value of the environment variable, "" without one.
std::string configured(const std::string& option, const char* variable);

/// `is_private`: the user's own server. Errors: invalid [token-file], [tls-file] (a certificate without its
/// key); unreachable [token-in-clear] (it would pass a network unencrypted).
support::Result<Proof> proof_for(const std::string& address, const ConnectOptions& options, bool is_private);

/// Does not connect yet, but looks up a name. Errors: invalid [tls-file] (cannot be read).
support::Result<std::shared_ptr<grpc::Channel>> open_channel(const std::string& address, const Proof& proof);

}  // namespace schaas::client
