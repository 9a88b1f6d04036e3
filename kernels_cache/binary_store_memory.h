#pragma once
#include <map>
#include <memory>
#include <mutex>

#include "kernels_cache/binary_store.h"

namespace schaas::kernels_cache {

/// The in-memory twin of the file store, for tests; `damage` corrupts a binary as a failing disk would.
class MemoryBinaryStore final : public BinaryStore {
 public:
  support::Result<support::Digest> put(std::string_view bytes) override;
  support::Result<std::string> get(const std::string& sha256) override;
  bool contains(const std::string& sha256) override;
  support::Result<std::uint64_t> bytes() override;
  support::Result<std::vector<support::Digest>> list() override;
  support::Result<std::vector<UsedBinary>> uses() override;
  support::Result<void> drop(const std::string& sha256) override;
  support::Result<VerifyReport> verify() override;

  void damage(const std::string& sha256);
  void set_used(const std::string& sha256, Clock::Time time);

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> binaries_;
  std::map<std::string, Clock::Time> used_;
};

}  // namespace schaas::kernels_cache
