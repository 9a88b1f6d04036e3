#pragma once
#include <cstdint>
#include <string>

#include "kernels_cache/job_store.h"
#include "server/data_directory.h"
#include "server/stores.h"

/// Copies of a data directory, made while it is served, and put back while it is not.
namespace schaas::server {

struct BackedUp {
  std::string path;
  std::uint64_t binaries = 0, bytes = 0;
};

/// Writes DATA-DIR/backups/NAME: both databases as they are at one instant each, the signing key, and hard
/// links to the binaries, which are never changed in place. Whole or not there at all. `name` empty: the
/// time. Errors: invalid [backup-name] (not 1 to 64 letters, digits, dots, dashes and underscores, or taken);
/// those of the stores; internal [storage].
support::Result<BackedUp> back_up(const DataDirectory& directory, const std::string& name,
                                  const Stores& stores, kernels_cache::JobStore& jobs);

/// Puts a backup in place of what the data directory holds, which goes to DATA-DIR/before-restore, in place
/// of an older one. The backup's databases are checked first. Nobody serves the directory: the caller holds
/// it. Errors: invalid [restore] (no backup), those of open_database; internal [storage].
support::Result<void> restore(const DataDirectory& directory, const std::string& backup);

}  // namespace schaas::server
