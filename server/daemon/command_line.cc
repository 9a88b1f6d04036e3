#include "server/daemon/command_line.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <utility>

#include "server/auth/tokens.h"
#include "server/daemon/configuration_file.h"
#include "server/daemon/options_check.h"
#include "server/storage/backup.h"

// The command line and the configuration file, by CLI11; the declarations are the documentation, since help
// and manual page are printed from them. Values are written into `Written` first, with the types that the
// library parses. The library's messages name no line of a file, so files are checked by hand before
// (configuration_file.h), and its errors are located afterwards.
// Each option may have former names; the first is the one that is printed.
namespace schaas::server {
namespace {

using support::Diagnostic;
using support::Result;

constexpr long private_idle = 900;

/// Options as parsed, before they are converted to CommandLine.
struct Written {
  CommandLine command;
  std::string data_directory;
  std::string file;
  std::string socket_mode = "600";
  long idle = -1;
  long drain = command.daemon.drain.count();
  long longest = command.daemon.max_request_time.count();
  long max_item_time = command.daemon.max_item_time.count();
  long write_timeout = std::chrono::duration_cast<std::chrono::seconds>(command.daemon.write_timeout).count();
  std::string new_token;
  long handshake_timeout =
      std::chrono::duration_cast<std::chrono::seconds>(command.daemon.handshake_timeout).count();
  long job_days = std::chrono::duration_cast<std::chrono::days>(command.daemon.jobs.retention).count();
  long solver = command.daemon.search.solver_milliseconds / 1000;
  long min_age = command.daemon.cache.min_age.count();
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
  app.add_flag("--http-any", out.command.daemon.http_any,
               "allow other addresses for --http, which then serves metrics and health alone");
  app.add_option("--data-dir", out.data_directory,
                 "state (default: $XDG_DATA_HOME/schaas or ~/.local/share/schaas)");
  app.add_option("--database", out.command.daemon.database,
                 "file with the connection string of a PostgreSQL database, which servers share (default: "
                 "SQLite in the data directory)");
}

/// Declares keys, certificates, tokens and the mode of sockets.
void declare_trust(CLI::App& app, Written& out) {
  DaemonOptions& daemon = out.command.daemon;
  app.add_option("--signing-key", daemon.signing_key,
                 "private key for signing kernels (default: signing.key in the data directory)");
  app.add_option("--tls-cert", daemon.tls.certificate, "certificate chain for TCP addresses (PEM)");
  app.add_option("--tls-key", daemon.tls.key, "its private key (PEM)");
  app.add_option("--tls-client-ca", daemon.tls.client_ca,
                 "certificate authority that must have issued the certificates of TCP clients (PEM)");
  app.add_option("--tokens", daemon.tokens,
                 "file of bearer tokens with scopes and quotas; clients must authenticate with one");
  app.add_flag("--insecure-tcp", daemon.insecure_tcp,
               "allow TCP without TLS on addresses other than loopback");
  app.add_option("--socket-mode", out.socket_mode, "permissions of Unix sockets, octal")->type_name("MODE");
}

/// Declares time limits; numbers are seconds.
void declare_times(CLI::App& app, Written& out) {
  app.add_option(
         "--idle-seconds", out.idle,
         "idle timeout: stop after this time without a request; 0: never; -1: 900 with --private, else never")
      ->check(CLI::Range(-1L, 1'000'000'000L));
  app.add_option("--drain-seconds", out.drain, "time for running requests to finish when stopping")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--request-seconds", out.longest, "time limit of a request")
      ->check(CLI::Range(1L, 1'000'000'000L));
  app.add_option("--item-seconds", out.max_item_time, "time limit of one request of a job")
      ->check(CLI::Range(1L, 1'000'000'000L));
  app.add_option("--write-timeout-seconds,--transfer-seconds", out.write_timeout,
                 "write timeout: a client that reads nothing for this long is disconnected")
      ->check(CLI::Range(1L, 1'000'000L));
  app.add_option("--handshake-timeout-seconds,--handshake-seconds", out.handshake_timeout,
                 "handshake timeout of a new connection")
      ->check(CLI::Range(1L, 3'600L));
}

/// Declares limits of searches, compilations, stores, messages and threads.
void declare_work(CLI::App& app, Written& out) {
  Admission& admission = out.command.daemon.admission;
  app.add_option("--searches", admission.searches, "concurrent searches")->check(CLI::Range(1, 256));
  app.add_option("--compilations", admission.compilations, "concurrent compilations")
      ->check(CLI::Range(1, 256));
  app.add_option("--max-waiting-searches,--waiting-searches", admission.waiting_searches,
                 "queued searches; further ones are refused")
      ->check(CLI::Range(0, 100'000));
  app.add_option("--max-waiting-compilations,--waiting-compilations", admission.waiting_compilations,
                 "queued compilations; further ones are refused")
      ->check(CLI::Range(0, 100'000));
  app.add_option(
         "--search-seconds", out.command.daemon.search.seconds,
         "time limit of a search, and the longest that a request may ask for; then parts of the space stand "
         "for the whole")
      ->check(CLI::Range(1.0, 1e9));
  app.add_option("--solver-seconds", out.solver,
                 "limit of the solver in one search, counted in steps; remaining queries stay undecided")
      ->check(CLI::Range(0L, 1'000'000L));
  app.add_option("--query-milliseconds", out.command.daemon.search.query_milliseconds,
                 "limit of one solver query, counted in steps; then it stays undecided")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--kernels", out.command.daemon.max_kernels, "kernels compiled of one frontier")
      ->check(CLI::Range(6, 4096));
  app.add_option("--compile-seconds", out.command.daemon.compile_seconds, "time limit of one compilation")
      ->check(CLI::Range(1, 86'400));
  app.add_option("--compile-bytes", out.command.daemon.compile_memory, "address space of one compiler")
      ->check(CLI::Range(std::uint64_t{1} << 27, std::uint64_t{1} << 40));
  app.add_option("--cuda-compile-seconds", out.command.daemon.cuda_compile_seconds,
                 "time limit of one compilation for GPUs")
      ->check(CLI::Range(1, 86'400));
  app.add_option("--source-bytes", out.command.daemon.source_bytes, "size limit of a kernel's source")
      ->check(CLI::Range(std::size_t{1} << 16, std::size_t{1} << 30));
  app.add_option("--compiler-reads", out.command.daemon.compiler_reads,
                 "folder that compilers may read beside the system's; may be repeated")
      ->default_str("");
  app.add_option("--cache-min-age-seconds,--cache-grace-seconds", out.min_age,
                 "minimum age: items used within this time are never evicted")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--cache-bytes", out.command.daemon.cache.bytes,
                 "size of the stored binaries above which the least recently used are evicted; 0: no limit");
  app.add_option("--frontier-bytes", out.command.daemon.cache.frontier_bytes,
                 "size of the stored frontiers above which the least recently used are evicted; 0: no limit");
  app.add_option("--job-bytes", out.command.daemon.jobs.bytes,
                 "size of the stored jobs above which the longest ended are evicted; 0: no limit");
  app.add_option("--job-days", out.job_days, "days after which ended jobs are purged; 0: never")
      ->check(CLI::Range(0L, 100'000L));
  app.add_option("--items", out.command.daemon.items, "items of jobs worked on at once; 0: none")
      ->check(CLI::Range(0, 256));
  app.add_option("--response-cache-bytes,--reply-bytes", out.command.daemon.response_cache.bytes,
                 "memory of the response cache; 0: no caching");
  app.add_option("--solver-bytes", out.command.daemon.solver_memory,
                 "address space of each schaas-solver; a query that needs more stays undecided")
      ->check(CLI::Range(std::uint64_t{1} << 26, std::uint64_t{1} << 40));
  app.add_option("--message-bytes", out.command.daemon.message_bytes, "size limit of received messages")
      ->check(CLI::Range(1 << 16, 1 << 30));
  app.add_option("--connection-bytes", out.command.daemon.connection_memory,
                 "memory for incomplete messages of all connections; above it they are cancelled")
      ->check(CLI::Range(std::uint64_t{1} << 24, std::uint64_t{1} << 40));
  app.add_option("--streams", out.command.daemon.streams, "concurrent calls of one connection")
      ->check(CLI::Range(1, 100'000));
  app.add_option(
         "--connections", out.command.daemon.connections,
         "concurrent connections of all clients; one host, or user of a Unix socket, has at most half")
      ->check(CLI::Range(2, 1'000'000));
  app.add_option("--threads", out.command.daemon.threads, "concurrent calls")->check(CLI::Range(8, 4096));
}

// Declares the limits of requests, at most those of the language.
void declare_requests(CLI::App& app, Written& out) {
  DaemonOptions& daemon = out.command.daemon;
  ProblemLimits& problems = daemon.search.problems;
  const auto up_to = [](std::size_t most) { return CLI::Range(std::size_t{1}, most); };
  app.add_option("--expression-bytes", problems.expression_bytes, "size limit of an expression")
      ->check(up_to(problems.expression_bytes));
  app.add_option("--nesting", problems.nesting, "nesting depth of parentheses and calls")
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

// Declares the options of the command line that a configuration file must not have.
void declare_modes(CLI::App& app, Written& out) {
  app.set_version_flag("--version", "schaasd " SCHAAS_VERSION)->configurable(false);
  app.get_help_ptr()->configurable(false);
  app.add_flag("--private", out.command.is_private,
               "serve one user: Unix sockets only, log to the data directory, stop after 15 idle minutes")
      ->configurable(false);
  app.add_flag("--adopt-toolchain", out.command.daemon.adopt_toolchain,
               "make the compilers of this machine those of all servers of the database")
      ->configurable(false);
  app.add_flag("--worker", out.command.daemon.worker,
               "take items of jobs from the database and listen nowhere; --idle-seconds ends it")
      ->configurable(false);
  app.set_config("--config", "", "read options from this file; the command line takes precedence")
      ->configurable(false);
  app.add_option("--new-token", out.new_token, "print a new token for NAME and exit")->configurable(false);
  app.add_option("--restore", out.restore, "restore this backup into the data directory and exit")
      ->configurable(false);
  app.add_flag("--check-config", out.check_only,
               "check whether a start with these options would succeed and exit")
      ->configurable(false);
  app.add_flag("--print-config", out.print_only,
               "print every option with its value as a configuration file and exit")
      ->configurable(false);
}

// Returns the options of the configuration file, former names included.
std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_configurable()) continue;
    names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  }
  return names;
}

// Returns the value of each option as a configuration file writes it; an empty array cannot be written there.
constexpr const char* none = "[]";
std::map<std::string, std::string> settings_of(const CLI::App& app) {
  std::map<std::string, std::string> out;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_configurable()) out[option->get_single_name()] = "\"\"";
  }
  // The library's own text has every option with its value; texts without a value are added above.
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

// Points the error into the configuration file when the mistake is there.
Diagnostic explained(Diagnostic error, const CLI::App& app) {
  const auto file = app["--config"]->as<std::string>();
  return file.empty() ? error : located(std::move(error), file, names_of(app));
}

/// Checks values by themselves, without looking at files.
Result<void> check_values(const CommandLine& command) {
  SCHAAS_RETURN_IF_ERROR(check_log_level(command.log.level));
  for (const auto& listen : command.daemon.listen) {
    if (command.is_private && !listen.starts_with("unix:")) {
      return support::invalid("command-line",
                              "a --private daemon listens on Unix sockets only, not on `" + listen + "`");
    }
    SCHAAS_RETURN_IF_ERROR(parse_listen_address(listen));
  }
  if (!command.daemon.http.empty())
    SCHAAS_RETURN_IF_ERROR(check_http_address(command.daemon.http, command.daemon.http_reach()));
  return {};
}

// Checks files, folders and addresses beside the options themselves.
Result<void> check_start(const CommandLine& command) {
  SCHAAS_RETURN_IF_ERROR(check_log(command.log));
  return check_options(command.daemon);
}

/// Reads an octal mode. The owner must be able to connect, and sockets are not executed.
Result<unsigned> mode_of(const std::string& text) {
  const bool octal =
      !text.empty() && text.size() <= 4 && text.find_first_not_of("01234567") == std::string::npos;
  const unsigned mode = octal ? static_cast<unsigned>(std::stoul(text, nullptr, 8)) : 0;
  if (octal && (mode & 0600) == 0600 && (mode & ~0666U) == 0) return mode;
  return support::invalid("command-line",
                          "--socket-mode: `" + text + "` is no mode of a socket; expected 600, 660 or 666");
}

/// Converts numbers and texts to the types of the options, and fills in defaults that depend on others.
Result<CommandLine> meaning_of(Written written) {
  CommandLine out = std::move(written.command);
  if (written.data_directory.empty()) {
    SCHAAS_ASSIGN_OR_RETURN(written.data_directory, default_data_directory());
  }
  out.daemon.data_directory = absolute_directory(written.data_directory);
  out.daemon.version = SCHAAS_VERSION;
  SCHAAS_ASSIGN_OR_RETURN(out.daemon.socket_mode, mode_of(written.socket_mode));
  // A private daemon ends after some idle time by default.
  out.daemon.idle =
      std::chrono::seconds(written.idle >= 0 ? written.idle : (out.is_private ? private_idle : 0));
  out.daemon.search.solver_milliseconds = static_cast<int>(written.solver * 1000);
  out.daemon.cache.min_age = std::chrono::seconds(written.min_age);
  out.daemon.jobs.retention = std::chrono::days(written.job_days);
  out.daemon.drain = std::chrono::seconds(written.drain);
  out.daemon.max_request_time = std::chrono::seconds(written.longest);
  out.daemon.max_item_time = std::chrono::seconds(written.max_item_time);
  out.daemon.write_timeout = std::chrono::seconds(written.write_timeout);
  out.daemon.handshake_timeout = std::chrono::seconds(written.handshake_timeout);
  SCHAAS_RETURN_IF_ERROR(check_values(out));
  return out;
}

// Checks the configuration file before the library reads it, whose messages name no line.
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

Result<std::variant<CommandLine, Exit>> parse_command_line(int argc, const char* const* argv) {
  using Out = std::variant<CommandLine, Exit>;
  Written written;
  CLI::App app("schaasd: schedules, compiles and caches sparse tensor kernels", "schaasd");
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
    return Out(Exit{0});
  } catch (const CLI::ParseError& error) {
    return explained(
        support::noting(support::invalid("command-line", error.what()), "schaasd --help lists the options"),
        app);
  }
  if (!written.new_token.empty()) {
    SCHAAS_RETURN_IF_ERROR(check_token_name(written.new_token));
    std::cout << introduction(written.new_token, make_token());
    return Out(Exit{0});
  }
  auto command = meaning_of(written);
  if (!command.ok()) return explained(command.error(), app);
  command->settings = settings_of(app);
  if (written.print_only) {
    for (const auto& [name, value] : command->settings)
      std::cout << (value == none ? "# " : "") << name << " = " << value << "\n";
    return Out(Exit{0});
  }
  // A restore takes the lock, so it is refused beside a running daemon.
  if (!written.restore.empty()) {
    SCHAAS_ASSIGN_OR_RETURN(const DataDirectory directory,
                            DataDirectory::open(command->daemon.data_directory));
    SCHAAS_RETURN_IF_ERROR(restore(directory, absolute_directory(written.restore)));
    std::cout << "restored; the previous content is in " << directory.path() << "/before-restore\n";
    return Out(Exit{0});
  }
  if (written.check_only) {
    SCHAAS_RETURN_IF_ERROR(check_start(*command));
    std::cout << "the configuration is valid\n";
    return Out(Exit{0});
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
