// schaasd: the daemon. docs/operations.md.
#include <fcntl.h>
#include <google/protobuf/stubs/logging.h>
#include <grpc/grpc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "server/daemon/command_line.h"
#include "server/daemon/service_manager.h"

// The process around the daemon: signals, terminal, allocator, log. Signals are blocked in every thread
// before any is started and taken one at a time by the main thread, so no handler runs anywhere. A reload
// changes only what is listed; everything else waits for the next start, which the log says.

/// Read by jemalloc at the start of the program, which server/CMakeLists.txt links. One arena without thread
/// caches returns its free pages to the system within a second. MALLOC_CONF takes precedence.
extern "C" {
extern const char* const malloc_conf;
const char* const malloc_conf =
    "narenas:1,background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0,tcache:false";
}

namespace {

using namespace schaas;

int fail(const support::Diagnostic& error) {
  std::cerr << "schaasd: " << support::render(error) << "\n";
  return support::exit_code(error.family);
}

// Returns the handled signals: SIGTERM and SIGINT stop, SIGHUP reloads. Every thread blocks them;
// sigtimedwait takes them.
sigset_t handled_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

// Detaches a private daemon from the terminal it was started from, and from its files.
void leave_terminal() {
  setsid();
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return;
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, standard);
  close(null);
}

// Options that take effect without a restart.
constexpr std::array reloaded_options = {"log-level"};

/// A running daemon and its command line.
struct Running {
  int argc;
  const char* const* argv;
  server::CommandLine command;
  server::Daemon& daemon;
  const server::Log& log;
};

// Applies the options that can change at run time; logs the others and keeps them as they were.
void reload(Running& running) {
  auto read = server::parse_command_line(running.argc, running.argv);
  if (!read.ok()) {
    running.log->error("reload failed, options unchanged: {}", support::render(read.error()));
    return;
  }
  auto& command = std::get<server::CommandLine>(*read);
  for (const auto& name : server::changed_settings(running.command, command)) {
    if (std::find(reloaded_options.begin(), reloaded_options.end(), name) != reloaded_options.end()) {
      running.log->info("reload: {} = {}", name, command.settings[name]);
      running.command.settings[name] = command.settings[name];
    } else {
      running.log->warn("reload: {} = {} takes effect at the next start", name, command.settings[name]);
    }
  }
  server::set_level(running.log, command.log.level);
  if (const auto tokens = running.daemon.reload(); !tokens.ok())
    running.log->error("reload failed, tokens unchanged: {}", support::render(tokens.error()));
  running.log->info("reloaded");
}

/// Says who sent a signal, since a service that ends is asked why. A terminal has no process.
std::string sender_of(const siginfo_t& info) {
  if (info.si_pid == 0) return "";
  return " of process " + std::to_string(info.si_pid) + ", user " + std::to_string(info.si_uid);
}

/// Waits for signals and, where it is wanted, for idleness, five times a second.
void run_until_stopped(Running& running) {
  const sigset_t signals = handled_signals();
  const auto idle = running.command.daemon.idle;
  for (;;) {
    const timespec moment{0, 200'000'000};
    siginfo_t info{};
    const int signal = sigtimedwait(&signals, &info, &moment);
    if (signal == SIGHUP) {
      server::tell_service_manager("RELOADING=1");
      reload(running);
      server::tell_service_manager("READY=1");
    } else if (signal > 0) {
      running.log->info("signal {}{}", signal, sender_of(info));
      return;
    }
    if (idle.count() > 0 && running.daemon.idle() >= idle) {
      running.log->info("idle for {} s", idle.count());
      return;
    }
  }
}

// Returns the path of a program in this program's folder; "" when it is absent.
std::string sibling_program(const char* program) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (self.empty()) return "";
  const auto path = self.parent_path() / program;
  return std::filesystem::exists(path, error) ? path.string() : "";
}

/// Refuses an address space in which gRPC ends by a signal, without a word, as soon as a thread has no stack.
support::Result<void> check_address_space() {
  constexpr rlim_t enough = rlim_t{256} << 20;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur >= enough) return {};
  return support::noting(support::exhausted("address-space", "the address space is limited to " +
                                                                 std::to_string(limit.rlim_cur >> 20) +
                                                                 " MiB; schaasd needs at least 256"),
                         "raise the limit: ulimit -v, LimitAS=");
}

int run(int argc, const char* const* argv, server::CommandLine command) {
  // A private daemon logs into its data directory, which must be created and owned first. Until then it logs
  // to standard error, and a refusal is reported there.
  if (command.is_private && command.log.file.empty()) {
    const std::string& directory = command.daemon.data_directory;
    auto made = server::DataDirectory::open(directory);  // released at once: start() locks it again
    if (!made.ok()) return fail(made.error());
    command.log.file = server::DataDirectory::log_in(directory);
  }
  const auto log = server::open_log(command.log);
  if (!log.ok()) return fail(log.error());
  command.daemon.solver = sibling_program("schaas-solver");
  command.daemon.trial = sibling_program("schaas-trial");
  command.daemon.nvrtc = sibling_program("schaas-nvrtc");
  if (command.daemon.solver.empty()) (*log)->warn("schaas-solver not found: Z3 runs in this process");
  if (command.daemon.trial.empty()) (*log)->warn("schaas-trial not found: kernels are not validated");
  auto daemon = server::Daemon::start(command.daemon, *log);
  if (!daemon.ok()) {
    (*log)->error("{}", support::render(daemon.error()));
    return fail(daemon.error());
  }
  for (const auto& address : (*daemon)->addresses()) std::cout << "listening on " << address << std::endl;
  if (const auto http = (*daemon)->http_address(); !http.empty())
    std::cout << "serving http on " << http << std::endl;
  if (command.is_private) leave_terminal();
  server::tell_service_manager("READY=1");
  Running running{argc, argv, std::move(command), **daemon, *log};
  run_until_stopped(running);
  server::tell_service_manager("STOPPING=1");
  (*daemon)->stop();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const sigset_t signals = handled_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a file size limit is reported as a full disk
  umask(0077);
  if (const auto space = check_address_space(); !space.ok()) return fail(space.error());
  // Clients that fail to connect, or send no valid messages, would fill standard error.
  setenv("GRPC_VERBOSITY", "NONE", 0);
  google::protobuf::SetLogHandler(nullptr);
  // Held to the end of the process: the last release would wait up to 10 s for gRPC's write poller.
  grpc_init();
  auto command = server::parse_command_line(argc, argv);
  if (!command.ok()) return fail(command.error());
  if (const auto* exit_now = std::get_if<server::Exit>(&*command)) return exit_now->status;
  return run(argc, argv, std::get<server::CommandLine>(std::move(*command)));
}
