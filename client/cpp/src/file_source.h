#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "compiler/support/result.h"

namespace schaas::client {

/// The bytes of a file, decompressed when its content is gzip (one or more members; the name does not
/// matter).
class FileSource {
 public:
  /// Errors: invalid [file-missing] (with similar names of its folder), [file-is-directory],
  /// [file-unreadable], [file-empty].
  static support::Result<FileSource> open(const std::string& path);
  FileSource(FileSource&&) noexcept;
  FileSource& operator=(FileSource&&) noexcept;
  ~FileSource();

  /// Up to `size` bytes of content; 0 only at the end. Errors: invalid [gzip-damaged], [file-unreadable].
  support::Result<std::size_t> read(char* to, std::size_t size);

  const std::string& path() const;
  bool compressed() const;
  std::uint64_t file_bytes() const;      ///< size of the file on disk
  std::uint64_t consumed_bytes() const;  ///< of the file on disk
  /// No content can be longer than this: gzip shrinks at most by 1032.
  std::uint64_t content_limit() const;

 private:
  struct State;
  explicit FileSource(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace schaas::client
