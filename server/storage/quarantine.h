#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels_cache/clock.h"
#include "kernels_cache/database.h"
#include "server/telemetry/log.h"

namespace schaas::server {

struct QuarantinedKernel {
  std::string key;
  std::string why;    ///< first line of the report
  std::string since;  ///< UTC, ISO 8601
};

/// Kernels that failed their trial, with the report that reproduces it. An entry ends after `max_age`: the
/// reason may have been the machine's. Full, the rest is dropped. Thread-safe.
class Quarantine {
 public:
  static constexpr std::size_t max_kernels = 100;
  static constexpr std::chrono::days max_age{7};
  virtual ~Quarantine() = default;

  /// Returns the first line of the report on a kernel; none where it is not in quarantine, or no longer.
  virtual std::optional<std::string> reason(const std::string& key) const = 0;
  /// Returns false where nothing is kept: it is full, or cannot be written.
  virtual bool add(const std::string& key, const std::string& binary, const std::string& report) const = 0;
  /// Newest first.
  virtual std::vector<QuarantinedKernel> list() const = 0;
  /// Ends the quarantine of a kernel: it is compiled and tried again when it is next asked for. Returns false
  /// where it is not in quarantine.
  virtual bool lift(const std::string& key) const = 0;
};

/// Returns the quarantine in a directory: files KEY.so and KEY.txt, the report.
std::shared_ptr<const Quarantine> make_file_quarantine(std::string directory);

/// Returns the quarantine of all servers of a database. Reports tell which process made the trial.
std::shared_ptr<const Quarantine> make_shared_quarantine(std::shared_ptr<kernels_cache::Database> database,
                                                         std::shared_ptr<const kernels_cache::Clock> clock,
                                                         Log log);

}  // namespace schaas::server
