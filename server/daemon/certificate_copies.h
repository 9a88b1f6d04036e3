#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "server/auth/credentials.h"
#include "server/telemetry/log.h"

namespace schaas::server {

/// Copies of the TLS files for gRPC, which reads its files again without looking at what they say. After a
/// renewal that was read half written every new connection would fail. A copy is replaced only when the files
/// are whole and fit together; until then the last good ones serve. Thread-safe.
class CertificateCopies {
 public:
  /// Copies the files into `folder`, which it creates (mode 0700) and removes in the end. Errors: those of
  /// check_tls; invalid [tls] when the copies cannot be written.
  static support::Result<std::unique_ptr<CertificateCopies>> start(TlsFiles files, const std::string& folder,
                                                                   Log log);
  ~CertificateCopies();
  CertificateCopies(const CertificateCopies&) = delete;
  CertificateCopies& operator=(const CertificateCopies&) = delete;

  /// Returns the paths of the copies.
  const TlsFiles& files() const { return copies_; }

 private:
  CertificateCopies(TlsFiles files, TlsFiles copies, std::string folder, Log log);
  support::Result<void> renew();
  void watch();

  const TlsFiles files_, copies_;
  const std::string folder_;
  const Log log_;
  TlsTexts current_;       ///< contents of the copies
  std::string complaint_;  ///< the last one that was logged
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace schaas::server
