#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "compiler/support/result.h"

namespace schaas::client {

/// The bytes of a file, decompressed when its content is gzip, bzip2 or xz (one or more members; the name
/// does not matter). Pipes and devices are read to their end when they are opened.
class FileSource {
 public:
  /// "-" is standard input. Errors: invalid [file-missing] (with similar names of its folder),
  /// [file-is-directory], [file-unreadable], [file-empty]; unsupported [compression-library]; exhausted
  /// [memory].
  static support::Result<FileSource> open(const std::string& path);
  /// Bytes that were read before; `path` is for messages.
  static FileSource of_bytes(const std::string& path, std::string bytes);
  FileSource(FileSource&&) noexcept;
  FileSource& operator=(FileSource&&) noexcept;
  ~FileSource();

  /// Up to `size` bytes of content; 0 only at the end. Errors: invalid [gzip-damaged], [bzip2-damaged],
  /// [xz-damaged], [file-unreadable].
  support::Result<std::size_t> read(char* to, std::size_t size);
  /// The next bytes of content, up to `size`, which stay unread. Errors: those of read.
  support::Result<std::string_view> peek(std::size_t size);
  /// All bytes of content that are left. Errors: those of read.
  support::Result<std::string> rest();

  const std::string& path() const;  ///< "standard input" for "-"
  bool compressed() const;
  std::uint64_t file_bytes() const;      ///< size of the file on disk
  std::uint64_t consumed_bytes() const;  ///< bytes of the file on disk
  /// No content can be longer than this: gzip shrinks at most by 1032. 2^64 - 1 where nothing is known.
  std::uint64_t content_limit() const;

 private:
  struct State;
  explicit FileSource(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace schaas::client
