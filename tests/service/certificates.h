#pragma once
#include <string>

#include "tests/support/temporary_directory.h"

namespace schaas::test {

/// Certificates for tests, made anew by OpenSSL: PEM files in a directory.
class Certificates {
 public:
  /// An authority of this name: `NAME.pem` with its key `NAME.key`.
  explicit Certificates(const std::string& authority);
  /// A certificate for `hosts`, as OpenSSL writes them: `NAME.pem` and `NAME.key`. `days`: how long it is
  /// valid from now; below 0: it has expired so long ago.
  void issue(const std::string& name, int days = 1, const std::string& hosts = "DNS:localhost,IP:127.0.0.1");
  std::string certificate(const std::string& name) const { return directory_ / (name + ".pem"); }
  std::string key(const std::string& name) const { return directory_ / (name + ".key"); }
  std::string authority() const { return certificate(authority_); }

 private:
  test_support::TemporaryDirectory directory_;
  std::string authority_;
};

}  // namespace schaas::test
