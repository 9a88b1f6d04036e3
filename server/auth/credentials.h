#pragma once
#include <memory>
#include <string>

#include <grpcpp/security/server_credentials.h>

#include "compiler/support/result.h"

namespace schaas::server {

/// PEM files of the server's certificate and of the certificate authority of its clients.
struct TlsFiles {
  std::string certificate;  ///< certificate chain up to its root; "": no TLS
  std::string key;
  std::string
      client_ca;  ///< certificate authority that must have issued clients' certificates; "": none is required
  bool wanted() const { return !certificate.empty() || !key.empty() || !client_ca.empty(); }
};

/// Checks that the files exist, parse and match, and that the certificate is valid now. Errors: invalid
/// [tls].
support::Result<void> check_tls(const TlsFiles& files);

/// Creates credentials for TLS 1.2 or 1.3. Changed files are read again within seconds and apply to new
/// connections. Errors: those of check_tls.
support::Result<std::shared_ptr<grpc::ServerCredentials>> tls_credentials(const TlsFiles& files);

}  // namespace schaas::server
