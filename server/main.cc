// schaasd: the daemon. docs/operations.md.
#include <fcntl.h>
#include <google/protobuf/stubs/logging.h>
#include <grpc/grpc.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "server/command_line.h"
#include "server/service_manager.h"

/// jemalloc reads this when the program starts (server/CMakeLists.txt links it): one heap, whose free pages go
/// back within a second, and nothing is kept for a thread. What MALLOC_CONF says goes before it.
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

// SIGTERM and SIGINT ask the daemon to stop, SIGHUP to read its options again. Blocked in every thread, taken
// in one place by sigtimedwait.
sigset_t taken_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

// A private daemon outlives the terminal it was started from and holds none of its files open.
void leave_terminal() {
  setsid();
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return;
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, standard);
  close(null);
}

// The options that take effect without a restart.
constexpr std::array reloaded_options = {"log-level"};

/// A daemon at work, with what it was started with.
struct Running {
  int argc;
  const char* const* argv;
  server::CommandLine command;
  server::Daemon& daemon;
  const server::Log& log;
};

// What cannot be taken over is told and left as it was.
void reload(Running& running) {
  auto read = server::parse_command_line(running.argc, running.argv);
  if (!read.ok()) {
    running.log->error("reload: the options stay as they were: {}", support::render(read.error()));
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
    running.log->error("reload: the tokens stay as they were: {}", support::render(tokens.error()));
  running.log->info("reloaded");
}

void wait_for_end(Running& running) {
  const sigset_t signals = taken_signals();
  const auto idle = running.command.daemon.idle;
  for (;;) {
    const timespec moment{0, 200'000'000};
    const int signal = sigtimedwait(&signals, nullptr, &moment);
    if (signal == SIGHUP) {
      server::tell_service_manager("RELOADING=1");
      reload(running);
      server::tell_service_manager("READY=1");
    } else if (signal > 0) {
      running.log->info("signal {}", signal);
      return;
    }
    if (idle.count() > 0 && running.daemon.idle() >= idle) {
      running.log->info("idle for {} s", idle.count());
      return;
    }
  }
}

// A program that stands beside this one; none: it is not there.
std::string beside_us(const char* program) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (self.empty()) return "";
  const auto path = self.parent_path() / program;
  return std::filesystem::exists(path, error) ? path.string() : "";
}

int run(int argc, const char* const* argv, server::CommandLine command) {
  // A private daemon logs into its data directory, which must be made, and be ours, first: so it starts with
  // a log to standard error and is refused there when it is refused.
  if (command.is_private && command.log.file.empty()) {
    const std::string& directory = command.daemon.data_directory;
    auto made = server::DataDirectory::open(directory);  // let go at once: start() takes it again
    if (!made.ok()) return fail(made.error());
    command.log.file = server::DataDirectory::log_in(directory);
  }
  const auto log = server::open_log(command.log);
  if (!log.ok()) return fail(log.error());
  command.daemon.solver = beside_us("schaas-solver");
  command.daemon.trial = beside_us("schaas-trial");
  command.daemon.nvrtc = beside_us("schaas-nvrtc");
  if (command.daemon.solver.empty()) (*log)->warn("no schaas-solver beside this program: proofs run in it");
  if (command.daemon.trial.empty()) (*log)->warn("no schaas-trial beside this program: kernels are untried");
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
  wait_for_end(running);
  server::tell_service_manager("STOPPING=1");
  (*daemon)->stop();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const sigset_t signals = taken_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a limit of file sizes is a full disk, which is told
  umask(0077);
  // Strangers who fail to connect, or send what is no message, would fill standard error.
  setenv("GRPC_VERBOSITY", "NONE", 0);
  google::protobuf::SetLogHandler(nullptr);
  // Held to the end of the process: the last release would wait up to 10 s for gRPC's own write poller.
  grpc_init();
  auto command = server::parse_command_line(argc, argv);
  if (!command.ok()) return fail(command.error());
  if (const auto* leave = std::get_if<server::Leave>(&*command)) return leave->status;
  return run(argc, argv, std::get<server::CommandLine>(std::move(*command)));
}
