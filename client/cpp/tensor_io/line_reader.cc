#include "client/cpp/tensor_io/line_reader.h"

#include <algorithm>
#include <cstring>

// Lines through one buffer of 1 MiB. A line is a view into it, so reading copies nothing but the begun line
// at the end of the buffer. Lines are limited to 64 KiB: a binary file is then recognised early, and a begun
// line always fits.
namespace schaas::client {
namespace {

constexpr std::size_t line_buffer_bytes = std::size_t{1} << 20;
constexpr std::size_t max_line = std::size_t{1} << 16;

}  // namespace

LineReader::LineReader(FileSource source, Progress progress)
    : source_(std::move(source)), progress_(std::move(progress)), buffer_(line_buffer_bytes) {}

const void* LineReader::find_newline(const char* begin, std::size_t size) {
  return std::memchr(begin, '\n', size);
}

// Moves the begun line to the front and reads on behind it.
support::Result<bool> LineReader::next_slow(std::string_view& line) {
  while (!ended_) {
    const std::size_t kept = to_ - from_;
    if (kept > max_line) {
      return support::invalid("file-binary",
                              source_.path() + ":" + std::to_string(number_ + 1) +
                                  " is longer than 65536 bytes: this is no text file of tensor entries");
    }
    std::memmove(buffer_.data(), buffer_.data() + from_, kept);
    from_ = 0;
    to_ = kept;
    SCHAAS_ASSIGN_OR_RETURN(const std::size_t got, source_.read(buffer_.data() + to_, buffer_.size() - to_));
    if (progress_) progress_(source_.consumed_bytes(), source_.file_bytes());
    ended_ = got == 0;
    to_ += got;
    // The new bytes alone are searched: the kept ones have no end of a line.
    if (got > 0 && find_newline(buffer_.data() + kept, got) != nullptr) return next(line);
  }
  if (const void* newline = find_newline(buffer_.data() + from_, to_ - from_); newline != nullptr)
    return next(line);
  // The last line needs no end.
  if (from_ == to_) return false;
  line = {buffer_.data() + from_, to_ - from_};
  if (line.back() == '\r') line.remove_suffix(1);
  from_ = to_;
  ++number_;
  return true;
}

support::Diagnostic LineReader::at(support::Diagnostic d, std::string_view line,
                                   std::string_view part) const {
  return at_line(std::move(d), source_.path(), number_, line, part);
}

// A part without data points behind the line.
support::Diagnostic at_line(support::Diagnostic d, const std::string& path, std::uint64_t number,
                            std::string_view line, std::string_view part) {
  const auto begin =
      static_cast<std::uint32_t>(part.data() == nullptr ? line.size() : part.data() - line.data());
  const auto end = static_cast<std::uint32_t>(begin + std::max<std::size_t>(part.size(), 1));
  d = support::at(std::move(d), path, std::string(line), {begin, end});
  d.first_line = number;
  return d;
}

}  // namespace schaas::client
