#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/digest.h"
#include "compiler/support/signature.h"

namespace schaas::server {

/// The signed fields of a kernel; proto/signed_kernel.h adds the version of the ABI.
struct SignedKernel {
  std::string problem_key;
  std::string kernel_key;
  std::string isa;  ///< instruction set of the request, also for a baseline kernel
  support::Digest digest;
};

/// Signs kernels when they are stored and verifies them when they are read: a row written by others is
/// rejected. Thread-safe.
class KernelSigner {
 public:
  explicit KernelSigner(support::SigningKey key) : key_(std::move(key)), public_key_(key_.public_key()) {}
  const support::PublicKey& public_key() const { return public_key_; }
  std::string sign(const SignedKernel& kernel) const;
  std::string sign_text(const std::string& text) const { return key_.sign(text); }
  /// Verifies a signature. Remembers verified ones, so that a warm look-up costs no public-key operation.
  bool verifies(const SignedKernel& kernel, const std::string& signature);

 private:
  const support::SigningKey key_;
  const support::PublicKey public_key_;
  std::mutex mutex_;
  /// Direct-mapped table of digests of verified signatures and their texts. Fixed in size (256 KiB), because
  /// small allocations that stay would each pin a page of the heap.
  using Seen = std::array<char, 64>;
  static constexpr std::size_t slot_count = 4096;
  Seen& slot_of(std::string_view digest) {
    return verified_[std::hash<std::string_view>()(digest) % slot_count];
  }
  std::vector<Seen> verified_ = std::vector<Seen>(slot_count);
};

}  // namespace schaas::server
