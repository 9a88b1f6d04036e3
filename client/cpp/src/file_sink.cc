#include "file_sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace schaas::client {

struct FileSink::State {
  ~State() {
    if (deflating) deflateEnd(&stream);
    if (file >= 0) ::close(file);
    if (!temporary.empty()) unlink(temporary.c_str());
  }

  std::string path, temporary;
  int file = -1;
  int error = 0;  ///< errno of the first failure
  bool gzip = false, deflating = false;
  z_stream stream{};
  std::string buffer;

  void write_file(const char* data, std::size_t size);
  void flush(bool finish);
};

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;

support::Diagnostic failure(const std::string& path, int error) {
  if (error == ENOSPC || error == EDQUOT) {
    return support::exhausted("disk-full", path + " cannot be written: " + std::strerror(error));
  }
  return support::invalid("file-unwritable", path + " cannot be written: " + std::strerror(error));
}

}  // namespace

FileSink::FileSink(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileSink::FileSink(FileSink&&) noexcept = default;
FileSink& FileSink::operator=(FileSink&&) noexcept = default;
FileSink::~FileSink() = default;

support::Result<FileSink> FileSink::create(const std::string& path) {
  auto state = std::make_unique<State>();
  state->path = path;
  struct stat info {};
  if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return failure(path, EISDIR);
  std::string temporary = path + ".XXXXXX";
  state->file = mkostemp(temporary.data(), O_CLOEXEC);
  if (state->file < 0) return failure(path, errno);
  state->temporary = temporary;
  state->gzip = path.ends_with(".gz");
  if (state->gzip) {
    constexpr int level = 6, gzip_window = 15 + 16, memory = 8;
    if (deflateInit2(&state->stream, level, Z_DEFLATED, gzip_window, memory, Z_DEFAULT_STRATEGY) != Z_OK) {
      return support::exhausted("memory", "there is no memory to compress " + path);
    }
    state->deflating = true;
  }
  state->buffer.reserve(buffer_bytes + 64);
  return FileSink(std::move(state));
}

void FileSink::State::write_file(const char* data, std::size_t size) {
  while (size > 0 && error == 0) {
    const ssize_t written = ::write(file, data, size);
    if (written < 0 && errno != EINTR) error = errno;
    if (written <= 0) continue;
    data += written;
    size -= static_cast<std::size_t>(written);
  }
}

void FileSink::State::flush(bool finish) {
  if (!gzip) {
    write_file(buffer.data(), buffer.size());
    buffer.clear();
    return;
  }
  char out[1 << 15];
  stream.next_in = reinterpret_cast<Bytef*>(buffer.data());
  stream.avail_in = static_cast<uInt>(buffer.size());
  do {
    stream.next_out = reinterpret_cast<Bytef*>(out);
    stream.avail_out = sizeof out;
    deflate(&stream, finish ? Z_FINISH : Z_NO_FLUSH);
    write_file(out, sizeof out - stream.avail_out);
  } while (stream.avail_out == 0);
  buffer.clear();
}

void FileSink::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, buffer_bytes);
    state_->buffer += part;
    bytes.remove_prefix(part.size());
    if (state_->buffer.size() >= buffer_bytes) state_->flush(false);
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

support::Result<void> FileSink::close() {
  State& state = *state_;
  state.flush(true);
  const mode_t mask = umask(0);
  umask(mask);
  if (state.error == 0 && fchmod(state.file, 0666 & ~mask) != 0)
    state.error = errno;  // mkostemp makes them private
  if (::close(std::exchange(state.file, -1)) != 0 && state.error == 0) state.error = errno;
  if (state.error == 0 && rename(state.temporary.c_str(), state.path.c_str()) != 0) state.error = errno;
  if (state.error != 0) return failure(state.path, state.error);
  state.temporary.clear();
  return {};
}

}  // namespace schaas::client
