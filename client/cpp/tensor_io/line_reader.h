#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "client/cpp/tensor_io/file_source.h"

namespace schaas::client {

/// The lines of a text file, through one large buffer. Line ends are \n or \r\n; the last line needs none.
class LineReader {
 public:
  using Progress = std::function<void(std::uint64_t done, std::uint64_t of)>;
  LineReader(FileSource source, Progress progress);

  /// The next line without its end, valid until the next call; false at the end of the file.
  /// Errors: those of FileSource; invalid [file-binary] for a line of more than 64 KiB.
  support::Result<bool> next(std::string_view& line) {
    const char* begin = buffer_.data() + from_;
    const auto* end = static_cast<const char*>(find_newline(begin, to_ - from_));
    if (end == nullptr) return next_slow(line);
    from_ += static_cast<std::size_t>(end - begin) + 1;
    ++number_;
    if (end != begin && end[-1] == '\r') --end;
    line = {begin, static_cast<std::size_t>(end - begin)};
    return true;
  }

  std::uint64_t number() const { return number_; }  ///< number of the line last returned, from 1
  const FileSource& source() const { return source_; }

  /// `d` pointing at `part` (a piece of the line last returned; empty: its end).
  support::Diagnostic at(support::Diagnostic d, std::string_view line, std::string_view part) const;

 private:
  static const void* find_newline(const char* begin, std::size_t size);
  support::Result<bool> next_slow(std::string_view& line);

  FileSource source_;
  Progress progress_;
  std::vector<char> buffer_;
  std::size_t from_ = 0, to_ = 0;
  bool ended_ = false;
  std::uint64_t number_ = 0;
};

/// `d` pointing at `part` of `line`, line `number` of `path`.
support::Diagnostic at_line(support::Diagnostic d, const std::string& path, std::uint64_t number,
                            std::string_view line, std::string_view part);

}  // namespace schaas::client
