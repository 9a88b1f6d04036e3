#pragma once
#include <string>

#include "kernels_cache/database.h"

namespace schaas::kernels_cache {

/// Notes the public key that signs the kernels of a shared database, or compares it with the noted one.
/// Errors: invalid [signing-key-differs]; those of the database.
support::Result<void> agree_on_key(Database& database, const std::string& public_key);

}  // namespace schaas::kernels_cache
