#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/digest.h"
#include "compiler/support/result.h"
#include "kernels_cache/clock.h"

namespace schaas::kernels_cache {

/// Result of BinaryStore::verify.
struct VerifyReport {
  std::uint64_t checked = 0;
  std::vector<std::string> damaged;  ///< SHA-256 names of the dropped binaries, sorted
};

/// A binary and the time of its last write or read, to a minute.
struct UsedBinary {
  support::Digest digest;
  Clock::Time used;
};

/// Bytes named by their SHA-256. Thread-safe. A binary is whole or absent: `put` is atomic, `get` returns
/// only bytes with the right digest. Errors: exhausted [disk-full]; internal [storage].
class BinaryStore {
 public:
  virtual ~BinaryStore() = default;

  virtual support::Result<support::Digest> put(std::string_view bytes) = 0;
  /// Reads a binary. Errors: invalid [wrong-digest] (not 64 lower-case hexadecimal digits), [unknown-binary];
  /// internal [damaged-binary]: the stored bytes no longer have this digest and were dropped.
  virtual support::Result<std::string> get(const std::string& sha256) = 0;
  /// Returns true when a binary of this name exists; does not read it.
  virtual bool contains(const std::string& sha256) = 0;

  /// Returns the bytes of all binaries together; constant time.
  virtual support::Result<std::uint64_t> bytes() = 0;
  /// Lists every binary, sorted by name.
  virtual support::Result<std::vector<support::Digest>> list() = 0;
  /// Lists every binary with its last use, in no order.
  virtual support::Result<std::vector<UsedBinary>> uses() = 0;
  /// Removes a binary; not an error when it is absent.
  virtual support::Result<void> drop(const std::string& sha256) = 0;
  /// Reads every binary and drops the damaged ones.
  virtual support::Result<VerifyReport> verify() = 0;
};

}  // namespace schaas::kernels_cache
