#pragma once
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/support/result.h"

namespace schaas::kernels_cache {

/// The file system of a directory.
struct FileSystem {
  unsigned long type = 0;  ///< statfs(2), f_type
  std::string mount;       ///< type in /proc/self/mountinfo, "ext4" or "fuse.sshfs"; "": unknown
};
/// Identifies the file system of a directory; empty when the directory does not exist.
FileSystem file_system_of(const std::string& directory);
using FileSystemOf = std::function<FileSystem(const std::string& directory)>;

/// Returns the name of a network file system; "" when it is not a known one. FUSE file systems share one
/// number and are told apart by the types of their mounts; an unknown type is allowed.
std::string network_file_system(const FileSystem& found);

/// Returns `path`, which is absolute, or its nearest ancestor that exists.
std::string nearest_existing(const std::string& path);

/// Returns the errno that creating `path` and its missing parents would fail with; 0 when it would succeed.
/// Creates nothing. `path` does not exist yet.
int creation_error(const std::string& path);

/// Refuses file systems that cannot hold a database: SQLite's write-ahead log needs shared memory and working
/// locks. Errors: invalid [network-file-system] when `directory` lies on another machine's disk;
/// [data-directory] on a pseudo file system such as proc.
support::Result<void> check_file_system(const std::string& directory,
                                        const FileSystemOf& look = file_system_of);

/// Maps an errno to exhausted [disk-full] (also quotas and file size limits), [disk-read-only],
/// [disk-failing], [disk-denied], [disk-split] (EXDEV) or [descriptors]; none for other numbers. `doing`:
/// "write `/path`".
std::optional<support::Diagnostic> disk_error(const std::string& doing, int number);
/// Maps every errno: to internal [storage] with the system's message where disk_error returns none.
support::Diagnostic file_error(const std::string& doing, int number);

/// Makes a new name in a folder ("": the working directory) durable; a flush of the file alone does not.
support::Result<void> flush_directory(const std::string& directory);

/// Files that are open and must stay at their paths: what is written to a removed file is lost with the
/// process.
class FilesInPlace {
 public:
  explicit FilesInPlace(std::vector<std::string> paths);
  /// Errors: exhausted [file-replaced].
  support::Result<void> check(const std::string& doing) const;

 private:
  using Identity = std::pair<dev_t, ino_t>;
  static Identity identity_of(const std::string& path);
  std::vector<std::pair<std::string, Identity>> files_;
};

/// Checks that a successful fsync can be believed. On ext4 (Linux 6.18) fsync succeeds although the
/// transaction was aborted by a failing disk; the file system turns read-only only then. From that instant no
/// file can be created, so this creates `path`-flushed and removes it. Errors: exhausted [disk-read-only],
/// [disk-failing]; internal [storage] when the folder is gone. A full disk is not an error: the flushed data
/// is there.
support::Result<void> check_flushed(const std::string& path, const std::string& doing);

}  // namespace schaas::kernels_cache
