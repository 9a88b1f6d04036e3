#include "server/auth/credentials.h"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <cstdio>

// TLS files are checked by hand before gRPC gets them, so that a wrong one is an error of the start. gRPC
// then watches the files itself, so that renewed certificates need no restart. Client certificates are
// required where an authority for them is configured.
namespace schaas::server {
namespace {

using support::Diagnostic;
using support::Result;

// Interval at which gRPC looks for changed files.
constexpr unsigned seconds_between_looks = 1;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
using Memory = std::unique_ptr<BIO, decltype(&BIO_free)>;
using X509Pointer = std::unique_ptr<X509, decltype(&X509_free)>;
using PrivateKey = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

Diagnostic wrong_credentials(const std::string& what) { return support::invalid("tls", what); }

// Opens a file that child processes do not inherit ("e").
Result<File> open_file(const char* what, const std::string& path) {
  File file(std::fopen(path.c_str(), "re"), std::fclose);
  if (file) return file;
  return wrong_credentials(std::string("the ") + what + " `" + path + "` cannot be read");
}

std::string read_all(std::FILE* file) {
  std::string text;
  char buffer[4096];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, got);
  return text;
}

Result<std::string> read_file(const char* what, const std::string& path) {
  SCHAAS_ASSIGN_OR_RETURN(const File file, open_file(what, path));
  return read_all(file.get());
}

Result<std::string> read_key(const std::string& path) {
  SCHAAS_ASSIGN_OR_RETURN(const File file, open_file("key", path));
  struct stat status {};
  if (::fstat(::fileno(file.get()), &status) == 0 && (status.st_mode & 077) != 0)
    return support::noting(
        wrong_credentials("others than its owner may read or write the key `" + path + "`"),
        "`chmod 600 " + path + "`");
  return read_all(file.get());
}

Memory memory_of(const std::string& text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free};
}

std::size_t count(const std::string& text, const char* word) {
  std::size_t found = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

// Parses the first certificate. A chain that is cut off within a later one is half written.
Result<X509Pointer> certificate_in(const char* what, const std::string& path, const std::string& text) {
  X509Pointer certificate(PEM_read_bio_X509(memory_of(text).get(), nullptr, nullptr, nullptr), X509_free);
  if (certificate && count(text, "-----BEGIN ") == count(text, "-----END ")) return certificate;
  return wrong_credentials(std::string("the ") + what + " `" + path + "` is no certificate in PEM");
}

Result<PrivateKey> key_in(const std::string& path, const std::string& text) {
  // An empty passphrase: with none OpenSSL would prompt on the terminal.
  PrivateKey key(PEM_read_bio_PrivateKey(memory_of(text).get(), nullptr, nullptr, const_cast<char*>("")),
                 EVP_PKEY_free);
  if (key) return key;
  return wrong_credentials("the key `" + path + "` is no private key in PEM, without a passphrase");
}

/// Returns the certificate of texts that are whole and fit together.
Result<X509Pointer> fitting_certificate(const TlsTexts& texts, const TlsFiles& files) {
  SCHAAS_ASSIGN_OR_RETURN(X509Pointer certificate,
                          certificate_in("certificate", files.certificate, texts.certificate));
  SCHAAS_ASSIGN_OR_RETURN(const PrivateKey key, key_in(files.key, texts.key));
  if (X509_check_private_key(certificate.get(), key.get()) != 1)
    return wrong_credentials("the key `" + files.key + "` is not that of the certificate `" +
                             files.certificate + "`");
  if (!files.client_ca.empty()) {
    const auto authority = certificate_in("authority of clients", files.client_ca, texts.client_ca);
    if (!authority.ok()) return authority.error();
  }
  return certificate;
}

}  // namespace

Result<TlsTexts> read_tls(const TlsFiles& files) {
  if (files.certificate.empty() || files.key.empty())
    return wrong_credentials("TLS needs both a certificate (--tls-cert) and its key (--tls-key)");
  TlsTexts texts;
  SCHAAS_ASSIGN_OR_RETURN(texts.certificate, read_file("certificate", files.certificate));
  SCHAAS_ASSIGN_OR_RETURN(texts.key, read_key(files.key));
  if (!files.client_ca.empty()) {
    SCHAAS_ASSIGN_OR_RETURN(texts.client_ca, read_file("authority of clients", files.client_ca));
  }
  return texts;
}

Result<void> check_texts(const TlsTexts& texts, const TlsFiles& files) {
  SCHAAS_ASSIGN_OR_RETURN(const X509Pointer certificate, fitting_certificate(texts, files));
  return {};
}

Result<void> check_tls(const TlsFiles& files) {
  SCHAAS_ASSIGN_OR_RETURN(const TlsTexts texts, read_tls(files));
  SCHAAS_ASSIGN_OR_RETURN(const X509Pointer certificate, fitting_certificate(texts, files));
  if (X509_cmp_current_time(X509_get0_notAfter(certificate.get())) < 0)
    return wrong_credentials("the certificate `" + files.certificate + "` has expired");
  if (X509_cmp_current_time(X509_get0_notBefore(certificate.get())) > 0)
    return wrong_credentials("the certificate `" + files.certificate + "` is not valid yet");
  return {};
}

std::shared_ptr<grpc::ServerCredentials> tls_credentials(const TlsFiles& files) {
  using grpc::experimental::FileWatcherCertificateProvider;
  const bool of_clients = !files.client_ca.empty();
  const auto provider = of_clients ? std::make_shared<FileWatcherCertificateProvider>(
                                         files.key, files.certificate, files.client_ca, seconds_between_looks)
                                   : std::make_shared<FileWatcherCertificateProvider>(
                                         files.key, files.certificate, seconds_between_looks);
  grpc::experimental::TlsServerCredentialsOptions options(provider);
  options.watch_identity_key_cert_pairs();
  if (of_clients) options.watch_root_certs();
  options.set_cert_request_type(of_clients ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                           : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  return grpc::experimental::TlsServerCredentials(options);
}

}  // namespace schaas::server
