#pragma once
#include <csignal>
#include <thread>

namespace schaas::cli {

/// Ctrl-C and SIGTERM while a command runs: whatever the command is doing, the program ends at once, on
/// Ctrl-C with a word and status 130, else by the signal (143 for a shell); half-written files are removed.
/// The server notices that its client is gone and stops what nobody waits for. One per process, made before
/// any other thread; a signal that is ignored (SIGINT in the background of a shell) stays so.
class Interrupt {
 public:
  static constexpr int interrupted_status = 130, terminated_status = 143;

  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

 private:
  static constexpr int wake_up = SIGUSR1;  ///< of the thread itself
  std::jthread thread_;
};

}  // namespace schaas::cli
