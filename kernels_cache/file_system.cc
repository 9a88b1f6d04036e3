#include "kernels_cache/file_system.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

// Facts about disks on which durability rests. A database is refused where locks and shared memory do not
// work between its users: network file systems, told by the magic number of statfs(2). File systems in user
// space share one number, so their mounts are looked up by name. Lists are of known ones: an unknown file
// system is taken for a local disk.
// Errors of the system become three diagnostics that an operator can act on: full, read-only, failing.
namespace schaas::kernels_cache {
namespace {

struct Known {
  unsigned long type;
  const char* name;
};
// Magic numbers from linux/magic.h and the file systems' own sources.
constexpr std::array known = {
    Known{0x6969, "NFS"},        Known{0x517b, "SMB"},       Known{0xff534d42, "CIFS"},
    Known{0xfe534d42, "SMB"},    Known{0x5346414f, "AFS"},   Known{0x6b414653, "AFS"},
    Known{0x73757245, "Coda"},   Known{0x564c, "NCP"},       Known{0x00c36400, "Ceph"},
    Known{0x0bd00bd0, "Lustre"}, Known{0x47504653, "GPFS"},  Known{0x19830326, "BeeGFS"},
    Known{0x01161970, "GFS2"},   Known{0x7461636f, "OCFS2"}, Known{0xaad7aaea, "PanFS"},
    Known{0x01021997, "9P"},
};
constexpr std::array without_files = {
    Known{0x9fa0, "proc"},         Known{0x62656572, "sysfs"},    Known{0x27e0eb, "cgroup"},
    Known{0x63677270, "cgroup2"},  Known{0x64626720, "debugfs"},  Known{0x74726163, "tracefs"},
    Known{0x73636673, "security"}, Known{0x62656570, "configfs"},
};

constexpr unsigned long user_space = 0x65735546;
// Mount types are `fuse.NAME`. File systems of local disks (fuse-overlayfs, ntfs-3g, ...) are absent.
constexpr std::array<std::string_view, 32> in_user_space = {
    "afpfs",  "beegfs", "blobfuse", "blobfuse2", "ceph",      "ceph-fuse", "cephfs",  "curlftpfs",
    "cvmfs2", "davfs",  "davfs2",   "dfuse",     "gcsfuse",   "glusterfs", "goofys",  "gvfsd-fuse",
    "hdfs",   "httpfs", "ipfs",     "juicefs",   "lizardfs",  "mfs",       "moosefs", "mountpoint-s3",
    "nfs",    "rclone", "s3fs",     "s3ql",      "seaweedfs", "smbnetfs",  "sshfs",   "vmhgfs-fuse",
};

template <class Table>
std::string name_in(const Table& table, unsigned long type) {
  for (const Known& one : table) {
    // The type may come with its sign extended, so its low 32 bits are compared.
    if (one.type == (type & 0xffffffffUL)) return one.name;
  }
  return "";
}

// Returns the file system type of a device's mount. A line of mountinfo: `36 35 98:0 /root /mount/point
// rw,noatime master:1 - ext4 /dev/root rw`; the third word is the device.
std::string mount_of(dev_t device) {
  const std::string wanted = std::to_string(major(device)) + ":" + std::to_string(minor(device));
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string id, parent, number, type;
    words >> id >> parent >> number;
    const auto dash = line.find(" - ");
    if (number != wanted || dash == std::string::npos) continue;
    std::istringstream(line.substr(dash + 3)) >> type;
    return type;
  }
  return "";
}

}  // namespace

FileSystem file_system_of(const std::string& directory) {
  struct statfs found {};
  struct stat status {};
  if (::statfs(directory.c_str(), &found) != 0 || ::stat(directory.c_str(), &status) != 0) return {};
  return {static_cast<unsigned long>(found.f_type), mount_of(status.st_dev)};
}

std::string network_file_system(const FileSystem& found) {
  if ((found.type & 0xffffffffUL) != user_space) return name_in(known, found.type);
  // "fuse.sshfs" -> "sshfs"; without a point the whole text, since npos + 1 is 0.
  const std::string_view name = std::string_view(found.mount).substr(found.mount.find('.') + 1);
  const bool is_network = std::find(in_user_space.begin(), in_user_space.end(), name) != in_user_space.end();
  return is_network ? std::string(name) : "";
}

std::string nearest_existing(const std::string& path) {
  std::filesystem::path existing = path;
  struct stat status {};
  while (::stat(existing.c_str(), &status) != 0 && existing.has_relative_path())
    existing = existing.parent_path();
  return existing.string();
}

// Looks at the nearest folder that exists: parents below it would be made in it.
int creation_error(const std::string& path) {
  const std::string folder = nearest_existing(std::filesystem::path(path).parent_path());
  struct stat status {};
  if (::stat(folder.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) return ENOTDIR;
  return ::access(folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
}

support::Result<void> check_file_system(const std::string& directory, const FileSystemOf& look) {
  const FileSystem found = look(directory);
  if (const std::string system = name_in(without_files, found.type); !system.empty())
    return support::invalid("data-directory",
                            "`" + directory + "` keeps no files: it is the system's own (" + system + ")");
  const std::string name = network_file_system(found);
  if (name.empty()) return {};
  return support::noting(
      support::invalid("network-file-system", "`" + directory + "` lies on a network file system (" + name +
                                                  "), where a database would be damaged sooner or later"),
      "choose a directory on a local disk: --data-dir DIR, or set XDG_DATA_HOME");
}

std::optional<support::Diagnostic> disk_error(const std::string& doing, int number) {
  switch (number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return support::exhausted("disk-full", "cannot " + doing + ": the disk is full");
    case EROFS:
      return support::exhausted("disk-read-only", "cannot " + doing + ": the file system is read-only");
    case EIO:  // also the write during which a file system turns read-only
      return support::exhausted("disk-failing", "cannot " + doing + ": the disk fails");
    case EACCES:
    case EPERM:
      return support::noting(
          support::exhausted("disk-denied", "cannot " + doing + ": the system does not permit it"),
          "the data directory and all in it must belong to the server's user; see its security module's log");
    case EXDEV:
      return support::noting(
          support::exhausted("disk-split", "cannot " + doing + ": it lies on another file system"),
          "mount one file system for the whole data directory");
    case EMFILE:
    case ENFILE:
      return support::noting(
          support::exhausted("descriptors", "cannot " + doing + ": no file descriptors are left"),
          "retry in a moment; the operator may raise the limit (LimitNOFILE=, ulimit -n)");
    default:
      return std::nullopt;
  }
}

support::Diagnostic file_error(const std::string& doing, int number) {
  if (auto known = disk_error(doing, number)) return *std::move(known);
  return support::internal("storage", "cannot " + doing + ": " + std::strerror(number));
}

support::Result<void> flush_directory(const std::string& directory) {
  const int fd = ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int error = fd >= 0 && ::fsync(fd) == 0 ? 0 : errno;
  if (fd >= 0) ::close(fd);
  if (error != 0) return file_error("flush `" + directory + "`", error);
  return {};
}

FilesInPlace::FilesInPlace(std::vector<std::string> paths) {
  for (auto& path : paths) {
    const Identity identity = identity_of(path);
    files_.emplace_back(std::move(path), identity);
  }
}

FilesInPlace::Identity FilesInPlace::identity_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino};
}

support::Result<void> FilesInPlace::check(const std::string& doing) const {
  for (const auto& [path, identity] : files_) {
    if (identity_of(path) == identity) continue;
    return support::noting(
        support::exhausted("file-replaced", "cannot " + doing + ": `" + path +
                                                "` was removed or replaced while the server has it open"),
        "what is stored from now on would be lost: restart the server");
  }
  return {};
}

support::Result<void> check_flushed(const std::string& path, const std::string& doing) {
  const std::string beside = path + "-flushed";
  ::unlink(beside.c_str());  // left by a process killed between the two calls
  const int made = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made >= 0) {
    ::close(made);
    ::unlink(beside.c_str());
    return {};
  }
  const int number = errno;
  if (number == EMFILE || number == ENFILE || number == EINTR) return {};  // says nothing about the disk
  auto known = disk_error(doing, number);
  if (known && known->code == "disk-full") return {};
  return known ? *std::move(known)
               : support::internal("storage", "cannot " + doing + ": nothing can be made beside `" + path +
                                                  "` any more: " + std::strerror(number));
}

}  // namespace schaas::kernels_cache
