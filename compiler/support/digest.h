#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace schaas::support {

/// SHA-256 and size: the form of the Remote Execution API's Digest.
struct Digest {
  std::string sha256;  ///< 64 lower-case hexadecimal digits
  std::uint64_t bytes = 0;
  bool operator==(const Digest&) const = default;
};

Digest digest_of(std::string_view data);
/// Initialises the cryptography library. Exit handlers that are registered after this run before its own,
/// which frees what digests and signatures use.
void initialise_cryptography();
/// True for 64 lower-case hexadecimal digits: the only digests that may become file names.
bool is_sha256_hex(std::string_view text);

}  // namespace schaas::support
