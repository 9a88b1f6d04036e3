#include <gtest/gtest.h>

#include "compiler/support/digest.h"
#include "compiler/support/hexadecimal.h"
#include "compiler/support/signature.h"

// Ed25519 signatures, SHA-256 digests and hexadecimal text, against published vectors: test 2 of RFC 8032,
// section 7.1. Each digit of the signature is changed in turn, and none of these may verify. Public keys of
// small order are refused in all their encodings, since anybody can sign for them.
namespace schaas::support {
namespace {

// RFC 8032, section 7.1, test 2.
const std::string rfc_seed = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
const std::string rfc_public = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
const std::string rfc_signature =
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";

SigningKey rfc_key() { return SigningKey::from_seed(*bytes_of_hexadecimal(rfc_seed)); }

TEST(Signature, IsThatOfTheStandard) {
  const SigningKey key = rfc_key();
  EXPECT_EQ(key.public_key().text(), "ed25519:" + rfc_public);
  EXPECT_EQ(key.sign("r"), rfc_signature);
  EXPECT_TRUE(key.public_key().verifies("r", rfc_signature));
}

TEST(Signature, FitsOneTextAndOneKey) {
  const SigningKey key = rfc_key();
  const PublicKey other = SigningKey::from_seed(std::string(32, 'x')).public_key();
  EXPECT_FALSE(key.public_key().verifies("R", rfc_signature));
  EXPECT_FALSE(key.public_key().verifies("", rfc_signature));
  EXPECT_FALSE(other.verifies("r", rfc_signature));
  for (std::size_t n = 0; n < rfc_signature.size(); ++n) {
    std::string changed = rfc_signature;
    changed[n] = changed[n] == '0' ? '1' : '0';
    EXPECT_FALSE(key.public_key().verifies("r", changed)) << n;
  }
  for (const std::string& text :
       {std::string(), rfc_signature.substr(2), rfc_signature + "00", std::string(128, 'g')})
    EXPECT_FALSE(key.public_key().verifies("r", text)) << text;
}

TEST(Signature, KeysAreReadFromTheirText) {
  const SigningKey key = rfc_key();
  EXPECT_EQ(SigningKey::parse(key.pem())->public_key(), key.public_key());
  EXPECT_EQ(PublicKey::parse("ed25519:" + rfc_public).value(), key.public_key());
  for (const std::string& text :
       {std::string(), rfc_public, std::string("ed25519:"), "ed25519:" + rfc_public.substr(2)}) {
    EXPECT_EQ(render(PublicKey::parse(text).error()),
              "invalid [public-key]: `" + text +
                  "` is no server's key; expected `ed25519:` and 64 lower-case hexadecimal digits");
  }
  for (const std::string& text : {std::string(), std::string("nonsense"), key.pem().substr(0, 60)}) {
    EXPECT_EQ(render(SigningKey::parse(text).error()),
              "invalid [signing-key]: not an Ed25519 private key in PEM, without a passphrase");
  }
}

/// Encodings of the eight points whose order divides 8, and of the same beyond the field.
TEST(Signature, KeysOfSmallOrderAreRefused) {
  const std::string most(60, 'f');
  for (const std::string& key :
       {std::string(64, '0'), "01" + std::string(62, '0'), "00" + std::string(60, '0') + "80",
        "01" + std::string(60, '0') + "80", "ec" + most + "7f", "ec" + most + "ff", "ed" + most + "7f",
        "ee" + most + "7f", "ee" + most + "ff",
        std::string("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
        std::string("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85"),
        std::string("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
        std::string("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa")}) {
    const auto parsed = PublicKey::parse("ed25519:" + key);
    ASSERT_FALSE(parsed.ok()) << key;
    EXPECT_EQ(render(parsed.error()),
              "invalid [public-key]: `ed25519:" + key +
                  "` is no server's key: its order is small, so anybody can sign for it");
  }
}

TEST(Hexadecimal, GivesTheBytesBack) {
  const std::string bytes("\x00\x7f\x80\xff", 4);
  EXPECT_EQ(hexadecimal(bytes), "007f80ff");
  EXPECT_EQ(bytes_of_hexadecimal("007f80ff"), bytes);
  for (const char* text : {"0", "0g", "0A", "0x"}) EXPECT_FALSE(bytes_of_hexadecimal(text)) << text;
}

TEST(Digest, IsSha256) {
  EXPECT_EQ(digest_of("abc"),
            (Digest{"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", 3}));
}

}  // namespace
}  // namespace schaas::support
