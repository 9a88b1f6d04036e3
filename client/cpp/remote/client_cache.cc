#include "client/cpp/remote/client_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <vector>

#include "client/cpp/platform/client_version.h"
#include "client/cpp/platform/write_all.h"
#include "client/cpp/remote/bundle_file.h"
#include "proto/kernel_abi.h"

// Files of answers and binaries, shared by all processes of a user without locks. A file is written under a
// temporary name and renamed, so readers see all of it or nothing. Binaries are named by their digest and
// compared with it at each use; answers carry a digest of their header. The time of last use is a file's
// modification time; eviction goes by it.
namespace schaas::client {
namespace {

namespace fs = std::filesystem;

// A larger file is not one of ours; it is not read into memory.
constexpr std::uint64_t largest_file = std::uint64_t{1} << 30;

/// The directory is writable by this user alone: its files are loaded as code.
bool is_own(const std::string& directory) {
  struct stat status {};
  return lstat(directory.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool make_own(const std::string& directory) {
  std::error_code error;
  fs::create_directories(fs::path(directory).parent_path(), error);
  (void)mkdir(directory.c_str(), 0700);
  return is_own(directory);
}

/// A file of ours, whole; it counts as used from now on.
std::optional<std::string> contents(const std::string& path) {
  // A symbolic link would lead to files of others.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return std::nullopt;
  struct stat status {};
  std::optional<std::string> bytes;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
      static_cast<std::uint64_t>(status.st_size) <= largest_file) {
    bytes.emplace(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t filled = 0;
    // A file that shrinks while it is read ends early and counts as absent.
    while (filled < bytes->size()) {
      const ssize_t more = ::read(file, bytes->data() + filled, bytes->size() - filled);
      if (more < 0 && errno == EINTR) continue;
      if (more <= 0) break;
      filled += static_cast<std::size_t>(more);
    }
    if (filled != bytes->size()) bytes.reset();
    (void)futimens(file, nullptr);
  }
  close(file);
  return bytes;
}

// Addresses are hashed: they hold slashes and colons.
std::string server_digits(const std::string& address) {
  return support::digest_of(address).sha256.substr(0, 16);
}

struct Kept {
  fs::path path;
  fs::file_time_type used;
  std::uint64_t bytes = 0;
};

std::vector<Kept> files_below(const std::string& directory) {
  std::vector<Kept> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    // Other processes remove files meanwhile: what cannot be looked at is passed over.
    if (!at->is_regular_file(gone)) continue;
    const Kept file{at->path(), at->last_write_time(gone), at->file_size(gone)};
    if (!gone) files.push_back(file);
  }
  return files;
}

}  // namespace

std::unique_ptr<ClientCache> ClientCache::open(const std::string& directory, std::uint64_t bytes) {
  if (bytes == 0 || directory.empty()) return nullptr;
  if (!make_own(directory) || !make_own(directory + "/answers") || !make_own(directory + "/binaries"))
    return nullptr;
  return std::unique_ptr<ClientCache>(new ClientCache(directory, bytes));
}

std::string ClientCache::answer_path(const std::string& address, const std::string& key) const {
  return directory_ + "/answers/" + server_digits(address) + "-" + key;
}
std::string ClientCache::binary_path(const std::string& sha256) const {
  return directory_ + "/binaries/" + sha256;
}

std::optional<std::string> ClientCache::binary(const support::Digest& digest) {
  if (!support::is_sha256_hex(digest.sha256)) return std::nullopt;
  const std::string path = binary_path(digest.sha256);
  auto bytes = contents(path);
  if (!bytes || support::digest_of(*bytes) == digest) return bytes;
  // A file that is not what its name says would be a miss for ever.
  unlink(path.c_str());
  return std::nullopt;
}

void ClientCache::keep_binary(const support::Digest& digest, std::string_view bytes) {
  if (support::is_sha256_hex(digest.sha256)) write(binary_path(digest.sha256), bytes);
}

bool ClientCache::has_binary(const support::Digest& digest) const {
  return support::is_sha256_hex(digest.sha256) && access(binary_path(digest.sha256).c_str(), R_OK) == 0;
}

std::optional<BundledAnswer> ClientCache::answer(const std::string& address, const std::string& key) {
  const std::string path = answer_path(address, key);
  const auto bytes = contents(path);
  if (!bytes) return std::nullopt;
  auto read = read_bundle_header(*bytes, path);
  // One answer, and nothing behind the header.
  if (read.ok() && read->end == bytes->size() && read->header.answers.size() == 1)
    return std::move(read->header.answers.front());
  unlink(path.c_str());
  return std::nullopt;
}

void ClientCache::keep_answer(const std::string& address, const std::string& key,
                              const BundledAnswer& answer) {
  const AnswerFile header{
      "schaas " + client_version(), SCHAAS_KERNEL_ABI_VERSION, address, utc_now(), {answer}};
  write(answer_path(address, key), bundle_text(header, {}));
}

bool ClientCache::knows(const std::string& address) const {
  std::error_code error;
  const std::string beginning = server_digits(address) + "-";
  for (fs::directory_iterator at(directory_ + "/answers", error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().filename().string().starts_with(beginning)) return true;
  }
  return false;
}

void ClientCache::write(const std::string& path, std::string_view bytes) {
  // One file must not take most of the cache.
  if (bytes.size() > limit_ / 4) return;
  static std::atomic<unsigned> number{0};
  // Processes and threads write under names of their own.
  const std::string temporary =
      path + ".new." + std::to_string(getpid()) + "." + std::to_string(number.fetch_add(1));
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return;
  const bool whole = write_all(file, bytes);
  if (close(file) != 0 || !whole || rename(temporary.c_str(), path.c_str()) != 0) {
    unlink(temporary.c_str());
    return;
  }
  // Counting all files takes a walk, so it is made at the first write and after a sixteenth of the limit.
  if (written_ += bytes.size(); !counted_.exchange(true) || written_ > limit_ / 16) evict();
}

void ClientCache::evict() {
  written_ = 0;
  std::vector<Kept> files = files_below(directory_);
  std::uint64_t bytes = 0;
  for (const Kept& file : files) bytes += file.bytes;
  if (bytes <= limit_) return;
  std::sort(files.begin(), files.end(), [](const Kept& a, const Kept& b) { return a.used < b.used; });
  for (const Kept& file : files) {
    // A quarter is freed, so that the next writes do not evict again.
    if (bytes <= limit_ / 4 * 3) break;
    if (unlink(file.path.c_str()) == 0) bytes -= file.bytes;
  }
}

}  // namespace schaas::client
