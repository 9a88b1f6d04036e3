#pragma once
#include <optional>
#include <string>

#include "compiler/support/result.h"

namespace schaas::kernels_cache {

/// The name of a network file system by its number (statfs(2): f_type); "" when it is none that is known.
std::string network_file_system(unsigned long type);

/// SQLite's write-ahead log needs memory that all its users share, and locks that hold: no database belongs
/// on a file system of another machine. Errors: invalid [network-file-system] when `directory` lies on one.
support::Result<void> check_file_system(const std::string& directory);

/// The error that a number of the system's (errno) is: exhausted [disk-full], also of quotas and limits of
/// file sizes, [disk-read-only] or [disk-failing]; nothing of other numbers. `doing`: "write `/path`".
std::optional<support::Diagnostic> disk_error(const std::string& doing, int number);
/// The same of every number: internal [storage] with the system's own words for what is no disk_error.
support::Diagnostic file_error(const std::string& doing, int number);

/// What a flush (fsync) that succeeded is worth: ext4 (Linux 6.18) lets one succeed whose transaction it gave
/// up because the disk fails, and turns read-only only then. No new file can be made from that instant on, so
/// one is made beside `path`, and removed: `path`-flushed. Errors: exhausted [disk-read-only],
/// [disk-failing]; internal [storage], when the folder is gone. A full disk is none: what was flushed is
/// there.
support::Result<void> check_flushed(const std::string& path, const std::string& doing);

}  // namespace schaas::kernels_cache
