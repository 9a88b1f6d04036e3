#pragma once
#include <string>

#include "compiler/support/signature.h"

namespace schaas::server {

/// Reads the key at `path` (PEM, PKCS #8), or creates it with mode 0600 when the file does not exist. Errors:
/// invalid [signing-key] when it is no key, cannot be read or created, or others may read it.
support::Result<support::SigningKey> open_signing_key(const std::string& path);
/// Checks that the key could be opened; creates nothing. Errors: as above.
support::Result<void> check_signing_key(const std::string& path);

}  // namespace schaas::server
