#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/support/digest.h"
#include "schaas/bundled_answer.h"

namespace schaas::client {

/// Answers and kernels that came from servers, in files of the user: kernels by digest, answers by request
/// (docs/client.md, "The cache"). Many processes share it. Files appear whole, by renaming, and are compared
/// with their digest when read; a file that another process removed or damaged is a miss. Nothing here fails:
/// a cache that cannot be read or written is empty. Thread-safe.
class ClientCache {
 public:
  /// `bytes`: of all files; the ones that were not used for longest go first. Null when it is 0, or when the
  /// directory cannot be made or may be written by others.
  static std::unique_ptr<ClientCache> open(const std::string& directory, std::uint64_t bytes);

  const std::string& directory() const { return directory_; }

  std::optional<std::string> binary(const support::Digest& digest);
  void keep_binary(const support::Digest& digest, std::string_view bytes);
  bool has_binary(const support::Digest& digest) const;

  /// `key`: 64 hexadecimal digits. An answer of another layout or kernel ABI is none.
  std::optional<BundledAnswer> answer(const std::string& address, const std::string& key);
  void keep_answer(const std::string& address, const std::string& key, const BundledAnswer& answer);
  /// There is an answer of this server.
  bool knows(const std::string& address) const;

 private:
  ClientCache(std::string directory, std::uint64_t bytes) : directory_(std::move(directory)), limit_(bytes) {}
  std::string answer_path(const std::string& address, const std::string& key) const;
  std::string binary_path(const std::string& sha256) const;
  void write(const std::string& path, std::string_view bytes);
  void evict();

  const std::string directory_;
  const std::uint64_t limit_;
  std::atomic<std::uint64_t> written_{0};  ///< since what is there was last counted
  std::atomic<bool> counted_{false};
};

}  // namespace schaas::client
