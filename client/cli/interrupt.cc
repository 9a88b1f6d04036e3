#include "client/cli/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <string>

#include "schaas/tensor_files.h"

// The end of the program by a signal. Temporary files are removed, and the progress line is wiped out. After
// SIGTERM the program ends by that signal, so that its parent sees the reason.
namespace schaas::cli {
namespace {

// A program that was started with signals ignored, as by nohup, must leave them so.
bool is_ignored(int signal) {
  struct sigaction present {};
  return sigaction(signal, nullptr, &present) != 0 || present.sa_handler == SIG_IGN;
}

[[noreturn]] void end_the_program(int signal) {
  client::remove_temporary_files();
  const bool is_interrupt = signal == SIGINT;
  const std::string text =
      std::string(isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "") +  // over the progress line
      (is_interrupt ? "interrupted\n" : "");
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
  if (is_interrupt) _exit(Interrupt::interrupted_status);
  sigset_t termination;
  sigemptyset(&termination);
  sigaddset(&termination, SIGTERM);
  pthread_sigmask(SIG_UNBLOCK, &termination, nullptr);
  raise(SIGTERM);                       // the process that waits for the program sees the reason of its end
  _exit(Interrupt::terminated_status);  // the first process of a container does not end by it
}

}  // namespace

// Starts a thread that waits for the signals. It may do what a signal handler may not, and needs no global
// state. The signals are blocked in all threads, so that this one gets them.
Interrupt::Interrupt() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM})
    if (!is_ignored(signal)) sigaddset(&signals, signal);
  sigaddset(&signals, wake_up);
  if (pthread_sigmask(SIG_BLOCK, &signals, nullptr) != 0) return;  // threads started later inherit it
  thread_ = std::jthread([signals](const std::stop_token& over) {
    int signal = 0;
    // The wake-up signal ends the thread only when its owner has asked for that.
    while (sigwait(&signals, &signal) != 0 || (signal == wake_up && !over.stop_requested())) {
    }
    if (!over.stop_requested()) end_the_program(signal);
  });
}

Interrupt::~Interrupt() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  pthread_kill(thread_.native_handle(), wake_up);
}

}  // namespace schaas::cli
