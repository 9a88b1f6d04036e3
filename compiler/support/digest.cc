#include "compiler/support/digest.h"

#include <openssl/evp.h>

#include <algorithm>

#include "compiler/support/result.h"

namespace schaas::support {

Digest digest_of(std::string_view data) {
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  SCHAAS_CHECK(EVP_Digest(data.data(), data.size(), hash, &length, EVP_sha256(), nullptr) == 1, "SHA-256");
  static constexpr char digits[] = "0123456789abcdef";
  Digest digest;
  digest.bytes = data.size();
  for (unsigned int i = 0; i < length; ++i) {
    digest.sha256 += digits[hash[i] >> 4];
    digest.sha256 += digits[hash[i] & 15];
  }
  return digest;
}

bool is_sha256_hex(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace schaas::support
