#pragma once
#include <thread>

namespace schaas::cli {

/// Ctrl-C while a command runs: whatever the command is doing, the program says so and ends at once with
/// status 130. The server notices that its client is gone and stops what nobody waits for. One per process,
/// made before any other thread; does nothing where SIGINT is ignored (in the background of a shell).
class Interrupt {
 public:
  static constexpr int exit_status = 130;

  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

 private:
  std::jthread thread_;
};

}  // namespace schaas::cli
