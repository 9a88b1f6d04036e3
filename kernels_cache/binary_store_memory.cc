#include "kernels_cache/binary_store_memory.h"

#include <utility>

#include "kernels_cache/binary_errors.h"

// The twin of the file store, with the same answers for damaged and unknown binaries. Uses are noted exactly
// here, not to a minute.
namespace schaas::kernels_cache {

using support::Digest;
using support::Result;

Result<Digest> MemoryBinaryStore::put(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  Digest digest = support::digest_of(bytes);
  binaries_[digest.sha256] = bytes;
  used_[digest.sha256] = system_clock()->now();
  return digest;
}

Result<std::string> MemoryBinaryStore::get(const std::string& sha256) {
  const std::lock_guard lock(mutex_);
  if (!support::is_sha256_hex(sha256)) return wrong_digest(sha256);
  const auto found = binaries_.find(sha256);
  if (found == binaries_.end()) return unknown_binary(sha256);
  if (support::digest_of(found->second).sha256 != sha256) {
    binaries_.erase(found);
    return damaged_binary(sha256);
  }
  used_[sha256] = system_clock()->now();
  return found->second;
}

bool MemoryBinaryStore::contains(const std::string& sha256) {
  const std::lock_guard lock(mutex_);
  return binaries_.count(sha256) != 0;
}

Result<std::uint64_t> MemoryBinaryStore::bytes() {
  const std::lock_guard lock(mutex_);
  std::uint64_t total = 0;
  for (const auto& [name, bytes] : binaries_) total += bytes.size();
  return total;
}

Result<std::vector<Digest>> MemoryBinaryStore::list() {
  const std::lock_guard lock(mutex_);
  std::vector<Digest> out;
  for (const auto& [name, bytes] : binaries_) out.push_back({name, bytes.size()});
  return out;
}

Result<std::vector<UsedBinary>> MemoryBinaryStore::uses() {
  const std::lock_guard lock(mutex_);
  std::vector<UsedBinary> out;
  for (const auto& [name, bytes] : binaries_) out.push_back({{name, bytes.size()}, used_.at(name)});
  return out;
}

Result<void> MemoryBinaryStore::drop(const std::string& sha256) {
  const std::lock_guard lock(mutex_);
  binaries_.erase(sha256);
  return {};
}

void MemoryBinaryStore::set_used(const std::string& sha256, Clock::Time time) {
  const std::lock_guard lock(mutex_);
  used_.at(sha256) = time;
}

Result<VerifyReport> MemoryBinaryStore::verify() {
  const std::lock_guard lock(mutex_);
  VerifyReport report;
  for (auto at = binaries_.begin(); at != binaries_.end();) {
    ++report.checked;
    const bool sound = support::digest_of(at->second).sha256 == at->first;
    if (!sound) report.damaged.push_back(at->first);
    at = sound ? std::next(at) : binaries_.erase(at);
  }
  return report;
}

void MemoryBinaryStore::damage(const std::string& sha256) {
  const std::lock_guard lock(mutex_);
  // Another byte, under the old name: the digest no longer fits.
  binaries_.at(sha256) += '!';
}

}  // namespace schaas::kernels_cache
