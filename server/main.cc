// schaasd: the daemon. docs/operations.md.
#include <fcntl.h>
#include <grpc/grpc.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iostream>

#include "server/command_line.h"

namespace {

using namespace schaas;

int fail(const support::Diagnostic& error) {
  std::cerr << "schaasd: " << support::render(error) << "\n";
  return support::exit_code(error.family);
}

// The signals that ask the daemon to stop. Blocked in every thread, taken in one place by sigtimedwait.
sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
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

void wait_for_end(const server::Daemon& daemon, const server::DaemonOptions& options,
                  const server::Log& log) {
  const sigset_t signals = stop_signals();
  for (;;) {
    const timespec moment{0, 200'000'000};
    const int signal = sigtimedwait(&signals, nullptr, &moment);
    if (signal > 0) {
      log->info("signal {}", signal);
      return;
    }
    if (options.idle.count() > 0 && daemon.idle() >= options.idle) {
      log->info("idle for {} s", options.idle.count());
      return;
    }
  }
}

// A program that stands beside this one; none: it is not there.
std::string beside_us(const char* program) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return "";
  const auto path = self.parent_path() / program;
  return std::filesystem::exists(path, error) ? path.string() : "";
}

int run(server::CommandLine command) {
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
  if (command.daemon.solver.empty()) (*log)->warn("no schaas-solver beside this program: proofs run in it");
  if (command.daemon.trial.empty()) (*log)->warn("no schaas-trial beside this program: kernels are untried");
  auto daemon = server::Daemon::start(command.daemon, *log);
  if (!daemon.ok()) {
    (*log)->error("{}", support::render(daemon.error()));
    return fail(daemon.error());
  }
  for (const auto& address : (*daemon)->addresses()) std::cout << "listening on " << address << std::endl;
  if (command.is_private) leave_terminal();
  wait_for_end(**daemon, command.daemon, *log);
  (*daemon)->stop();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const sigset_t signals = stop_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  umask(0077);
  // Held to the end of the process: the last release would wait up to 10 s for gRPC's own write poller.
  grpc_init();
  auto command = server::parse_command_line(argc, argv);
  if (!command.ok()) return fail(command.error());
  if (const auto* leave = std::get_if<server::Leave>(&*command)) return leave->status;
  return run(std::get<server::CommandLine>(std::move(*command)));
}
