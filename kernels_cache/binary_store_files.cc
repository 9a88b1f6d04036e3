#include "kernels_cache/binary_store_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <utility>

#include "kernels_cache/binary_errors.h"
#include "kernels_cache/file_system.h"

// One file for each binary, named by its digest. A put makes a file whole or not at all. It writes a
// temporary file beside the target, flushes it, renames it, and flushes the folder. Renaming is atomic, so
// two writers of the same bytes need no lock: either file is right. Readers check the digest of what they
// read, and so need no lock either.
// The time of modification is the last use, because file systems often do not keep the time of access.
// Folders by the first two digits keep each of them small.
namespace schaas::kernels_cache {
namespace {

namespace fs = std::filesystem;
using support::Diagnostic;
using support::Digest;
using support::Result;

constexpr std::string_view temporary_prefix = ".incoming-";

Diagnostic path_error(const std::string& doing, const fs::path& path, int error) {
  return kernels_cache::file_error(doing + " `" + path.string() + "`", error);
}

/// Owner of a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  /// Closes the descriptor. Some file systems report a failed write only here.
  int close() { return ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

Result<void> write_all(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return path_error("write", path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

// Writes a new file and flushes it to the disk. On failure the caller removes it.
Result<void> write_file(const fs::path& path, std::string_view bytes) {
  Descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.open()) return path_error("create", path, errno);
  SCHAAS_RETURN_IF_ERROR(write_all(fd.get(), bytes, path));
  if (::fsync(fd.get()) != 0) return path_error("flush", path, errno);
  if (fd.close() != 0) return path_error("close", path, errno);
  return {};
}

Result<std::string> read_file(const fs::path& path) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.open()) return path_error("open", path, errno);
  std::string bytes;
  char buffer[64 * 1024];
  for (;;) {
    const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return path_error("read", path, errno);
    if (got == 0) return bytes;
    bytes.append(buffer, static_cast<std::size_t>(got));
  }
}

class FileBinaryStore final : public BinaryStore {
 public:
  explicit FileBinaryStore(fs::path directory) : directory_(std::move(directory)) {}

  Result<Digest> put(std::string_view bytes) override {
    Digest digest = support::digest_of(bytes);
    const fs::path target = path_of(digest.sha256);
    std::error_code error;
    // Bytes that are there and whole are not written again; reading them notes the use.
    if (fs::file_size(target, error) == digest.bytes && !error && get(digest.sha256).ok()) return digest;
    SCHAAS_RETURN_IF_ERROR(make_shard(target.parent_path()));
    // Process and serial number keep writers apart; the prefix lets the next start find leftovers.
    const fs::path temporary =
        target.parent_path() / (std::string(temporary_prefix) + std::to_string(::getpid()) + "-" +
                                std::to_string(serial_.fetch_add(1)));
    if (auto written = write_file(temporary, bytes); !written.ok()) {
      ::unlink(temporary.c_str());
      return written.error();
    }
    if (auto moved = move_in(temporary, target, digest.bytes); !moved.ok()) {
      ::unlink(temporary.c_str());
      return moved.error();
    }
    SCHAAS_RETURN_IF_ERROR(flush_directory(target.parent_path()));
    return digest;
  }

  Result<std::string> get(const std::string& sha256) override {
    auto bytes = checked(sha256);
    // The size of a damaged file may have changed.
    if (!bytes.ok() && bytes.error().code == "damaged-binary") SCHAAS_RETURN_IF_ERROR(count_bytes());
    return bytes;
  }

  bool contains(const std::string& sha256) override {
    std::error_code error;
    return support::is_sha256_hex(sha256) && fs::is_regular_file(path_of(sha256), error);
  }

  Result<std::uint64_t> bytes() override {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

  Result<std::vector<Digest>> list() override {
    std::vector<Digest> out;
    std::error_code error;
    for (fs::recursive_directory_iterator at(directory_, error), end; !error && at != end;
         at.increment(error)) {
      const std::string name = at->path().filename();
      // Damaged binaries have the same names in another folder.
      const bool ours = support::is_sha256_hex(name) && at->path() == path_of(name);
      std::error_code gone;  // dropped by another thread meanwhile
      if (const auto size = ours ? fs::file_size(at->path(), gone) : 0; ours && !gone)
        out.push_back({name, size});
    }
    if (error) return path_error("list", directory_, error.value());
    std::sort(out.begin(), out.end(), [](const Digest& a, const Digest& b) { return a.sha256 < b.sha256; });
    return out;
  }

  /// A binary that was dropped since it was listed is left out.
  Result<std::vector<UsedBinary>> uses() override {
    SCHAAS_ASSIGN_OR_RETURN(const std::vector<Digest> all, list());
    std::vector<UsedBinary> out;
    for (const Digest& digest : all) {
      struct stat status {};
      if (::stat(path_of(digest.sha256).c_str(), &status) != 0) continue;
      out.push_back({digest, Clock::Time(std::chrono::seconds(status.st_mtime))});
    }
    return out;
  }

  Result<void> drop(const std::string& sha256) override {
    if (!support::is_sha256_hex(sha256)) return wrong_digest(sha256);
    const fs::path path = path_of(sha256);
    const std::lock_guard lock(mutex_);
    const std::uint64_t held = size_of(path);
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return path_error("remove", path, errno);
    subtract(held);
    return {};
  }

  Result<VerifyReport> verify() override {
    SCHAAS_ASSIGN_OR_RETURN(const std::vector<Digest> all, list());
    VerifyReport report;
    for (const Digest& digest : all) {
      const auto bytes = checked(digest.sha256);
      // Evicted since it was listed.
      if (!bytes.ok() && bytes.error().code == "unknown-binary") continue;
      ++report.checked;
      if (bytes.ok()) continue;
      if (bytes.error().code == "descriptors") return bytes.error();  // says nothing of the binary
      if (bytes.error().code != "damaged-binary") {                   // unreadable counts as damaged
        SCHAAS_RETURN_IF_ERROR(move_away(digest.sha256));
      }
      report.damaged.push_back(digest.sha256);
    }
    if (!report.damaged.empty()) SCHAAS_RETURN_IF_ERROR(count_bytes());
    return report;
  }

  // Removes the temporary files of a crash, and adds up the binaries.
  Result<void> sweep() {
    std::error_code error;
    std::vector<fs::path> leftovers;
    for (fs::recursive_directory_iterator at(directory_, error), end; !error && at != end;
         at.increment(error)) {
      if (at->path().filename().string().starts_with(temporary_prefix)) leftovers.push_back(at->path());
    }
    if (error) return path_error("list", directory_, error.value());
    for (const auto& path : leftovers) fs::remove(path, error);
    return count_bytes();
  }

 private:
  fs::path path_of(const std::string& sha256) const { return directory_ / sha256.substr(0, 2) / sha256; }

  // Records a use. A failure causes an early eviction at most.
  static void note_use(const fs::path& path) {
    struct stat status {};
    constexpr std::time_t minute = 60;
    if (::stat(path.c_str(), &status) == 0 && std::time(nullptr) - status.st_mtime >= minute)
      ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  }

  /// Reads a binary; a damaged one is moved away.
  Result<std::string> checked(const std::string& sha256) {
    if (!support::is_sha256_hex(sha256)) return wrong_digest(sha256);
    const fs::path path = path_of(sha256);
    std::error_code error;
    // A link, even one that leads nowhere, is there and fails to be read below.
    if (!fs::exists(fs::symlink_status(path, error))) return unknown_binary(sha256);
    SCHAAS_ASSIGN_OR_RETURN(std::string bytes, read_file(path));
    if (support::digest_of(bytes).sha256 == sha256) {
      note_use(path);
      return bytes;
    }
    SCHAAS_RETURN_IF_ERROR(move_away(sha256));
    return damaged_binary(sha256);
  }

  /// Returns the size of a file; 0 when there is none.
  static std::uint64_t size_of(const fs::path& path) {
    std::error_code error;
    const auto size = fs::file_size(path, error);
    return error ? 0 : size;
  }

  /// Takes the bytes of a file from the total; others may have changed its size.
  void subtract(std::uint64_t bytes) { bytes_ -= std::min(bytes, bytes_); }

  /// Gives a written file its name; one of that name is replaced.
  Result<void> move_in(const fs::path& from, const fs::path& to, std::uint64_t size) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t replaced = size_of(to);
    if (::rename(from.c_str(), to.c_str()) != 0) return path_error("rename to", to, errno);
    subtract(replaced);
    bytes_ += size;
    return {};
  }

  /// Makes the folder of a digest, and its name durable.
  Result<void> make_shard(const fs::path& shard) {
    if (::mkdir(shard.c_str(), 0700) == 0) return flush_directory(directory_);
    if (errno != EEXIST) return path_error("create", shard, errno);
    return {};
  }

  /// Keeps a damaged binary for inspection, out of the way of its successor.
  Result<void> move_away(const std::string& sha256) {
    const fs::path to = directory_ / "damaged";
    if (::mkdir(to.c_str(), 0700) != 0 && errno != EEXIST) return path_error("create", to, errno);
    if (::rename(path_of(sha256).c_str(), (to / sha256).c_str()) != 0 && errno != ENOENT) {
      return path_error("move away", path_of(sha256), errno);
    }
    return {};
  }

  /// Adds up the binaries anew.
  Result<void> count_bytes() {
    const std::lock_guard lock(mutex_);
    SCHAAS_ASSIGN_OR_RETURN(const std::vector<Digest> all, list());
    bytes_ = 0;
    for (const Digest& digest : all) bytes_ += digest.bytes;
    return {};
  }

  fs::path directory_;
  std::atomic<std::uint64_t> serial_{0};
  std::mutex mutex_;         // guards bytes_ and the names of files
  std::uint64_t bytes_ = 0;  // total of all binaries
};

}  // namespace

Result<std::unique_ptr<BinaryStore>> open_file_binary_store(const std::string& directory) {
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return support::invalid("data-directory", "cannot create `" + directory + "`: " + std::strerror(errno));
  }
  if (::access(directory.c_str(), R_OK | W_OK | X_OK) != 0) {
    return support::invalid("data-directory", "cannot use `" + directory + "`: " + std::strerror(errno));
  }
  auto store = std::make_unique<FileBinaryStore>(directory);
  SCHAAS_RETURN_IF_ERROR(store->sweep());
  return std::unique_ptr<BinaryStore>(std::move(store));
}

}  // namespace schaas::kernels_cache
