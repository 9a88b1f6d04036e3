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

/// Errors: invalid [log-level] (with suggestion), [log-file].
support::Result<Log> open_log(const LogOptions& options);
/// Drops everything: for tests.
Log silent_log();

}  // namespace schaas::server
