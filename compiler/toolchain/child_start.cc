#include "compiler/toolchain/child_start.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>

#include "compiler/support/signals_blocked.h"
#include "compiler/toolchain/child_user.h"
#include "compiler/toolchain/isolation.h"

// vfork, then exec, with everything prepared before. The child runs in the daemon's memory while the thread
// that started it waits. So nothing is copied, however much the daemon holds. With fork, tests of the Python
// package spent a tenth of their processor time on copied pages. Between the two only async-signal-safe calls
// are allowed (POSIX), no allocation, and no handler of a signal. The child sheds its parent's files, signals
// and limits first; isolation is the last step. Exit status 127 says that the program was not reached.
//
// When a process changes its user, Linux forbids dumps of its memory, and ptrace by that user. A start with
// another user therefore allows them again afterwards, and no two such starts overlap.
namespace schaas::toolchain {
namespace {

/// Everything the child needs, laid out before vfork: after it, only async-signal-safe calls are allowed.
struct Prepared {
  explicit Prepared(const ChildOptions& what) : options(what) {
    argv.push_back(const_cast<char*>(what.program.c_str()));
    for (const auto& argument : what.arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    for (const auto& variable : what.environment) envp.push_back(const_cast<char*>(variable.c_str()));
    envp.push_back(nullptr);
    readable.push_back(what.program);
    // Libraries of a portable wheel, beside its programs (client/python/bundled_libraries.py).
    readable.push_back(what.program.substr(0, what.program.rfind('/') + 1) + "libraries");
    readable.insert(readable.end(), what.readable.begin(), what.readable.end());
    if (what.isolated) user = next_child_user(what);
  }
  const ChildOptions& options;
  std::optional<uid_t> user;  ///< none: the daemon's own
  const std::size_t processes = max_child_processes();
  std::vector<std::string> readable;
  std::vector<char*> argv;
  std::vector<char*> envp;
};

void limit(__rlimit_resource resource, std::size_t value) {
  rlimit both{};
  both.rlim_cur = both.rlim_max = static_cast<rlim_t>(value);
  // SIGXCPU tells what it died of; SIGKILL, a second later, that it was asked in vain.
  if (resource == RLIMIT_CPU) ++both.rlim_max;
  setrlimit(resource, &both);
}

[[noreturn]] void end_unisolated() {
  constexpr char said[] = "the system refused to isolate this process\n";
  [[maybe_unused]] const auto written = write(2, said, sizeof said - 1);
  _exit(127);
}

/// Every signal does what it does by default. Before any is unblocked: a handler would run in the daemon's
/// memory.
void reset_signals() {
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &by_default, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Turns the new process into the program.
[[noreturn]] void become(const Prepared& prepared, const ChildFiles& files, pid_t parent) {
  setpgid(0, 0);
  const int nothing = open("/dev/null", O_RDWR);
  const auto stand = [nothing](int file, int as) { return dup2(file < 0 ? nothing : file, as) >= 0; };
  if (nothing < 0 || !stand(files.input, 0) || !stand(files.output, 1) || !stand(files.error, 2)) _exit(127);
  // Kernels before 5.9 lack the call; the first 4,096 descriptors are closed one by one there.
  if (close_range(3, ~0U, 0) != 0) {
    for (int descriptor = 3; descriptor < 4096; ++descriptor) close(descriptor);
  }
  reset_signals();
  limit(RLIMIT_CPU, static_cast<std::size_t>(prepared.options.cpu_seconds));
  limit(RLIMIT_AS, prepared.options.memory_bytes);
  limit(RLIMIT_FSIZE, prepared.options.file_bytes);
  limit(RLIMIT_CORE, 0);
  if (chdir(prepared.options.working_directory.c_str()) != 0) _exit(127);
  if (prepared.user) {
    limit(RLIMIT_NPROC, prepared.processes);
    if (!become_user(*prepared.user)) end_unisolated();
  }
  // A change of the user takes the signal back.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // it ended before the signal was asked for
  if (prepared.options.isolated &&
      !isolate(prepared.readable, prepared.options.working_directory, prepared.options.processes))
    end_unisolated();
  execve(prepared.options.program.c_str(), prepared.argv.data(), prepared.envp.data());
  _exit(127);
}

/// The number of the new process; -1 with errno.
pid_t start(const Prepared& prepared, const ChildFiles& files) {
  const support::SignalsBlocked blocked;
  const pid_t parent = getpid();
  const pid_t pid = vfork();
  if (pid == 0) become(prepared, files, parent);
  return pid;
}

pid_t start_as_user(const Prepared& prepared, const ChildFiles& files) {
  static std::mutex one_at_a_time;
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  const int may_be_dumped = prctl(PR_GET_DUMPABLE);
  const pid_t pid = start(prepared, files);
  const int error = errno;
  if (may_be_dumped == 1) prctl(PR_SET_DUMPABLE, 1);
  errno = error;
  return pid;
}

}  // namespace

support::Diagnostic refused_by_system(const char* what) {
  return support::exhausted("no-process",
                            std::string("the system refused ") + what + ": " + std::strerror(errno));
}

support::Result<pid_t> start_child(const ChildOptions& options, const ChildFiles& files) {
  const Prepared prepared(options);
  // A child that works in "/" writes nothing.
  if (prepared.user && options.working_directory != "/")
    SCHAAS_RETURN_IF_ERROR(give_directory(options.working_directory, *prepared.user));
  const pid_t pid = prepared.user ? start_as_user(prepared, files) : start(prepared, files);
  if (pid < 0) return refused_by_system("a process");
  setpgid(pid, pid);  // as in the child: whoever comes first
  return pid;
}

int end_child(pid_t pid) {
  kill(-pid, SIGKILL);
  int status = 0;
  // The group is dead, so this waits for the kernel alone.
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + (WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

}  // namespace schaas::toolchain
