#include "client/cpp/tensor_io/file_sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "client/cpp/platform/process_mutex.h"
#include "client/cpp/tensor_io/compression.h"
#include "schaas/tensor_files.h"

// Files that appear whole or not at all. Bytes go to a temporary file in the folder of the target, so that
// renaming it is atomic; pipes, devices, and descriptors are written as bytes come. Writing keeps the first
// error and goes on doing nothing; close() reports it. Interrupted programs remove their temporary files: a
// registry holds the names, and its lock makes creating and noting one step.
namespace schaas::client {

namespace {

/// The temporary files of all open sinks, for a program that ends at once.
class TemporaryFiles {
 public:
  static TemporaryFiles& all() {
    static auto* const one = new TemporaryFiles;  // never destroyed: sinks may outlive main()
    return *one;
  }
  /// A new file, whose name replaces the pattern `name`; -1: errno says why not.
  int create(std::string& name) {
    const std::lock_guard lock(mutex_);
    const int file = mkostemp(name.data(), O_CLOEXEC);
    if (file >= 0) names_.insert(name);
    return file;
  }
  void remove(const std::string& name) {
    const std::lock_guard lock(mutex_);
    unlink(name.c_str());
    names_.erase(name);
  }
  bool rename(const std::string& name, const std::string& target) {
    const std::lock_guard lock(mutex_);
    if (::rename(name.c_str(), target.c_str()) != 0) return false;
    names_.erase(name);
    return true;
  }
  // Removes all. The lock is kept: who creates or renames a file afterwards waits for the end of the program.
  void remove_at_end() {
    mutex_.lock();
    for (const std::string& name : names_) unlink(name.c_str());
  }

 private:
  ProcessMutex mutex_;
  std::set<std::string> names_;
};

}  // namespace

void remove_temporary_files() { TemporaryFiles::all().remove_at_end(); }

// Destroyed without close(), a sink leaves nothing behind.
struct FileSink::State {
  ~State() {
    if (file >= 0) ::close(file);
    if (!temporary.empty()) TemporaryFiles::all().remove(temporary);
  }

  std::string path;            ///< as it was given, for messages
  std::string target;          ///< end of the chain of links
  std::string temporary;       ///< empty: bytes go to the target at once
  std::optional<mode_t> mode;  ///< mode of the existing file
  int file = -1;
  int error = 0;  ///< errno of the first failure
  std::unique_ptr<Compressor> compressor;
  std::string buffer;

  void write_file(const std::string& data);
  void flush(bool finish);
  support::Result<void> open_temporary();
};

namespace {

namespace fs = std::filesystem;
// Bytes that are collected before they are written or compressed.
constexpr std::size_t sink_buffer_bytes = std::size_t{1} << 18;

support::Diagnostic failure(const std::string& path, int error) {
  const std::string shown = path == "-" ? "standard output" : path;
  if (error == ENOSPC || error == EDQUOT) {
    return support::exhausted("disk-full", shown + " cannot be written: " + std::strerror(error));
  }
  return support::invalid("file-unwritable", shown + " cannot be written: " + std::strerror(error));
}

// Returns the descriptor that a path names. It is duplicated, not opened, so it is written from where it
// stands.
std::optional<int> descriptor_of(const std::string& path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int number = -1;
    const char* const end = path.data() + path.size();
    if (std::from_chars(path.data() + folder.size(), end, number).ptr == end && number >= 0) return number;
  }
  return std::nullopt;
}

// Returns the end of a chain of links, whether or not a file is there. The limit is that of Linux; a longer
// chain fails when it is opened.
std::string without_links(const std::string& path) {
  constexpr int max_links = 40;
  fs::path at(path);
  std::error_code error;
  for (int link = 0; link < max_links && fs::is_symlink(at, error); ++link) {
    const fs::path next = fs::read_symlink(at, error);
    if (error) break;
    at = next.is_absolute() ? next : at.parent_path() / next;
  }
  return at.string();
}

bool is_stream(const struct stat& info) { return !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode); }

}  // namespace

FileSink::FileSink(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileSink::FileSink(FileSink&&) noexcept = default;
FileSink& FileSink::operator=(FileSink&&) noexcept = default;
FileSink::~FileSink() = default;

support::Result<FileSink> FileSink::create(const std::string& path) {
  auto state = std::make_unique<State>();
  state->path = path;
  if (const Compression wanted = compression_of_name(path); wanted != Compression::none) {
    SCHAAS_ASSIGN_OR_RETURN(state->compressor, compressor(wanted, path));
  }
  struct stat info {};
  if (const auto descriptor = descriptor_of(path)) {
    state->file = fcntl(*descriptor, F_DUPFD_CLOEXEC, 0);
    if (state->file < 0) return failure(path, errno);
  } else if (stat(path.c_str(), &info) == 0 && is_stream(info)) {
    state->file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (state->file < 0) return failure(path, errno);
  } else {
    SCHAAS_RETURN_IF_ERROR(state->open_temporary());
  }
  state->buffer.reserve(sink_buffer_bytes + 64);
  return FileSink(std::move(state));
}

// A rename replaces files whatever their own mode is, so a file that may not be written is refused here.
support::Result<void> FileSink::State::open_temporary() {
  target = without_links(path);
  struct stat info {};
  if (stat(target.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return failure(path, EISDIR);
    if (access(target.c_str(), W_OK) != 0) return failure(path, errno);
    mode = info.st_mode & 07777;
  }
  std::string name = target + ".XXXXXX";
  file = TemporaryFiles::all().create(name);
  if (file < 0) return failure(path, errno);
  temporary = name;
  return {};
}

support::Result<void> FileSink::check(const std::string& path) {
  struct stat info {};
  if (descriptor_of(path)) return {};
  if (stat(path.c_str(), &info) == 0 && is_stream(info))  // opening a pipe would be seen at its other end
    return access(path.c_str(), W_OK) == 0 ? support::Result<void>() : failure(path, errno);
  SCHAAS_ASSIGN_OR_RETURN(const FileSink sink, create(path));
  return {};
}

// Writes all bytes; a signal or a pipe may take fewer at once. After an error nothing more is written.
void FileSink::State::write_file(const std::string& all) {
  const char* data = all.data();
  for (std::size_t size = all.size(); size > 0 && error == 0;) {
    const ssize_t written = ::write(file, data, size);
    if (written < 0 && errno != EINTR) error = errno;
    if (written <= 0) continue;
    data += written;
    size -= static_cast<std::size_t>(written);
  }
}

void FileSink::State::flush(bool finish) {
  if (compressor) {
    std::string compressed;
    compressor->run(buffer, finish, compressed);
    write_file(compressed);
  } else {
    write_file(buffer);
  }
  buffer.clear();
}

// Long texts are cut, so that the buffer stays below twice its size.
void FileSink::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, sink_buffer_bytes);
    state_->buffer += part;
    bytes.remove_prefix(part.size());
    if (state_->buffer.size() >= sink_buffer_bytes) state_->flush(false);
  }
}

void FileSink::write(double number) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  write(std::string_view(text, static_cast<std::size_t>(end - text)));
}

void FileSink::write(std::int64_t number) {
  char text[24];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  write(std::string_view(text, static_cast<std::size_t>(end - text)));
}

// Renames last: only a file whose every byte was accepted takes the name.
support::Result<void> FileSink::close() {
  State& state = *state_;
  state.flush(true);
  const bool renames = !state.temporary.empty();
  if (renames && state.error == 0) {
    // The mask can be read by setting it alone.
    const mode_t mask = umask(0);
    umask(mask);
    if (fchmod(state.file, state.mode.value_or(0666 & ~mask)) != 0)
      state.error = errno;  // mkostemp makes them private
  }
  // Network file systems report failed writes when a file is closed.
  if (::close(std::exchange(state.file, -1)) != 0 && state.error == 0) state.error = errno;
  if (renames && state.error == 0 && !TemporaryFiles::all().rename(state.temporary, state.target))
    state.error = errno;
  if (state.error != 0) return failure(state.path, state.error);
  state.temporary.clear();
  return {};
}

}  // namespace schaas::client
