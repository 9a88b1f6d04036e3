#include "compiler/toolchain/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

namespace schaas::toolchain {
namespace {

using Clock = std::chrono::steady_clock;

/// Everything the child needs, laid out before the fork: after it, only async-signal-safe calls are allowed.
struct Prepared {
  explicit Prepared(const ChildOptions& what) : options(what) {
    argv.push_back(const_cast<char*>(what.program.c_str()));
    for (const auto& argument : what.arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    for (const auto& variable : what.environment) envp.push_back(const_cast<char*>(variable.c_str()));
    envp.push_back(nullptr);
  }
  const ChildOptions& options;
  std::vector<char*> argv;
  std::vector<char*> envp;
};

void limit(__rlimit_resource resource, std::size_t value) {
  rlimit both{};
  both.rlim_cur = both.rlim_max = static_cast<rlim_t>(value);
  setrlimit(resource, &both);
}

[[noreturn]] void become(const Prepared& prepared, int output) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) _exit(127);
  if (close_range(3, ~0U, 0) != 0) {
    for (int descriptor = 3; descriptor < 4096; ++descriptor) close(descriptor);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  limit(RLIMIT_CPU, static_cast<std::size_t>(prepared.options.cpu_seconds));
  limit(RLIMIT_AS, prepared.options.memory_bytes);
  limit(RLIMIT_FSIZE, prepared.options.file_bytes);
  limit(RLIMIT_CORE, 0);
  if (chdir(prepared.options.working_directory.c_str()) != 0) _exit(127);
  execve(prepared.options.program.c_str(), prepared.argv.data(), prepared.envp.data());
  _exit(127);
}

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

  bool ended() const {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid_;
  }

  /// Kills what is left of the group, then collects the child: in this order its number cannot be another's
  /// yet.
  int reap() {
    kill(-pid_, SIGKILL);
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + (WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  }

 private:
  pid_t pid_;
  int output_;
};

support::Diagnostic refused(const char* what) {
  return support::exhausted("no-process",
                            std::string("the system refused ") + what + ": " + std::strerror(errno));
}

}  // namespace

support::Result<ChildResult> run_child(const ChildOptions& options,
                                       const support::Cancellation& cancellation) {
  SCHAAS_RETURN_IF_ERROR(cancellation.check("the start of a process"));
  const Prepared prepared(options);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return refused("a pipe");
  const pid_t pid = fork();
  if (pid < 0) {
    close(ends[0]);
    close(ends[1]);
    return refused("a process");
  }
  if (pid == 0) become(prepared, ends[1]);
  setpgid(pid, pid);  // as in the child: whoever comes first
  close(ends[1]);
  Child child(pid, ends[0]);

  ChildResult result;
  const auto deadline = Clock::now() + options.wall_time;
  bool open = true;
  while (!child.ended()) {
    if (open) {
      open = child.read_some(result.output, options.output_bytes, 10);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    SCHAAS_RETURN_IF_ERROR(cancellation.check(options.program.c_str()));
    if (Clock::now() >= deadline) {
      result.timed_out = true;
      break;
    }
  }
  result.exit_code = child.reap();
  for (int rounds = 0; open && rounds < 64; ++rounds)
    open = child.read_some(result.output, options.output_bytes, 0);
  return result;
}

}  // namespace schaas::toolchain
