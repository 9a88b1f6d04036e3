#include "server/auth/signing_key.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "kernels_cache/file_system.h"

// The server's private key in a file. A new one is written to a file of its own, flushed, and linked under
// its name. Linking fails where the name exists, so two starts at a time cannot each have a key of their own.
// A key that others may read is refused, not mended: nobody knows who has read it.
namespace schaas::server {
namespace {

using support::Diagnostic;
using support::Result;
using support::SigningKey;

Diagnostic cannot(const char* doing, const std::string& path) {
  return support::invalid("signing-key", std::string("cannot ") + doing + " the signing key `" + path +
                                             "`: " + std::strerror(errno));
}

/// A new file, closed and removed by the destructor unless it was kept.
class NewFile {
 public:
  /// A name beside `path` that nobody has; a leftover of an earlier process is in nobody's way.
  explicit NewFile(const std::string& path)
      : path_(path + ".new-XXXXXX"), file_(::mkostemp(path_.data(), O_CLOEXEC)) {}
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (file_ < 0) return;
    ::close(file_);
    ::unlink(path_.c_str());
  }
  bool write(const std::string& text) {
    return file_ >= 0 && ::write(file_, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
           ::fsync(file_) == 0;
  }
  /// Links the file under `name`, for good; never replaces another.
  bool keep_as(const std::string& name) const {
    return ::link(path_.c_str(), name.c_str()) == 0 &&
           kernels_cache::flush_directory(std::filesystem::path(name).parent_path()).ok();
  }

 private:
  std::string path_;
  int file_;
};

/// Makes a key from the system's randomness and stores it under its name.
Result<SigningKey> make(const std::string& path) {
  std::array<char, SigningKey::seed_bytes> seed{};
  if (::getrandom(seed.data(), seed.size(), 0) != static_cast<ssize_t>(seed.size()))
    return cannot("make", path);
  const SigningKey key = SigningKey::from_seed({seed.data(), seed.size()});
  NewFile file(path);
  if (!file.write(key.pem()) || !file.keep_as(path)) return cannot("make", path);
  return key;
}

// Reads a key; none when the file does not exist.
Result<std::optional<SigningKey>> read(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) return std::optional<SigningKey>();
  if (file < 0) return cannot("read", path);
  struct stat status {};
  // Far more than a key in PEM has.
  std::array<char, 4096> text{};
  const bool known = ::fstat(file, &status) == 0;
  const ssize_t got = ::read(file, text.data(), text.size());
  ::close(file);
  if (!known || got < 0) return cannot("read", path);
  if ((status.st_mode & 077) != 0) {
    return support::noting(
        support::invalid("signing-key",
                         "others than its owner may read or write the signing key `" + path + "`"),
        "`chmod 600 " + path + "`; when somebody may have read it, remove it: a new one is made");
  }
  auto key = SigningKey::parse({text.data(), static_cast<std::size_t>(got)});
  if (key.ok()) return std::optional<SigningKey>(std::move(key).value());
  return support::noting(
      support::invalid("signing-key", "`" + path + "` is " + key.error().message),
      "remove it to have a new one made: kernels are compiled again, and clients told the new key");
}

}  // namespace

Result<SigningKey> open_signing_key(const std::string& path) {
  SCHAAS_ASSIGN_OR_RETURN(auto key, read(path));
  return key ? Result<SigningKey>(*std::move(key)) : make(path);
}

Result<void> check_signing_key(const std::string& path) {
  SCHAAS_ASSIGN_OR_RETURN(const auto key, read(path));
  // Without a key one must be possible to make.
  if (key || ::access(std::filesystem::path(path).parent_path().c_str(), W_OK | X_OK) == 0) return {};
  return cannot("make", path);
}

}  // namespace schaas::server
