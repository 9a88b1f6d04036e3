#pragma once
#include <memory>
#include <string>

#include <grpcpp/security/server_credentials.h>

#include "compiler/support/result.h"

namespace schaas::server {

/// How the server proves who it is, and whom it believes. Paths of PEM files.
struct TlsFiles {
  std::string certificate;  ///< with those between it and its root; "": no TLS
  std::string key;
  std::string client_authority;  ///< clients must have a certificate from it; "": they need none
  bool wanted() const { return !certificate.empty() || !key.empty() || !client_authority.empty(); }
};

/// The files are there, in the form they should have, fit each other, and the certificate is valid now.
/// Errors: invalid [tls].
support::Result<void> check_tls(const TlsFiles& files);

/// TLS 1.2 or 1.3 with these files, which are read again when they change, within seconds: connections made
/// then see the new ones. Errors: those of check_tls.
support::Result<std::shared_ptr<grpc::ServerCredentials>> tls_credentials(const TlsFiles& files);

}  // namespace schaas::server
