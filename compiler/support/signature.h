#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "compiler/support/result.h"

struct evp_pkey_st;

/// Ed25519 signatures (RFC 8032). Values; thread-safe.
namespace schaas::support {

/// Verifies signatures.
class PublicKey {
 public:
  /// "ed25519:" and 64 lower-case hexadecimal digits. Errors: invalid [public-key], also for a point of small
  /// order.
  static Result<PublicKey> parse(std::string_view text);
  const std::string& text() const { return text_; }
  /// `signature` as SigningKey::sign gives it.
  bool verifies(std::string_view message, std::string_view signature) const;
  bool operator==(const PublicKey& other) const { return text_ == other.text_; }

 private:
  friend class SigningKey;
  PublicKey(std::string text, std::shared_ptr<evp_pkey_st> key)
      : text_(std::move(text)), key_(std::move(key)) {}
  std::string text_;
  std::shared_ptr<evp_pkey_st> key_;
};

/// Makes signatures; kept by its owner.
class SigningKey {
 public:
  static constexpr std::size_t seed_bytes = 32;
  /// From `seed_bytes` random bytes.
  static SigningKey from_seed(std::string_view seed);
  /// As OpenSSL writes private keys. Errors: invalid [signing-key].
  static Result<SigningKey> parse(const std::string& pem);
  std::string pem() const;

  PublicKey public_key() const;
  /// 128 lower-case hexadecimal digits.
  std::string sign(std::string_view message) const;

 private:
  explicit SigningKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}
  std::shared_ptr<evp_pkey_st> key_;
};

}  // namespace schaas::support
