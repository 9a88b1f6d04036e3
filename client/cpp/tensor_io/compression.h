#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "compiler/support/result.h"

/// Compressed bytes. The libraries (zlib, bzip2, liblzma) are loaded when a file first needs one, so that a
/// program that reads none links none.
namespace schaas::client {

enum class Compression { none, gzip, bzip2, xz };
const char* name(Compression compression);  ///< "gzip"

/// Tells it from the first bytes of a file.
Compression compression_of_content(std::string_view first);
/// Tells it from the ending of a name: .gz, .bz2, .xz.
Compression compression_of_name(std::string_view path);
/// The name without that ending.
std::string_view without_compression(std::string_view path);
/// Bytes of content per compressed byte, at most; 0: without a bound that would be of use.
std::uint64_t max_ratio(Compression compression);

/// Decompresses a sequence of members.
class Decompressor {
 public:
  struct Step {
    std::size_t read = 0, written = 0;
    bool ended = false;  ///< the member; more input begins another one
  };
  virtual ~Decompressor() = default;
  /// Decompresses some of `from`; `last`: nothing follows it. Errors: invalid [gzip-damaged],
  /// [bzip2-damaged], [xz-damaged]; exhausted [memory].
  virtual support::Result<Step> step(std::string_view from, bool last, char* to, std::size_t size) = 0;
};

class Compressor {
 public:
  virtual ~Compressor() = default;
  /// Appends the compressed form of `from` to `to`, at `finish` all that is left.
  virtual void run(std::string_view from, bool finish, std::string& to) = 0;
};

/// `path` is for messages. Errors: unsupported [compression-library]; exhausted [memory].
support::Result<std::unique_ptr<Decompressor>> decompressor(Compression compression, const std::string& path);
support::Result<std::unique_ptr<Compressor>> compressor(Compression compression, const std::string& path);

/// The `size` bytes of a member of a zip archive that is stored by deflate. Errors: those of decompressor;
/// invalid [npz-damaged].
support::Result<std::string> inflated(std::string_view deflated, std::uint64_t size, const std::string& path);

/// A file whose compressed content is broken.
support::Diagnostic damaged(Compression compression, const std::string& path, const std::string& why);

}  // namespace schaas::client
