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

}  // namespace schaas::kernels_cache
