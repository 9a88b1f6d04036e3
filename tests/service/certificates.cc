#include "tests/service/certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cstdio>
#include <memory>
#include <stdexcept>

// Certificates are made with OpenSSL when a test starts, so none in the repository can expire. The authority
// signs itself. Every other certificate is X.509 version 3 over a new P-256 key, signed by the authority with
// SHA-256. Its alternative names are the hosts that clients check. A test for expiry asks for a negative
// number of days: validity then ended that long ago. A call of OpenSSL that fails throws, which ends the
// test.
namespace schaas::test {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

void must(bool done) {
  if (!done) throw std::runtime_error("OpenSSL, or a file of a test");
}

File open_file(const std::string& path, const char* mode) {
  File file(std::fopen(path.c_str(), mode), std::fclose);
  must(file != nullptr);
  return file;
}

Key make_key() { return {EVP_EC_gen("P-256"), EVP_PKEY_free}; }

void add(X509* certificate, X509* issuer, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value);
  must(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

void name(X509_NAME* to, const std::string& text) {
  must(X509_NAME_add_entry_by_txt(to, "CN", MBSTRING_ASC,
                                  reinterpret_cast<const unsigned char*>(text.c_str()), -1, -1, 0) == 1);
}

constexpr long day = 24 * 3600;

Certificate blank(const std::string& prepared, EVP_PKEY* key, long from, long until) {
  static long serial = 1;
  Certificate certificate(X509_new(), X509_free);
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), from);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), until);
  X509_set_pubkey(certificate.get(), key);
  name(X509_get_subject_name(certificate.get()), prepared);
  return certificate;
}

void write(const std::string& certificate_path, X509* certificate, const std::string& key_path,
           EVP_PKEY* key) {
  must(PEM_write_X509(open_file(certificate_path, "w").get(), certificate) == 1);
  must(PEM_write_PrivateKey(open_file(key_path, "w").get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  must(::chmod(key_path.c_str(), 0600) == 0);
}

}  // namespace

Certificates::Certificates(const std::string& authority) : authority_(authority) {
  const Key own = make_key();
  const Certificate root = blank(authority, own.get(), -day, day);
  name(X509_get_issuer_name(root.get()), authority);
  add(root.get(), root.get(), NID_basic_constraints, "critical,CA:TRUE");
  must(X509_sign(root.get(), own.get(), EVP_sha256()) > 0);
  write(certificate(authority), root.get(), key(authority), own.get());
}

void Certificates::issue(const std::string& prepared, int days, const std::string& hosts) {
  const Certificate root(PEM_read_X509(open_file(authority(), "r").get(), nullptr, nullptr, nullptr),
                         X509_free);
  const Key signer(PEM_read_PrivateKey(open_file(key(authority_), "r").get(), nullptr, nullptr, nullptr),
                   EVP_PKEY_free);
  const Key own = make_key();
  const long from = days < 0 ? 2 * days * day : -day, until = days * day;
  const Certificate made = blank(prepared, own.get(), from, until);
  X509_set_issuer_name(made.get(), X509_get_subject_name(root.get()));
  add(made.get(), root.get(), NID_subject_alt_name, hosts.c_str());
  must(X509_sign(made.get(), signer.get(), EVP_sha256()) > 0);
  write(certificate(prepared), made.get(), key(prepared), own.get());
}

}  // namespace schaas::test
