#pragma once
#include <memory>
#include <string>

#include <spdlog/spdlog.h>

#include "compiler/support/result.h"

namespace schaas::server {

/// The daemon's log, handed to whoever writes to it; there is no global one.
using Log = std::shared_ptr<spdlog::logger>;

struct LogOptions {
  std::string level = "info";  ///< trace, debug, info, warning, error, off
  std::string file;            ///< "" = standard error; a file is rotated at 10 MiB, three old ones are kept
};

/// Errors: invalid [log-level] (with suggestion).
support::Result<void> check_log_level(const std::string& level);
/// Errors: those of check_log_level, invalid [log-file].
support::Result<Log> open_log(const LogOptions& options);
/// Whether it could be opened. Makes nothing. Errors: as above.
support::Result<void> check_log(const LogOptions& options);
/// From now on; `level` has been checked. Thread-safe.
void set_level(const Log& log, const std::string& level);
/// Drops everything: for tests.
Log silent_log();

}  // namespace schaas::server
