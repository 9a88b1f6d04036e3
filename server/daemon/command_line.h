#pragma once
#include <map>
#include <string>
#include <variant>

#include "server/daemon/daemon.h"
#include "server/telemetry/log.h"

namespace schaas::server {

/// Parsed command line of schaasd and of the configuration file it names.
struct CommandLine {
  DaemonOptions daemon;
  LogOptions log;
  bool is_private = false;
  /// Options of the configuration file by name, with values as the file would write them.
  std::map<std::string, std::string> settings;
};

/// Exit without running (--help, --version, --check-config, --print-config).
struct Exit {
  int status = 0;
};

/// Parses the command line and the configuration file; the command line takes precedence. Creates nothing,
/// except that --restore does its work here. Errors: invalid [command-line], [configuration] (points into the
/// file), [log-level], [listen], [data-directory]; those of restore, and with --check-config of
/// check_options.
support::Result<std::variant<CommandLine, Exit>> parse_command_line(int argc, const char* const* argv);

/// Returns the names of the options whose values differ, sorted.
std::vector<std::string> changed_settings(const CommandLine& before, const CommandLine& after);

}  // namespace schaas::server
