#include "server/command_line.h"

#include <CLI/CLI.hpp>
#include <iostream>

namespace schaas::server {

using support::Result;

Result<std::variant<CommandLine, Leave>> parse_command_line(int argc, const char* const* argv) {
  CommandLine out;
  long idle = -1, drain = 10, longest = 3600;
  std::string data_directory;
  CLI::App app("schaasd: schedules, compiles and remembers sparse tensor kernels", "schaasd");
  app.set_version_flag("--version", "schaasd " SCHAAS_VERSION);
  app.add_option(
      "--listen", out.daemon.listen,
      "unix:/path or host:port; may be repeated (default: the socket schaasd.sock in the data directory)");
  app.add_option("--data-dir", data_directory,
                 "state (default: $XDG_DATA_HOME/schaas or ~/.local/share/schaas)");
  app.add_flag("--private", out.is_private,
               "serve one user: Unix sockets only, log to the data directory, stop after 15 idle minutes");
  app.add_option("--idle-seconds", idle, "stop after so long without a request; 0: never")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--drain-seconds", drain, "time running requests have when stopping")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--request-seconds", longest, "longest time one request may take")
      ->check(CLI::PositiveNumber);
  app.add_option("--searches", out.daemon.admission.searches, "searches side by side")
      ->check(CLI::Range(1, 256));
  app.add_option("--compilations", out.daemon.admission.compilations, "compilations side by side")
      ->check(CLI::Range(1, 256));
  app.add_option("--threads", out.daemon.threads, "calls served at once")->check(CLI::Range(8, 4096));
  app.add_option("--log-level", out.log.level, "trace, debug, info, warning, error or off");
  app.add_option("--log-file", out.log.file, "default: standard error");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    app.exit(success, std::cout, std::cerr);
    return std::variant<CommandLine, Leave>(Leave{0});
  } catch (const CLI::ParseError& error) {
    return support::noting(support::invalid("command-line", error.what()),
                           "schaasd --help lists the options");
  }
  if (data_directory.empty()) {
    SCHAAS_ASSIGN_OR_RETURN(data_directory, default_data_directory());
  }
  out.daemon.data_directory = absolute_directory(data_directory);
  out.daemon.version = SCHAAS_VERSION;
  constexpr long private_idle = 900;
  out.daemon.idle = std::chrono::seconds(idle >= 0 ? idle : (out.is_private ? private_idle : 0));
  out.daemon.drain = std::chrono::seconds(drain);
  out.daemon.longest_request = std::chrono::seconds(longest);
  for (const auto& listen : out.daemon.listen) {
    if (out.is_private && !listen.starts_with("unix:")) {
      return support::invalid("command-line",
                              "a --private daemon listens on Unix sockets only, not on `" + listen + "`");
    }
  }
  return std::variant<CommandLine, Leave>(std::move(out));
}

}  // namespace schaas::server
