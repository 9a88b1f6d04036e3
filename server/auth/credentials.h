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

/// Contents of the files.
struct TlsTexts {
  std::string certificate, key, client_ca;
  bool operator==(const TlsTexts&) const = default;
};

/// Reads the files. Errors: invalid [tls] when one is missing, or others may read the key.
support::Result<TlsTexts> read_tls(const TlsFiles& files);
/// Checks that the texts are whole and fit together; `files` are named in errors. Errors: invalid [tls].
support::Result<void> check_texts(const TlsTexts& texts, const TlsFiles& files);
/// Checks that the files exist, parse and match, and that the certificate is valid now. Errors: invalid
/// [tls].
support::Result<void> check_tls(const TlsFiles& files);

/// Creates credentials for TLS 1.2 or 1.3. Changed files are read again within seconds, whatever they say
/// (certificate_copies.h), and apply to new connections.
std::shared_ptr<grpc::ServerCredentials> tls_credentials(const TlsFiles& files);

}  // namespace schaas::server
