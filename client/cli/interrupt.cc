#include "client/cli/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <string>

namespace schaas::cli {
namespace {

void end_the_program() {
  const std::string text =
      std::string(isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "") + "interrupted\n";  // over the progress line
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
  _exit(Interrupt::exit_status);
}

}  // namespace

// A thread that waits for the signal may do what a signal handler may not, and needs no global state.
Interrupt::Interrupt() {
  struct sigaction present {};
  if (sigaction(SIGINT, nullptr, &present) != 0 || present.sa_handler == SIG_IGN) return;
  sigset_t interrupts;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  if (pthread_sigmask(SIG_BLOCK, &interrupts, nullptr) != 0) return;  // threads started later inherit it
  thread_ = std::jthread([interrupts](const std::stop_token& over) {
    int signal = 0;
    while (sigwait(&interrupts, &signal) != 0) {
    }
    if (!over.stop_requested()) end_the_program();
  });
}

Interrupt::~Interrupt() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  pthread_kill(thread_.native_handle(), SIGINT);
}

}  // namespace schaas::cli
