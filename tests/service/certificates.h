#pragma once
#include <string>

#include "tests/support/temporary_directory.h"

namespace schaas::test {

/// Creates certificates for tests with OpenSSL: PEM files in a directory.
class Certificates {
 public:
  /// Creates a certificate authority: `NAME.pem` with its key `NAME.key`.
  explicit Certificates(const std::string& authority);
  /// Creates a certificate for `hosts`, in OpenSSL's syntax: `NAME.pem` and `NAME.key`. It is valid for
  /// `days` from now; below 0 it expired that long ago.
  void issue(const std::string& name, int days = 1, const std::string& hosts = "DNS:localhost,IP:127.0.0.1");
  std::string certificate(const std::string& name) const { return directory_ / (name + ".pem"); }
  std::string key(const std::string& name) const { return directory_ / (name + ".key"); }
  std::string authority() const { return certificate(authority_); }

 private:
  test_support::TemporaryDirectory directory_;
  std::string authority_;
};

}  // namespace schaas::test
