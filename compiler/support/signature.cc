#include "compiler/support/signature.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <algorithm>
#include <array>

#include "compiler/support/hexadecimal.h"

// Ed25519 (RFC 8032) by OpenSSL. Keys are shared and immutable, contexts are made for each call, so both
// kinds of keys may be used by several threads. Public keys of small order are refused when they are parsed,
// because OpenSSL takes them. Texts are hexadecimal in small letters only: one key has one text, by which
// keys are compared.
namespace schaas::support {
namespace {

constexpr std::string_view prefix = "ed25519:";
constexpr std::size_t key_bytes = 32, signature_bytes = 64;

using Context = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;
using Memory = std::unique_ptr<BIO, decltype(&BIO_free)>;

const unsigned char* bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

/// The points of small order, without the bit of the sign, and the encodings of the same beyond the field.
/// Under such a key one signature holds for many texts (K. Chalkias et al., Taming the many EdDSAs, 2020).
constexpr std::array<std::string_view, 7> small_orders = {
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"};

bool has_small_order(std::string raw) {
  // The highest bit is the sign of x; both signs of a point have the same order.
  raw.back() = static_cast<char>(raw.back() & 0x7f);
  return std::find(small_orders.begin(), small_orders.end(), hexadecimal(raw)) != small_orders.end();
}

std::shared_ptr<EVP_PKEY> owned(EVP_PKEY* key) { return {key, EVP_PKEY_free}; }

}  // namespace

Result<PublicKey> PublicKey::parse(std::string_view text) {
  const auto raw = text.starts_with(prefix) ? bytes_of_hexadecimal(text.substr(prefix.size())) : std::nullopt;
  if (!raw || raw->size() != key_bytes) {
    return invalid("public-key",
                   "`" + std::string(text.substr(0, 100)) +
                       "` is no server's key; expected `ed25519:` and 64 lower-case hexadecimal digits");
  }
  if (has_small_order(*raw)) {
    return invalid("public-key", "`" + std::string(text) +
                                     "` is no server's key: its order is small, so anybody can sign for it");
  }
  auto key = owned(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes(*raw), raw->size()));
  SCHAAS_CHECK(key != nullptr, "a public key from 32 bytes");
  return PublicKey(std::string(text), std::move(key));
}

/// Returns false for anything that is no signature, as for a wrong one.
bool PublicKey::verifies(std::string_view message, std::string_view signature) const {
  const auto raw = bytes_of_hexadecimal(signature);
  if (!raw || raw->size() != signature_bytes) return false;
  const Context context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  return context && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1 &&
         EVP_DigestVerify(context.get(), bytes(*raw), raw->size(), bytes(message), message.size()) == 1;
}

SigningKey SigningKey::from_seed(std::string_view seed) {
  SCHAAS_CHECK(seed.size() == seed_bytes, "the seed of a key has 32 bytes");
  auto key = owned(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes(seed), seed.size()));
  SCHAAS_CHECK(key != nullptr, "a signing key from 32 bytes");
  return SigningKey(std::move(key));
}

Result<SigningKey> SigningKey::parse(const std::string& pem) {
  const Memory memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  // An empty passphrase instead of none: OpenSSL would ask for one at the terminal.
  auto key = owned(PEM_read_bio_PrivateKey(memory.get(), nullptr, nullptr, const_cast<char*>("")));
  if (key == nullptr || EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_ED25519)
    return invalid("signing-key", "not an Ed25519 private key in PEM, without a passphrase");
  return SigningKey(std::move(key));
}

std::string SigningKey::pem() const {
  const Memory memory(BIO_new(BIO_s_mem()), BIO_free);
  const bool written = memory && PEM_write_bio_PKCS8PrivateKey(memory.get(), key_.get(), nullptr, nullptr, 0,
                                                               nullptr, nullptr) == 1;
  SCHAAS_CHECK(written, "a signing key as PEM");
  // The text belongs to the BIO and is copied before the BIO ends.
  char* text = nullptr;
  const long length = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(length)};
}

PublicKey SigningKey::public_key() const {
  std::string raw(key_bytes, '\0');
  std::size_t length = raw.size();
  const int got =
      EVP_PKEY_get_raw_public_key(key_.get(), reinterpret_cast<unsigned char*>(raw.data()), &length);
  SCHAAS_CHECK(got == 1 && length == key_bytes, "the public half of a signing key");
  return PublicKey::parse(std::string(prefix) + hexadecimal(raw)).value();
}

std::string SigningKey::sign(std::string_view message) const {
  const Context context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  std::string raw(signature_bytes, '\0');
  std::size_t length = raw.size();
  const bool made = context &&
                    EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1 &&
                    EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(raw.data()), &length,
                                   bytes(message), message.size()) == 1;
  SCHAAS_CHECK(made && length == signature_bytes, "a signature");
  return hexadecimal(raw);
}

}  // namespace schaas::support
