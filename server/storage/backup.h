#pragma once
#include <cstdint>
#include <string>

#include "kernels_cache/job_store.h"
#include "server/storage/data_directory.h"
#include "server/storage/stores.h"

/// Backups of a data directory, made while it is served and restored while it is not.
namespace schaas::server {

struct BackedUp {
  std::string path;
  std::uint64_t binaries = 0, bytes = 0;
};

/// Writes DATA-DIR/backups/NAME: both databases, each as of one instant, the signing key, and hard links to
/// the binaries, which are never changed in place. A backup is whole or absent. An empty `name` stands for
/// the time. Errors: invalid [backup-name] (not 1 to 64 letters, digits, dots, dashes and underscores, or
/// taken); those of the stores; internal [storage].
support::Result<BackedUp> back_up(const DataDirectory& directory, const std::string& name,
                                  const Stores& stores, kernels_cache::JobStore& jobs);

/// Restores a backup after checking its databases. The previous content moves to DATA-DIR/before-restore,
/// replacing an older one. A process that ends meanwhile leaves the previous content, or a copy that is
/// whole, which recover() puts in place. The caller holds the directory's lock. Errors: invalid [restore] (no
/// backup), those of open_connection; internal [storage].
support::Result<void> restore(const DataDirectory& directory, const std::string& backup);

/// Finishes a restore and removes the partial copies that a process left that ended meanwhile. The caller
/// holds the directory's lock. Errors: internal [storage].
support::Result<void> recover(const DataDirectory& directory);

}  // namespace schaas::server
