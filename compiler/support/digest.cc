#include "compiler/support/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>

#include "compiler/support/hexadecimal.h"
#include "compiler/support/result.h"

// SHA-256 by OpenSSL in one call; failure means a broken installation and is a bug's exception, not a result.
namespace schaas::support {

Digest digest_of(std::string_view data) {
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  SCHAAS_CHECK(EVP_Digest(data.data(), data.size(), hash, &length, EVP_sha256(), nullptr) == 1, "SHA-256");
  return {hexadecimal({reinterpret_cast<const char*>(hash), length}), data.size()};
}

void initialise_cryptography() {
  SCHAAS_CHECK(OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, nullptr) == 1, "OpenSSL");
}

bool is_sha256_hex(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace schaas::support
