#pragma once
#include <functional>
#include <optional>
#include <string>

#include "compiler/support/result.h"

namespace schaas::kernels_cache {

/// What a directory lies on.
struct FileSystem {
  unsigned long type = 0;  ///< its number (statfs(2): f_type)
  std::string mount;       ///< its name in /proc/self/mountinfo: "ext4", "fuse.sshfs"; "": not to be had
};
/// Nothing is known of a directory that is not there.
FileSystem file_system_of(const std::string& directory);
using FileSystemOf = std::function<FileSystem(const std::string& directory)>;

/// The name of a network file system; "" when it is none that is known. Those in user space (FUSE) have one
/// number, and are told apart by the names of their mounts: one with a name that is not known here is let
/// pass.
std::string network_file_system(const FileSystem& found);

/// SQLite's write-ahead log needs memory that all its users share, and locks that hold: no database belongs
/// on a file system of another machine. Errors: invalid [network-file-system] when `directory` lies on one;
/// [data-directory] when on one of the system's that keep no files (proc and the like).
support::Result<void> check_file_system(const std::string& directory,
                                        const FileSystemOf& look = file_system_of);

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
