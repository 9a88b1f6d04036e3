#include "server/storage/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

// The daemon's folder is private, because binaries from it are loaded into other programs: its owner is the
// daemon's user and its mode 0700. It is held by flock, which the system releases with the process, so a
// crash leaves nothing to clean up. The number in the lock file is for messages only.
namespace schaas::server {
namespace {

namespace fs = std::filesystem;
using kernels_cache::FileSystemOf;
using support::Diagnostic;
using support::Result;

Diagnostic cannot(const std::string& doing, const std::string& path) {
  return support::invalid("data-directory", "cannot " + doing + " `" + path + "`: " + std::strerror(errno));
}

// Checks the owner and permissions of an existing directory.
Result<void> check_own(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return cannot("use the data directory", path);
  if (!S_ISDIR(status.st_mode)) {
    return support::invalid("data-directory", "the data directory `" + path + "` is not a directory");
  }
  if (status.st_uid != ::geteuid()) {
    return support::invalid("data-directory", "the data directory `" + path + "` belongs to another user");
  }
  if (::access(path.c_str(), R_OK | W_OK | X_OK) != 0) return cannot("write to the data directory", path);
  return {};
}

// Creates the directory and its parents; only the directory itself is private, so it alone is checked.
Result<void> make_private(const std::string& path) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return cannot("create the data directory", path);
  SCHAAS_RETURN_IF_ERROR(check_own(path));
  // Binaries from here are loaded into other programs: no other user may write.
  if (::chmod(path.c_str(), 0700) != 0) return cannot("restrict the data directory", path);
  return {};
}

// Reads the number that the holder wrote; it may be empty for a moment.
std::string read_owner(int lock) {
  char text[32] = {};
  const ssize_t got = ::pread(lock, text, sizeof text - 1, 0);
  std::string owner(text, got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!owner.empty() && owner.back() == '\n') owner.pop_back();
  return owner;
}

}  // namespace

Result<void> DataDirectory::check(const std::string& path, const FileSystemOf& look) {
  const std::string there = kernels_cache::nearest_existing(path);
  SCHAAS_RETURN_IF_ERROR(kernels_cache::check_file_system(there, look));
  if (there == path) return check_own(path);
  errno = kernels_cache::creation_error(path);
  return errno == 0 ? Result<void>() : cannot("create the data directory", path);
}

// Checks, makes and locks the folder; checks come first, so that a refusal changes nothing.
Result<DataDirectory> DataDirectory::open(const std::string& path, const FileSystemOf& look) {
  SCHAAS_RETURN_IF_ERROR(check(path, look));
  SCHAAS_RETURN_IF_ERROR(make_private(path));
  const std::string lock_path = path + "/lock";
  const int lock = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) return cannot("open", lock_path);
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    const std::string owner = read_owner(lock);
    ::close(lock);
    return support::noting(support::unreachable("data-directory-in-use",
                                                "the data directory `" + path +
                                                    "` is in use by another schaasd (process " + owner + ")"),
                           "connect to that one, or give this one another --data-dir");
  }
  const std::string me = std::to_string(::getpid()) + "\n";
  const bool written = ::ftruncate(lock, 0) == 0 && ::pwrite(lock, me.data(), me.size(), 0) > 0;
  if (!written) {
    const Diagnostic error = cannot("write", lock_path);
    ::close(lock);
    return error;
  }
  return DataDirectory(path, lock);
}

DataDirectory::DataDirectory(DataDirectory&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

DataDirectory::~DataDirectory() {
  if (lock_ >= 0) ::close(lock_);
}

Result<std::string> default_data_directory() {
  const char* data = std::getenv("XDG_DATA_HOME");
  if (data != nullptr && data[0] == '/') return std::string(data) + "/schaas";
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return std::string(home) + "/.local/share/schaas";
  return support::invalid("data-directory", "neither XDG_DATA_HOME nor HOME is set; give --data-dir");
}

std::string absolute_directory(const std::string& path) {
  std::string text = fs::absolute(path).lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

}  // namespace schaas::server
