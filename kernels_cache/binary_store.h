#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/digest.h"
#include "compiler/support/result.h"
#include "kernels_cache/clock.h"

namespace schaas::kernels_cache {

/// What BinaryStore::verify found.
struct VerifyReport {
  std::uint64_t checked = 0;
  std::vector<std::string> damaged;  ///< SHA-256 names of the binaries that were dropped, sorted
};

/// A binary, and when it was put or read last, to a minute.
struct UsedBinary {
  support::Digest digest;
  Clock::Time used;
};

/// Bytes by their SHA-256. Thread-safe. A binary is either whole or absent: `put` is atomic, `get` returns
/// only bytes whose digest is right. Errors: exhausted [disk-full]; internal [storage].
class BinaryStore {
 public:
  virtual ~BinaryStore() = default;

  virtual support::Result<support::Digest> put(std::string_view bytes) = 0;
  /// Errors: invalid [wrong-digest] (not 64 lower-case hexadecimal digits), [unknown-binary]; internal
  /// [damaged-binary]: the stored bytes no longer have this digest; they have been dropped.
  virtual support::Result<std::string> get(const std::string& sha256) = 0;
  /// Whether there is a binary of this name; does not read it.
  virtual bool contains(const std::string& sha256) = 0;

  /// Every binary, sorted by name.
  virtual support::Result<std::vector<support::Digest>> list() = 0;
  /// Every binary with its last use, in no order.
  virtual support::Result<std::vector<UsedBinary>> uses() = 0;
  /// Removes a binary; no error when it is not there.
  virtual support::Result<void> drop(const std::string& sha256) = 0;
  /// Reads everything; damaged binaries are dropped.
  virtual support::Result<VerifyReport> verify() = 0;
};

}  // namespace schaas::kernels_cache
