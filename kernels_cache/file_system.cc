#include "kernels_cache/file_system.h"

#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace schaas::kernels_cache {
namespace {

struct Known {
  unsigned long type;
  const char* name;
};
// Numbers of linux/magic.h and of the file systems' own sources.
constexpr std::array known = {
    Known{0x6969, "NFS"},        Known{0x517b, "SMB"},       Known{0xff534d42, "CIFS"},
    Known{0xfe534d42, "SMB"},    Known{0x5346414f, "AFS"},   Known{0x6b414653, "AFS"},
    Known{0x73757245, "Coda"},   Known{0x564c, "NCP"},       Known{0x00c36400, "Ceph"},
    Known{0x0bd00bd0, "Lustre"}, Known{0x47504653, "GPFS"},  Known{0x19830326, "BeeGFS"},
    Known{0x01161970, "GFS2"},   Known{0x7461636f, "OCFS2"}, Known{0xaad7aaea, "PanFS"},
};

}  // namespace

std::string network_file_system(unsigned long type) {
  for (const Known& one : known) {
    if (one.type == (type & 0xffffffffUL)) return one.name;
  }
  return "";
}

support::Result<void> check_file_system(const std::string& directory) {
  struct statfs found {};
  if (::statfs(directory.c_str(), &found) != 0) return {};  // whoever opens it will say why
  const std::string name = network_file_system(static_cast<unsigned long>(found.f_type));
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
    default:
      return std::nullopt;
  }
}

support::Diagnostic file_error(const std::string& doing, int number) {
  if (auto known = disk_error(doing, number)) return *std::move(known);
  return support::internal("storage", "cannot " + doing + ": " + std::strerror(number));
}

support::Result<void> check_flushed(const std::string& path, const std::string& doing) {
  const std::string beside = path + "-flushed";
  ::unlink(beside.c_str());  // of a process that was killed between the two
  const int made = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made >= 0) {
    ::close(made);
    ::unlink(beside.c_str());
    return {};
  }
  const int number = errno;
  if (number == EMFILE || number == ENFILE || number == EINTR) return {};  // no word about the disk
  auto known = disk_error(doing, number);
  if (known && known->code == "disk-full") return {};
  return known ? *std::move(known)
               : support::internal("storage", "cannot " + doing + ": nothing can be made beside `" + path +
                                                  "` any more: " + std::strerror(number));
}

}  // namespace schaas::kernels_cache
