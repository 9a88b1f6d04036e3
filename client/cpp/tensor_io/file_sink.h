#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "compiler/support/result.h"

namespace schaas::client {

/// Writes a file that appears complete or not at all: bytes go to a temporary file beside it, which close()
/// renames. A symbolic link stays one: its target is written. The mode of a file that was there is kept.
/// Pipes, devices and "-", standard output, are written as bytes come. Compressed when the name ends in .gz,
/// .bz2 or .xz. An unclosed sink removes its temporary file.
class FileSink {
 public:
  /// Errors: invalid [file-unwritable]; unsupported [compression-library].
  static support::Result<FileSink> create(const std::string& path);
  /// Tells whether create() can be expected to succeed. Leaves nothing behind. Errors: those of create.
  static support::Result<void> check(const std::string& path);
  FileSink(FileSink&&) noexcept;
  FileSink& operator=(FileSink&&) noexcept;
  ~FileSink();

  /// Errors are kept and reported by close().
  void write(std::string_view bytes);
  void write(double number);  ///< the shortest text that reads back as the same double
  void write(std::int64_t number);
  /// Errors: exhausted [disk-full]; invalid [file-unwritable].
  support::Result<void> close();

 private:
  struct State;
  explicit FileSink(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace schaas::client
