#pragma once
#include <string>

#include "compiler/support/signature.h"

namespace schaas::server {

/// The key in the file at `path` (PEM, PKCS #8); made, with mode 0600, when there is no such file. Errors:
/// invalid [signing-key]: it is something else, cannot be read or made, or others may read it.
support::Result<support::SigningKey> open_signing_key(const std::string& path);
/// Whether it could be opened. Makes nothing. Errors: as above.
support::Result<void> check_signing_key(const std::string& path);

}  // namespace schaas::server
