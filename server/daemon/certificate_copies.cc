#include "server/daemon/certificate_copies.h"

#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

namespace schaas::server {
namespace {

using support::Result;

constexpr std::chrono::seconds between_looks{1};

Result<void> write_copy(const std::string& path, const std::string& text) {
  if (path.empty()) return {};
  const std::string beside = path + ".new";
  std::ofstream file(beside, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file && ::chmod(beside.c_str(), 0600) == 0 && std::rename(beside.c_str(), path.c_str()) == 0) return {};
  return support::invalid("tls", "cannot write the copy `" + path + "`: " + std::strerror(errno));
}

}  // namespace

Result<std::unique_ptr<CertificateCopies>> CertificateCopies::start(TlsFiles files, const std::string& folder,
                                                                    Log log) {
  SCHAAS_RETURN_IF_ERROR(check_tls(files));
  std::error_code error;
  std::filesystem::remove_all(folder, error);  // left by a process that was killed
  if (::mkdir(folder.c_str(), 0700) != 0)
    return support::invalid("tls", "cannot create `" + folder + "`: " + std::strerror(errno));
  TlsFiles copies{folder + "/certificate", folder + "/key",
                  files.client_ca.empty() ? "" : folder + "/client-ca"};
  std::unique_ptr<CertificateCopies> made(
      new CertificateCopies(std::move(files), std::move(copies), folder, std::move(log)));
  SCHAAS_RETURN_IF_ERROR(made->renew());
  made->thread_ = std::thread([self = made.get()] { self->watch(); });
  return made;
}

CertificateCopies::CertificateCopies(TlsFiles files, TlsFiles copies, std::string folder, Log log)
    : files_(std::move(files)),
      copies_(std::move(copies)),
      folder_(std::move(folder)),
      log_(std::move(log)) {}

CertificateCopies::~CertificateCopies() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
}

// Replaces the copies where the files have changed and are good.
Result<void> CertificateCopies::renew() {
  SCHAAS_ASSIGN_OR_RETURN(TlsTexts texts, read_tls(files_));
  if (texts == current_) return {};
  SCHAAS_RETURN_IF_ERROR(check_texts(texts, files_));
  SCHAAS_RETURN_IF_ERROR(write_copy(copies_.key, texts.key));
  SCHAAS_RETURN_IF_ERROR(write_copy(copies_.certificate, texts.certificate));
  SCHAAS_RETURN_IF_ERROR(write_copy(copies_.client_ca, texts.client_ca));
  current_ = std::move(texts);
  return {};
}

void CertificateCopies::watch() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, between_looks, [this] { return stopping_; })) {
    const auto renewed = renew();
    const std::string complaint = renewed.ok() ? "" : support::render(renewed.error());
    if (complaint != complaint_ && !complaint.empty())
      log_->warn("the changed certificate is not used, the one before is: {}", complaint);
    complaint_ = complaint;
  }
}

}  // namespace schaas::server
