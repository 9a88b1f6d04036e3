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

/// What is signed of a kernel; proto/signed_kernel.h adds the version of the ABI.
struct SignedKernel {
  std::string kernel_key;
  std::string isa;  ///< of the request, also of a draft
  support::Digest digest;
};

/// Signs kernels when they are stored and verifies them when they are read again: a row that others wrote is
/// not believed. Thread-safe.
class KernelSigner {
 public:
  explicit KernelSigner(support::SigningKey key) : key_(std::move(key)), public_key_(key_.public_key()) {}
  const support::PublicKey& public_key() const { return public_key_; }
  std::string sign(const SignedKernel& kernel) const;
  /// Remembers what it has verified: a warm look-up pays for no mathematics.
  bool verifies(const SignedKernel& kernel, const std::string& signature);

 private:
  const support::SigningKey key_;
  const support::PublicKey public_key_;
  std::mutex mutex_;
  /// Digests of signatures with their texts, each in the place that its own bits say, in that of an older
  /// one: a quarter of a mebibyte from the first to the last. Small pieces that come one by one and stay
  /// would each hold a page of the heap.
  using Seen = std::array<char, 64>;
  static constexpr std::size_t places = 4096;
  Seen& place_of(std::string_view digest) {
    return verified_[std::hash<std::string_view>()(digest) % places];
  }
  std::vector<Seen> verified_ = std::vector<Seen>(places);
};

}  // namespace schaas::server
