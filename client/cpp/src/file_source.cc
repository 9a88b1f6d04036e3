#include "file_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "compiler/support/nearest_name.h"

namespace schaas::client {

struct FileSource::State {
  ~State() {
    if (inflating) inflateEnd(&stream);
    if (file >= 0) close(file);
  }

  std::string path;
  int file = -1;
  std::uint64_t bytes = 0, consumed = 0;
  std::vector<char> input;       ///< compressed bytes, and the first bytes of a plain file
  std::size_t from = 0, to = 0;  ///< unread part of `input`
  bool gzip = false, inflating = false, member_open = false, at_end = false;
  z_stream stream{};

  support::Result<std::size_t> read_file(char* target, std::size_t size);
  support::Result<bool> refill();
  support::Result<std::size_t> read_plain(char* target, std::size_t size);
  support::Result<std::size_t> read_gzip(char* target, std::size_t size);
  support::Result<void> start_member();
};

namespace {

namespace fs = std::filesystem;
constexpr std::size_t input_bytes = std::size_t{1} << 18;

support::Diagnostic damaged(const std::string& path, const std::string& why) {
  return support::invalid("gzip-damaged", path + " is a damaged gzip file: " + why);
}

support::Diagnostic unreadable(const std::string& path) {
  return support::invalid("file-unreadable", path + " cannot be read: " + std::strerror(errno));
}

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
bool FileSource::compressed() const { return state_->gzip; }
std::uint64_t FileSource::file_bytes() const { return state_->bytes; }
std::uint64_t FileSource::consumed_bytes() const { return state_->consumed; }
std::uint64_t FileSource::content_limit() const {
  constexpr std::uint64_t best_ratio = 1032;
  return state_->gzip ? state_->bytes * best_ratio : state_->bytes;
}

support::Result<FileSource> FileSource::open(const std::string& path) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (state->file < 0) return errno == ENOENT || errno == ENOTDIR ? missing(path) : unreadable(path);
  struct stat info {};
  if (fstat(state->file, &info) != 0) return unreadable(path);
  if (S_ISDIR(info.st_mode)) return support::invalid("file-is-directory", path + " is a folder, not a file");
  if (!S_ISREG(info.st_mode)) return support::invalid("file-unreadable", path + " is not a regular file");
  if (info.st_size == 0) return support::invalid("file-empty", path + " is empty");
  posix_fadvise(state->file, 0, 0, POSIX_FADV_SEQUENTIAL);
  state->bytes = static_cast<std::uint64_t>(info.st_size);
  state->input.resize(input_bytes);
  SCHAAS_ASSIGN_OR_RETURN(const bool some, state->refill());
  state->gzip = some && state->to >= 2 && static_cast<unsigned char>(state->input[0]) == 0x1f &&
                static_cast<unsigned char>(state->input[1]) == 0x8b;
  return FileSource(std::move(state));
}

support::Result<std::size_t> FileSource::read(char* to, std::size_t size) {
  return state_->gzip ? state_->read_gzip(to, size) : state_->read_plain(to, size);
}

support::Result<std::size_t> FileSource::State::read_file(char* target, std::size_t size) {
  while (true) {
    const ssize_t got = ::read(file, target, size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable(path);
    consumed += static_cast<std::uint64_t>(got);
    return static_cast<std::size_t>(got);
  }
}

support::Result<bool> FileSource::State::refill() {
  SCHAAS_ASSIGN_OR_RETURN(to, read_file(input.data(), input.size()));
  from = 0;
  return to > 0;
}

support::Result<std::size_t> FileSource::State::read_plain(char* target, std::size_t size) {
  if (from == to) return read_file(target, size);
  const std::size_t count = std::min(size, to - from);
  std::memcpy(target, input.data() + from, count);
  from += count;
  return count;
}

support::Result<void> FileSource::State::start_member() {
  constexpr int gzip_only = 15 + 16;
  const int code = inflating ? inflateReset(&stream) : inflateInit2(&stream, gzip_only);
  if (code != Z_OK) return support::exhausted("memory", path + ": no memory to decompress it");
  inflating = true;
  member_open = true;
  return {};
}

support::Result<std::size_t> FileSource::State::read_gzip(char* target, std::size_t size) {
  std::size_t done = 0;
  while (done == 0 && !at_end) {
    if (from == to) {
      SCHAAS_ASSIGN_OR_RETURN(const bool more, refill());
      if (!more) {
        if (member_open) return damaged(path, "it ends early (truncated?)");
        at_end = true;
        break;
      }
    }
    if (!member_open) {
      SCHAAS_RETURN_IF_ERROR(start_member());
    }
    stream.next_in = reinterpret_cast<Bytef*>(input.data() + from);
    stream.avail_in = static_cast<uInt>(to - from);
    stream.next_out = reinterpret_cast<Bytef*>(target);
    stream.avail_out = static_cast<uInt>(std::min<std::size_t>(size, std::size_t{1} << 30));
    const uInt room = stream.avail_out;
    const int code = inflate(&stream, Z_NO_FLUSH);
    from = to - stream.avail_in;
    done = room - stream.avail_out;
    if (code == Z_STREAM_END) {
      member_open = false;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      return damaged(path, stream.msg != nullptr ? stream.msg : "its data are inconsistent");
    }
  }
  return done;
}

}  // namespace schaas::client
