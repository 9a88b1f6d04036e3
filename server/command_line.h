#pragma once
#include <variant>

#include "server/daemon.h"
#include "server/log.h"

namespace schaas::server {

/// What the command line of schaasd asks for.
struct CommandLine {
  DaemonOptions daemon;
  LogOptions log;
  bool is_private = false;
};

/// Or: nothing to run, exit with this status (--help, --version).
struct Leave {
  int status = 0;
};

/// Errors: invalid [command-line], [data-directory].
support::Result<std::variant<CommandLine, Leave>> parse_command_line(int argc, const char* const* argv);

}  // namespace schaas::server
