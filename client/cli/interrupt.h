#pragma once
#include <csignal>
#include <thread>

namespace schaas::cli {

/// Handles Ctrl-C and SIGTERM while a command runs: the program ends at once, and half-written files are
/// removed. After Ctrl-C it prints a message and exits with status 130, else it ends by the signal (143 for a
/// shell). The server notices that its client is gone and stops the work that no other client waits for. One
/// per process, made before any other thread; a signal that is ignored (SIGINT in the background of a shell)
/// stays so.
class Interrupt {
 public:
  static constexpr int interrupted_status = 130, terminated_status = 143;

  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

 private:
  static constexpr int wake_up = SIGUSR1;  ///< sent to the thread itself
  std::jthread thread_;
};

}  // namespace schaas::cli
