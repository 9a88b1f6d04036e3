#pragma once
#include <memory>
#include <string>

#include <spdlog/spdlog.h>

#include "compiler/support/result.h"

namespace schaas::server {

/// The daemon's log, passed to every writer; none is global.
using Log = std::shared_ptr<spdlog::logger>;

struct LogOptions {
  std::string level = "info";  ///< trace, debug, info, warning, error, off
  std::string file;  ///< "": standard error; a file is rotated at 10 MiB and three old ones are kept
};

/// Checks a log level. Errors: invalid [log-level] (with suggestion).
support::Result<void> check_log_level(const std::string& level);
/// Opens a log. Errors: those of check_log_level, invalid [log-file].
support::Result<Log> open_log(const LogOptions& options);
/// Checks that the log could be opened; creates nothing. Errors: as above.
support::Result<void> check_log(const LogOptions& options);
/// Changes the level, which has been checked. Thread-safe.
void set_level(const Log& log, const std::string& level);
/// Returns a log that drops everything, for tests.
Log silent_log();

}  // namespace schaas::server
