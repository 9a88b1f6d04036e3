#include "compiler/toolchain/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>
#include <utility>

#include "compiler/toolchain/child_start.h"

// A process that runs to its end, watched in slices of 10 milliseconds: output is read, cancellation and wall
// time are checked. The end is noticed with WNOWAIT, which leaves the child a zombie: its number, and the
// group's, cannot be another's before the group was killed. Output beyond what is kept is read all the same,
// so that a full pipe never blocks the child.
namespace schaas::toolchain {
namespace {

using Clock = std::chrono::steady_clock;

/// One child and the reading end of its output; ends the whole group when it goes out of scope.
class Child {
 public:
  Child(pid_t pid, int output) : pid_(pid), output_(output) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) reap();
    close(output_);
  }

  /// Waits at most `patience` for output. False at the end of it.
  bool read_some(std::string& text, std::size_t keep, int patience_ms) {
    pollfd watched{output_, POLLIN, 0};
    if (poll(&watched, 1, patience_ms) <= 0) return true;
    char buffer[4096];
    const ssize_t count = read(output_, buffer, sizeof buffer);
    if (count < 0) return errno == EINTR || errno == EAGAIN;
    if (count == 0) return false;
    text.append(buffer, std::min(static_cast<std::size_t>(count), keep - std::min(keep, text.size())));
    return true;
  }

  /// Tells whether the child has ended, without collecting it.
  bool ended() const {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid_;
  }

  int reap() { return end_child(std::exchange(pid_, -1)); }

 private:
  pid_t pid_;
  int output_;
};

}  // namespace

support::Result<ChildResult> run_child(const ChildOptions& options,
                                       const support::Cancellation& cancellation) {
  SCHAAS_RETURN_IF_ERROR(cancellation.check("the start of a process"));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return refused_by_system("a pipe");
  const auto pid = start_child(options, {-1, ends[1], ends[1]});
  close(ends[1]);
  if (!pid.ok()) {
    close(ends[0]);
    return pid.error();
  }
  Child child(*pid, ends[0]);

  ChildResult result;
  const auto deadline = Clock::now() + options.wall_time;
  bool open = true;
  while (!child.ended()) {
    if (open) {
      open = child.read_some(result.output, options.output_bytes, 10);
    } else {
      // The child closed its output but runs on: there is nothing to poll.
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    SCHAAS_RETURN_IF_ERROR(cancellation.check(options.program.c_str()));
    if (Clock::now() >= deadline) {
      result.timed_out = true;
      break;
    }
  }
  result.exit_code = child.reap();
  // Reads the rest of the pipe: 64 reads are more than it holds, so nobody who kept it open delays the
  // return.
  for (int rounds = 0; open && rounds < 64; ++rounds)
    open = child.read_some(result.output, options.output_bytes, 0);
  return result;
}

}  // namespace schaas::toolchain
