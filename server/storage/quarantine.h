#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace schaas::server {

struct QuarantinedKernel {
  std::string key;
  std::string why;    ///< first line of the report
  std::string since;  ///< UTC, ISO 8601
};

/// Kernels that failed their trial, in files: KEY.so and KEY.txt, the report with everything that reproduces
/// it. An entry ends after `max_age`: the reason may have been the machine's. Full, the rest is dropped.
/// Copies share the directory. Thread-safe.
class Quarantine {
 public:
  static constexpr std::size_t max_kernels = 100;
  static constexpr std::chrono::days max_age{7};

  explicit Quarantine(std::string directory) : directory_(std::move(directory)) {}

  /// Returns the first line of the report on a kernel; none where it is not in quarantine, or no longer.
  std::optional<std::string> reason(const std::string& key) const;
  /// Returns false where nothing is kept: it is full, or the files cannot be written.
  bool add(const std::string& key, const std::string& binary, const std::string& report) const;
  /// Newest first.
  std::vector<QuarantinedKernel> list() const;
  /// Ends the quarantine of a kernel: it is compiled and tried again when it is next asked for. Returns false
  /// where it is not in quarantine.
  bool lift(const std::string& key) const;

 private:
  std::string path(const std::string& key, const char* ending) const {
    return directory_ + "/" + key + ending;
  }
  const std::string directory_;
};

}  // namespace schaas::server
