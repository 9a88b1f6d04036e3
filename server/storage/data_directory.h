#pragma once
#include <string>

#include "compiler/support/result.h"
#include "kernels_cache/file_system.h"

namespace schaas::server {

/// The daemon's directory (mode 0700), locked by one process at a time:
///     lock           flock'ed while in use; contains the process id
///     schaasd.sock   the default socket
///     schaasd.log    the log of a private daemon
///     schedules.db   schedule store
///     jobs.db        job store
///     binaries/      binary store
///     quarantine/    kernels that failed their trial
///     signing.key    private key for signing kernels
///     tls/           copies of certificate and key while it serves over TLS
class DataDirectory {
 public:
  /// Checks that the directory could be opened, ignoring the lock; changes nothing. Errors: invalid
  /// [data-directory] (cannot be created or written, owned by another user), [network-file-system].
  static support::Result<void> check(const std::string& path,
                                     const kernels_cache::FileSystemOf& look = kernels_cache::file_system_of);
  /// Creates the missing parts and takes the lock. Errors: those of `check`; unreachable
  /// [data-directory-in-use] (names the process that holds it).
  static support::Result<DataDirectory> open(
      const std::string& path, const kernels_cache::FileSystemOf& look = kernels_cache::file_system_of);

  DataDirectory(DataDirectory&& other) noexcept;
  DataDirectory(const DataDirectory&) = delete;
  DataDirectory& operator=(const DataDirectory&) = delete;
  DataDirectory& operator=(DataDirectory&&) = delete;
  ~DataDirectory();

  const std::string& path() const { return path_; }
  std::string database() const { return path_ + "/schedules.db"; }
  std::string jobs() const { return path_ + "/jobs.db"; }
  std::string binaries() const { return path_ + "/binaries"; }
  std::string tls() const { return path_ + "/tls"; }
  std::string quarantine() const { return path_ + "/quarantine"; }
  std::string signing_key() const { return signing_key_in(path_); }
  static std::string signing_key_in(const std::string& path) { return path + "/signing.key"; }
  static std::string socket_in(const std::string& path) { return path + "/schaasd.sock"; }
  static std::string log_in(const std::string& path) { return path + "/schaasd.log"; }

 private:
  DataDirectory(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_;
};

/// Returns the directory for this user's daemons: $XDG_DATA_HOME/schaas, else ~/.local/share/schaas. Errors:
/// invalid [data-directory] when neither is set.
support::Result<std::string> default_data_directory();

/// Returns the absolute path of `path`, without trailing slashes.
std::string absolute_directory(const std::string& path);

}  // namespace schaas::server
