#include "client/cpp/tensor_io/file_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <vector>

#include "client/cpp/tensor_io/compression.h"
#include "compiler/support/nearest_name.h"

// The content of files, decompressed where the first bytes tell a known compression. Regular files are read
// through one buffer; of pipes all bytes are read when they are opened, since their size is not known
// otherwise. read() serves bytes that were looked at first, then those of the decompressor or the buffer.
// Once the buffer of a plain file is empty, bytes go to the caller without a copy.
namespace schaas::client {

struct FileSource::State {
  ~State() {
    if (file >= 0) close(file);
  }

  std::string path;
  int file = -1;  ///< -1: all bytes are in `input`
  std::uint64_t bytes = 0, consumed = 0;
  std::vector<char> input;       ///< bytes of the file
  std::size_t from = 0, to = 0;  ///< unread part of `input`
  Compression compression = Compression::none;
  std::unique_ptr<Decompressor> decompressor;
  bool member_open = false;
  std::string ahead;  ///< content that was looked at
  std::size_t ahead_from = 0;

  support::Result<std::size_t> read_file(char* target, std::size_t size);
  support::Result<void> slurp();
  support::Result<bool> refill();
  support::Result<void> begin();
  support::Result<std::size_t> read_content(char* target, std::size_t size);
  support::Result<std::size_t> read_plain(char* target, std::size_t size);
  support::Result<std::size_t> read_compressed(char* target, std::size_t size);
};

namespace {

namespace fs = std::filesystem;
// Bytes per read of a compressed file, and of the look at the first bytes.
constexpr std::size_t input_bytes = std::size_t{1} << 18;

support::Diagnostic unreadable(const std::string& path) {
  return support::invalid("file-unreadable", path + " cannot be read: " + std::strerror(errno));
}

// Lists the folder of a file that is not there, for a name that is near. The number of names bounds the time.
support::Diagnostic missing(const std::string& path) {
  const fs::path wanted(path);
  const fs::path folder = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
  std::vector<std::string> names;
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return support::invalid("file-missing", "there is no file " + path + ": its folder does not exist");
  }
  for (fs::directory_iterator it(folder, error), end; !error && it != end && names.size() < 10000;
       it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  return support::invalid(
      "file-missing", "there is no file " + path + support::did_you_mean(wanted.filename().string(), names));
}

}  // namespace

FileSource::FileSource(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileSource::FileSource(FileSource&&) noexcept = default;
FileSource& FileSource::operator=(FileSource&&) noexcept = default;
FileSource::~FileSource() = default;

const std::string& FileSource::path() const { return state_->path; }
bool FileSource::compressed() const { return state_->compression != Compression::none; }
std::uint64_t FileSource::file_bytes() const { return state_->bytes; }
std::uint64_t FileSource::consumed_bytes() const { return state_->consumed; }
// An upper bound on the content's size: whatever a header promises beyond it is refused before memory is
// allocated.
std::uint64_t FileSource::content_limit() const {
  constexpr auto unknown = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t ratio = max_ratio(state_->compression);
  std::uint64_t limit = 0;
  return ratio == 0 || __builtin_mul_overflow(state_->bytes, ratio, &limit) ? unknown : limit;
}

support::Result<FileSource> FileSource::open(const std::string& path) {
  auto state = std::make_unique<State>();
  const bool standard = path == "-";
  state->path = standard ? "standard input" : path;
  state->file =
      standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (state->file < 0)
    return !standard && (errno == ENOENT || errno == ENOTDIR) ? missing(path) : unreadable(state->path);
  struct stat info {};
  if (fstat(state->file, &info) != 0) return unreadable(state->path);
  if (S_ISDIR(info.st_mode))
    return support::invalid("file-is-directory", state->path + " is a folder, not a file");
  if (S_ISREG(info.st_mode)) {
    posix_fadvise(state->file, 0, 0, POSIX_FADV_SEQUENTIAL);
    // Standard input may be a file that was read in part: sizes count from where it stands.
    const off_t begin = std::max<off_t>(lseek(state->file, 0, SEEK_CUR), 0);
    state->bytes = static_cast<std::uint64_t>(std::max<off_t>(info.st_size - begin, 0));
    state->input.resize(input_bytes);
    SCHAAS_RETURN_IF_ERROR(state->refill());
  } else {
    SCHAAS_RETURN_IF_ERROR(state->slurp());
  }
  if (state->to == 0) return support::invalid("file-empty", state->path + " is empty");
  SCHAAS_RETURN_IF_ERROR(state->begin());
  return FileSource(std::move(state));
}

FileSource FileSource::of_bytes(const std::string& path, std::string bytes) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->input.assign(bytes.begin(), bytes.end());
  // Nothing is on disk: the bytes count as consumed.
  state->bytes = state->consumed = state->to = bytes.size();
  return FileSource(std::move(state));
}

// Bytes that were looked at are served alone: one call never mixes them with a fresh read.
support::Result<std::size_t> FileSource::read(char* to, std::size_t size) {
  State& state = *state_;
  if (const std::size_t held = state.ahead.size() - state.ahead_from; held > 0) {
    const std::size_t count = std::min(size, held);
    std::memcpy(to, state.ahead.data() + state.ahead_from, count);
    state.ahead_from += count;
    return count;
  }
  return state.read_content(to, size);
}

// May return fewer bytes at the end of the content alone.
support::Result<std::string_view> FileSource::peek(std::size_t size) {
  State& state = *state_;
  state.ahead.erase(0, state.ahead_from);
  state.ahead_from = 0;
  while (state.ahead.size() < size) {
    const std::size_t held = state.ahead.size();
    state.ahead.resize(size);
    const auto got = state.read_content(state.ahead.data() + held, size - held);
    state.ahead.resize(held + (got.ok() ? *got : 0));
    if (!got.ok()) return got.error();
    if (*got == 0) break;
  }
  return std::string_view(state.ahead);
}

support::Result<std::string> FileSource::rest() {
  std::string all;
  // One byte more than the file has: a plain file then ends without a second allocation.
  for (std::size_t room = std::max<std::size_t>(state_->bytes + 1, input_bytes);; room = all.size()) {
    const std::size_t held = all.size();
    all.resize(held + room);
    std::size_t done = held;
    while (done < all.size()) {
      SCHAAS_ASSIGN_OR_RETURN(const std::size_t got, read(all.data() + done, all.size() - done));
      done += got;
      if (got > 0) continue;
      all.resize(done);
      return all;
    }
  }
}

support::Result<std::size_t> FileSource::State::read_file(char* target, std::size_t size) {
  while (file >= 0) {
    const ssize_t got = ::read(file, target, size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable(path);
    consumed += static_cast<std::uint64_t>(got);
    return static_cast<std::size_t>(got);
  }
  return std::size_t{0};
}

/// All of a pipe.
support::Result<void> FileSource::State::slurp() {
  while (true) {
    if (to == input.size()) input.resize(std::max(input_bytes, 2 * input.size()));
    SCHAAS_ASSIGN_OR_RETURN(const std::size_t got, read_file(input.data() + to, input.size() - to));
    if (got == 0) break;
    to += got;
  }
  bytes = to;
  close(file);
  file = -1;
  return {};
}

// Returns false at the end of the file.
support::Result<bool> FileSource::State::refill() {
  if (file < 0) return false;
  SCHAAS_ASSIGN_OR_RETURN(to, read_file(input.data(), input.size()));
  from = 0;
  return to > 0;
}

/// Tells the compression from the first bytes.
support::Result<void> FileSource::State::begin() {
  compression = compression_of_content(std::string_view(input.data(), to));
  if (compression == Compression::none) return {};
  SCHAAS_ASSIGN_OR_RETURN(decompressor, client::decompressor(compression, path));
  return {};
}

support::Result<std::size_t> FileSource::State::read_content(char* target, std::size_t size) {
  return decompressor ? read_compressed(target, size) : read_plain(target, size);
}

support::Result<std::size_t> FileSource::State::read_plain(char* target, std::size_t size) {
  if (from == to) return read_file(target, size);
  const std::size_t count = std::min(size, to - from);
  std::memcpy(target, input.data() + from, count);
  from += count;
  return count;
}

// Steps without output are repeated: headers and dictionaries take input alone. The end of the input inside a
// member is a file that was cut off.
support::Result<std::size_t> FileSource::State::read_compressed(char* target, std::size_t size) {
  while (true) {
    bool last = false;
    if (from == to) {
      SCHAAS_ASSIGN_OR_RETURN(const bool more, refill());
      last = !more;
    }
    if (last && !member_open) return std::size_t{0};
    SCHAAS_ASSIGN_OR_RETURN(
        const auto step,
        decompressor->step(std::string_view(input.data() + from, to - from), last, target, size));
    from += step.read;
    member_open = !step.ended;
    if (step.written > 0) return step.written;
    if (last && !step.ended) return damaged(compression, path, "it ends early (truncated?)");
  }
}

}  // namespace schaas::client
