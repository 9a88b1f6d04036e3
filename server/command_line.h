#pragma once
#include <map>
#include <string>
#include <variant>

#include "server/daemon.h"
#include "server/log.h"

namespace schaas::server {

/// What the command line of schaasd, and the configuration file it names, ask for.
struct CommandLine {
  DaemonOptions daemon;
  LogOptions log;
  bool is_private = false;
  /// Every option of the configuration file by name, with its value as the file would write it.
  std::map<std::string, std::string> settings;
};

/// Or: nothing to run, exit with this status (--help, --version, --check-config, --print-config).
struct Leave {
  int status = 0;
};

/// Reads no more than the configuration file; makes nothing, but --restore does its work here. The command
/// line goes before the file. Errors: invalid [command-line], [configuration] (points into the file),
/// [log-level], [listen], [data-directory]; those of restore, and with --check-config of check_options.
support::Result<std::variant<CommandLine, Leave>> parse_command_line(int argc, const char* const* argv);

/// Names of the options whose values differ, sorted.
std::vector<std::string> changed_settings(const CommandLine& before, const CommandLine& after);

}  // namespace schaas::server
