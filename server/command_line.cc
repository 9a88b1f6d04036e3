#include "server/command_line.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <utility>

#include "server/backup.h"
#include "server/configuration_file.h"
#include "server/options_check.h"
#include "server/tokens.h"

namespace schaas::server {
namespace {

using support::Diagnostic;
using support::Result;

constexpr long private_idle = 900;

/// The options as they are written; CommandLine says what they mean.
struct Written {
  CommandLine command;
  std::string data_directory;
  std::string file;
  std::string socket_mode = "600";
  long idle = -1;
  long drain = command.daemon.drain.count();
  long longest = command.daemon.longest_request.count();
  long longest_item = command.daemon.longest_item.count();
  long transfer = std::chrono::duration_cast<std::chrono::seconds>(command.daemon.transfer).count();
  std::string new_token;
  long handshake = std::chrono::duration_cast<std::chrono::seconds>(command.daemon.handshake).count();
  long job_days = std::chrono::duration_cast<std::chrono::days>(command.daemon.jobs.kept).count();
  long solver = command.daemon.search.solver_milliseconds / 1000;
  long grace = command.daemon.cache.grace.count();
  std::string restore;
  bool check_only = false, print_only = false;
};

void declare_addresses(CLI::App& app, Written& out) {
  app.add_option(
         "--listen", out.command.daemon.listen,
         "unix:/path or host:port; may be repeated (default: the socket schaasd.sock in the data directory)")
      ->default_str("");
  app.add_option(
      "--http", out.command.daemon.http,
      "host:port on the loopback interface for metrics, health and the status page (default: nowhere)");
  app.add_option("--data-dir", out.data_directory,
                 "state (default: $XDG_DATA_HOME/schaas or ~/.local/share/schaas)");
}

void declare_trust(CLI::App& app, Written& out) {
  DaemonOptions& daemon = out.command.daemon;
  app.add_option("--signing-key", daemon.signing_key,
                 "file of the key that kernels are signed with (default: signing.key in the data directory)");
  app.add_option("--tls-cert", daemon.tls.certificate,
                 "certificate of TCP addresses (PEM), with those up to its root");
  app.add_option("--tls-key", daemon.tls.key, "its private key (PEM)");
  app.add_option("--tls-client-ca", daemon.tls.client_authority,
                 "clients over TCP must have a certificate from this authority (PEM)");
  app.add_option("--tokens", daemon.tokens,
                 "file of the tokens that clients must have, with scopes and quotas");
  app.add_flag("--insecure-tcp", daemon.insecure_tcp, "listen without TLS where other machines reach");
  app.add_option("--socket-mode", out.socket_mode, "permissions of Unix sockets, octal")->type_name("MODE");
}

void declare_times(CLI::App& app, Written& out) {
  app.add_option("--idle-seconds", out.idle,
                 "stop after so long without a request; 0: never; -1: 900 with --private, else never")
      ->check(CLI::Range(-1L, 1'000'000'000L));
  app.add_option("--drain-seconds", out.drain, "time running requests have when stopping")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--request-seconds", out.longest, "longest time one request may take")
      ->check(CLI::Range(1L, 1'000'000'000L));
  app.add_option("--item-seconds", out.longest_item, "longest time the work on one request of a job may take")
      ->check(CLI::Range(1L, 1'000'000'000L));
  app.add_option("--transfer-seconds", out.transfer,
                 "a client that takes nothing of what is sent for so long is left")
      ->check(CLI::Range(1L, 1'000'000L));
  app.add_option("--handshake-seconds", out.handshake,
                 "a new connection that has not said hello by then is closed")
      ->check(CLI::Range(1L, 3'600L));
}

void declare_work(CLI::App& app, Written& out) {
  Admission& admission = out.command.daemon.admission;
  app.add_option("--searches", admission.searches, "searches side by side")->check(CLI::Range(1, 256));
  app.add_option("--compilations", admission.compilations, "compilations side by side")
      ->check(CLI::Range(1, 256));
  app.add_option("--waiting-searches", admission.waiting_searches, "searches that may wait; more are refused")
      ->check(CLI::Range(0, 100'000));
  app.add_option("--waiting-compilations", admission.waiting_compilations,
                 "compilations that may wait; more are refused")
      ->check(CLI::Range(0, 100'000));
  app.add_option("--search-seconds", out.command.daemon.search.seconds,
                 "time of a search whose request does not say; then parts of the space stand for the whole")
      ->check(CLI::Range(1.0, 1e9));
  app.add_option("--solver-seconds", out.solver,
                 "time of the solver in one search; the questions that are left then stay open")
      ->check(CLI::Range(0L, 1'000'000L));
  app.add_option("--query-milliseconds", out.command.daemon.search.query_milliseconds,
                 "time of one question to the solver; then it stays open")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--kernels", out.command.daemon.most_kernels, "kernels compiled of one frontier")
      ->check(CLI::Range(6, 4096));
  app.add_option("--compile-seconds", out.command.daemon.compile_seconds, "time of one compilation")
      ->check(CLI::Range(1, 86'400));
  app.add_option("--compile-bytes", out.command.daemon.compile_memory, "address space of one compiler")
      ->check(CLI::Range(std::uint64_t{1} << 27, std::uint64_t{1} << 40));
  app.add_option("--cuda-compile-seconds", out.command.daemon.cuda_compile_seconds,
                 "time of one compilation for GPUs")
      ->check(CLI::Range(1, 86'400));
  app.add_option("--source-bytes", out.command.daemon.source_bytes, "longest source of a kernel")
      ->check(CLI::Range(std::size_t{1} << 16, std::size_t{1} << 30));
  app.add_option("--compiler-reads", out.command.daemon.compiler_reads,
                 "folder that compilers may read beside the system's; may be repeated")
      ->default_str("");
  app.add_option("--cache-grace-seconds", out.grace, "what was used within so long is never evicted")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--cache-bytes", out.command.daemon.cache.bytes,
                 "size of the stored binaries above which those used longest ago go; 0: no limit");
  app.add_option("--frontier-bytes", out.command.daemon.cache.frontier_bytes,
                 "size of the stored frontiers above which those used longest ago go; 0: no limit");
  app.add_option("--job-bytes", out.command.daemon.jobs.bytes,
                 "size of the stored jobs above which those that ended longest ago go; 0: no limit");
  app.add_option("--job-days", out.job_days, "jobs that ended longer ago are forgotten; 0: never")
      ->check(CLI::Range(0L, 100'000L));
  app.add_option("--reply-bytes", out.command.daemon.replies.bytes,
                 "memory for replies that are told again while nothing changes; 0: none are kept");
  app.add_option("--solver-bytes", out.command.daemon.solver_memory,
                 "address space of each schaas-solver; a question that takes more stays open")
      ->check(CLI::Range(std::uint64_t{1} << 26, std::uint64_t{1} << 40));
  app.add_option("--message-bytes", out.command.daemon.message_bytes, "longest message that is received")
      ->check(CLI::Range(1 << 16, 1 << 30));
  app.add_option(
         "--connection-bytes", out.command.daemon.connection_memory,
         "memory for messages that have not come whole, of all connections; beyond it they are cut off")
      ->check(CLI::Range(std::uint64_t{1} << 24, std::uint64_t{1} << 40));
  app.add_option("--streams", out.command.daemon.streams, "calls of one connection at the same moment")
      ->check(CLI::Range(1, 100'000));
  app.add_option("--threads", out.command.daemon.threads, "calls served at once")->check(CLI::Range(8, 4096));
}

// What a request may ask for. The language's own limits are the most that can be allowed.
void declare_requests(CLI::App& app, Written& out) {
  DaemonOptions& daemon = out.command.daemon;
  ProblemLimits& problems = daemon.search.problems;
  const auto up_to = [](std::size_t most) { return CLI::Range(std::size_t{1}, most); };
  app.add_option("--expression-bytes", problems.expression_bytes, "longest expression")
      ->check(up_to(problems.expression_bytes));
  app.add_option("--nesting", problems.nesting, "parentheses and calls in each other")
      ->check(up_to(problems.nesting));
  app.add_option("--operands", problems.operands, "accesses on the right of a statement")
      ->check(up_to(problems.operands));
  app.add_option("--indices", problems.indices, "indices of a problem")->check(up_to(problems.indices));
  app.add_option("--constraints", problems.constraints, "constraints of a problem")
      ->check(up_to(problems.constraints));
  app.add_option("--job-requests", daemon.job_requests, "requests of one job")->check(up_to(1'000'000));
}

void declare_log(CLI::App& app, Written& out) {
  app.add_option("--log-level", out.command.log.level, "trace, debug, info, warning, error or off");
  app.add_option("--log-file", out.command.log.file, "default: standard error");
}

// What stands on a command line only.
void declare_modes(CLI::App& app, Written& out) {
  app.set_version_flag("--version", "schaasd " SCHAAS_VERSION)->configurable(false);
  app.get_help_ptr()->configurable(false);
  app.add_flag("--private", out.command.is_private,
               "serve one user: Unix sockets only, log to the data directory, stop after 15 idle minutes")
      ->configurable(false);
  app.set_config("--config", "", "read options from this file; those of the command line go before it")
      ->configurable(false);
  app.add_option("--new-token", out.new_token, "print a fresh token for NAME, and leave")
      ->configurable(false);
  app.add_option("--restore", out.restore,
                 "put this backup in place of what the data directory holds, and leave")
      ->configurable(false);
  app.add_flag("--check-config", out.check_only,
               "say whether a start with these options would succeed, and leave")
      ->configurable(false);
  app.add_flag("--print-config", out.print_only, "print every option with its value as a file, and leave")
      ->configurable(false);
}

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_configurable()) names.push_back(option->get_single_name());
  }
  return names;
}

// By option, its value as a configuration file writes it; an empty array cannot be written there.
constexpr const char* none = "[]";
std::map<std::string, std::string> settings_of(const CLI::App& app) {
  std::map<std::string, std::string> out;
  for (const std::string& name : names_of(app)) out[name] = "\"\"";
  std::istringstream lines(app.config_to_str(true));
  for (std::string line; std::getline(lines, line);) {
    const auto equals = line.find('=');
    if (equals != std::string::npos) out[line.substr(0, equals)] = line.substr(equals + 1);
  }
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_configurable() && option->empty() && option->get_expected_max() > 1)
      out[option->get_single_name()] = none;
  }
  return out;
}

// Pointing into the configuration file when the mistake is there.
Diagnostic explained(Diagnostic error, const CLI::App& app) {
  const auto file = app["--config"]->as<std::string>();
  return file.empty() ? error : located(std::move(error), file, names_of(app));
}

Result<void> check_values(const CommandLine& command) {
  SCHAAS_RETURN_IF_ERROR(check_log_level(command.log.level));
  for (const auto& listen : command.daemon.listen) {
    if (command.is_private && !listen.starts_with("unix:")) {
      return support::invalid("command-line",
                              "a --private daemon listens on Unix sockets only, not on `" + listen + "`");
    }
    SCHAAS_RETURN_IF_ERROR(parse_listen_address(listen));
  }
  if (!command.daemon.http.empty()) SCHAAS_RETURN_IF_ERROR(check_http_address(command.daemon.http));
  return {};
}

// What is there beside the options: files, folders, and how all of it fits together.
Result<void> check_start(const CommandLine& command) {
  SCHAAS_RETURN_IF_ERROR(check_log(command.log));
  return check_options(command.daemon);
}

Result<unsigned> mode_of(const std::string& text) {
  const bool octal =
      !text.empty() && text.size() <= 4 && text.find_first_not_of("01234567") == std::string::npos;
  const unsigned mode = octal ? static_cast<unsigned>(std::stoul(text, nullptr, 8)) : 0;
  if (octal && (mode & 0600) == 0600 && (mode & ~0666U) == 0) return mode;
  return support::invalid("command-line",
                          "--socket-mode: `" + text + "` is no mode of a socket; expected 600, 660 or 666");
}

Result<CommandLine> meaning_of(Written written) {
  CommandLine out = std::move(written.command);
  if (written.data_directory.empty()) {
    SCHAAS_ASSIGN_OR_RETURN(written.data_directory, default_data_directory());
  }
  out.daemon.data_directory = absolute_directory(written.data_directory);
  out.daemon.version = SCHAAS_VERSION;
  SCHAAS_ASSIGN_OR_RETURN(out.daemon.socket_mode, mode_of(written.socket_mode));
  out.daemon.idle =
      std::chrono::seconds(written.idle >= 0 ? written.idle : (out.is_private ? private_idle : 0));
  out.daemon.search.solver_milliseconds = static_cast<int>(written.solver * 1000);
  out.daemon.cache.grace = std::chrono::seconds(written.grace);
  out.daemon.jobs.kept = std::chrono::days(written.job_days);
  out.daemon.drain = std::chrono::seconds(written.drain);
  out.daemon.longest_request = std::chrono::seconds(written.longest);
  out.daemon.longest_item = std::chrono::seconds(written.longest_item);
  out.daemon.transfer = std::chrono::seconds(written.transfer);
  out.daemon.handshake = std::chrono::seconds(written.handshake);
  SCHAAS_RETURN_IF_ERROR(check_values(out));
  return out;
}

// Before the library reads it: its messages name no line.
Result<void> check_file(const CLI::App& app, int argc, const char* const* argv) {
  for (int a = 1; a < argc; ++a) {
    const std::string word = argv[a];
    const bool apart = word == "--config" && a + 1 < argc;
    if (!apart && !word.starts_with("--config=")) continue;
    SCHAAS_RETURN_IF_ERROR(check_configuration_file(
        apart ? argv[a + 1] : word.substr(std::string_view("--config=").size()), names_of(app)));
  }
  return {};
}

}  // namespace

Result<std::variant<CommandLine, Leave>> parse_command_line(int argc, const char* const* argv) {
  using Out = std::variant<CommandLine, Leave>;
  Written written;
  CLI::App app("schaasd: schedules, compiles and remembers sparse tensor kernels", "schaasd");
  app.option_defaults()->always_capture_default();
  declare_addresses(app, written);
  declare_trust(app, written);
  declare_times(app, written);
  declare_work(app, written);
  declare_requests(app, written);
  declare_log(app, written);
  declare_modes(app, written);
  SCHAAS_RETURN_IF_ERROR(check_file(app, argc, argv));
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    app.exit(success, std::cout, std::cerr);
    return Out(Leave{0});
  } catch (const CLI::ParseError& error) {
    return explained(
        support::noting(support::invalid("command-line", error.what()), "schaasd --help lists the options"),
        app);
  }
  if (!written.new_token.empty()) {
    SCHAAS_RETURN_IF_ERROR(check_token_name(written.new_token));
    std::cout << introduction(written.new_token, make_token());
    return Out(Leave{0});
  }
  auto command = meaning_of(written);
  if (!command.ok()) return explained(command.error(), app);
  command->settings = settings_of(app);
  if (written.print_only) {
    for (const auto& [name, value] : command->settings)
      std::cout << (value == none ? "# " : "") << name << " = " << value << "\n";
    return Out(Leave{0});
  }
  if (!written.restore.empty()) {
    SCHAAS_ASSIGN_OR_RETURN(const DataDirectory directory,
                            DataDirectory::open(command->daemon.data_directory));
    SCHAAS_RETURN_IF_ERROR(restore(directory, absolute_directory(written.restore)));
    std::cout << "restored; what was there is in " << directory.path() << "/before-restore\n";
    return Out(Leave{0});
  }
  if (written.check_only) {
    SCHAAS_RETURN_IF_ERROR(check_start(*command));
    std::cout << "the configuration is right\n";
    return Out(Leave{0});
  }
  return Out(std::move(command).value());
}

std::vector<std::string> changed_settings(const CommandLine& before, const CommandLine& after) {
  std::vector<std::string> out;
  for (const auto& [name, value] : after.settings) {
    const auto old = before.settings.find(name);
    if (old == before.settings.end() || old->second != value) out.push_back(name);
  }
  return out;
}

}  // namespace schaas::server
