// Isolation of children. Each test is run with and without the isolation, so that it fails for no other
// reason.
#include "compiler/toolchain/isolation.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "compiler/toolchain/call_filter.h"
#include "compiler/toolchain/child_process.h"
#include "compiler/toolchain/child_user.h"
#include "tests/support/temporary_directory.h"

namespace schaas::toolchain {
namespace {

using testing::HasSubstr;

class IsolatedChild : public testing::Test {
 protected:
  void SetUp() override { std::ofstream(outside_ / "secret") << "the secret\n"; }

  ChildResult run(const std::string& script, bool isolated = true,
                  std::vector<std::string> readable = {}) const {
    ChildOptions options;
    options.program = "/bin/bash";
    options.arguments = {"-c", script};
    options.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C"};
    options.working_directory = inside_.path();
    options.isolated = isolated;
    options.readable = std::move(readable);
    return run_child(options, support::Cancellation()).value();
  }
  test_support::TemporaryDirectory inside_, outside_;
  const Isolation offered_ = offered_isolation();
};

TEST_F(IsolatedChild, ReadsNothingOfOthers) {
  if (!offered_.files) GTEST_SKIP() << "this system has no Landlock";
  const std::string script = "cat " + (outside_ / "secret") + "; ls " + outside_.path().string();
  EXPECT_THAT(run(script, false).output, HasSubstr("the secret"));
  const ChildResult isolated = run(script);
  EXPECT_EQ(isolated.output, "cat: " + (outside_ / "secret") +
                                 ": Permission denied\nls: cannot open directory '" +
                                 outside_.path().string() + "': Permission denied\n");
  EXPECT_THAT(run("bash -c \"" + script + "\"").output, HasSubstr("Permission denied"))
      << "nor does its child";
  EXPECT_THAT(run(script, true, {outside_.path()}).output, HasSubstr("the secret")) << "unless it may";
}

TEST_F(IsolatedChild, ReadsTheLibrariesBesideItsProgram) {
  if (!offered_.files) GTEST_SKIP() << "this system has no Landlock";
  std::filesystem::copy_file("/bin/bash", outside_ / "program");
  std::filesystem::create_directory(outside_ / "libraries");
  std::ofstream(outside_ / "libraries/one") << "a library\n";
  ChildOptions options;
  options.program = outside_ / "program";
  options.arguments = {"-c", "cat " + (outside_ / "libraries/one") + "; cat " + (outside_ / "secret")};
  options.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C"};
  options.working_directory = inside_.path();
  options.isolated = true;
  EXPECT_EQ(run_child(options, support::Cancellation()).value().output,
            "a library\ncat: " + (outside_ / "secret") + ": Permission denied\n");
}

TEST_F(IsolatedChild, WritesIntoItsOwnDirectoryAlone) {
  if (!offered_.files) GTEST_SKIP() << "this system has no Landlock";
  const std::string elsewhere = "echo x > " + (outside_ / "new");
  EXPECT_EQ(run("echo x > here && mkdir folder && mv here folder/there && rm -r folder").exit_code, 0);
  EXPECT_EQ(run(elsewhere).exit_code, 1);
  EXPECT_EQ(run("rm " + (outside_ / "secret")).exit_code, 1);
  EXPECT_EQ(run(elsewhere, true, {outside_.path()}).exit_code, 1) << "readable is not writable";
  EXPECT_FALSE(std::filesystem::exists(outside_ / "new"));
  EXPECT_TRUE(std::filesystem::exists(outside_ / "secret"));
  EXPECT_EQ(run(elsewhere, false).exit_code, 0);
}

TEST_F(IsolatedChild, LeavesOtherProcessesAlone) {
  if (!offered_.signals) GTEST_SKIP() << "this system's Landlock knows nothing of signals";
  const std::string ours = std::to_string(getpid());
  EXPECT_EQ(run("kill -0 " + ours, false).exit_code, 0);
  EXPECT_EQ(run("kill -0 " + ours).exit_code, 1);
  EXPECT_EQ(run("cat /proc/" + ours + "/environ > all").exit_code, 1);
  EXPECT_EQ(run("sleep 60 & kill $!").exit_code, 0) << "its own it may end";
}

// A socket of ours that listens on the loopback interface.
class Listener {
 public:
  Listener() : file_(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof address;
    EXPECT_EQ(bind(file_, reinterpret_cast<sockaddr*>(&address), bytes), 0);
    EXPECT_EQ(listen(file_, 4), 0);
    getsockname(file_, reinterpret_cast<sockaddr*>(&address), &bytes);
    port_ = ntohs(address.sin_port);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { close(file_); }
  std::string port() const { return std::to_string(port_); }
  bool was_called() const {
    const int caller = accept(file_, nullptr, nullptr);
    if (caller >= 0) close(caller);
    return caller >= 0;
  }

 private:
  int file_;
  int port_ = 0;
};

TEST_F(IsolatedChild, HasNoNetwork) {
  if (!offered_.network) GTEST_SKIP() << "this system has no seccomp";
  const Listener listener;
  const std::string script = "exec 3<>/dev/tcp/127.0.0.1/" + listener.port();
  EXPECT_EQ(run(script).exit_code, 1);
  EXPECT_FALSE(listener.was_called());
  EXPECT_EQ(run(script, false).exit_code, 0);
  EXPECT_TRUE(listener.was_called());
  EXPECT_NE(run("unshare -U true").exit_code, 0);
}

TEST_F(IsolatedChild, ChangesNoModesAndTimesOfOthers) {
  if (!offered_.network) GTEST_SKIP() << "this system has no seccomp";
  const std::string file = outside_ / "secret";
  const auto status = [&] {
    struct stat found {};
    EXPECT_EQ(stat(file.c_str(), &found), 0);
    return std::pair(found.st_mode, found.st_mtime);
  };
  const auto before = status();
  const std::string script = "chmod 0777 " + file + "; touch -d 2001-01-01 " + file;
  run(script);
  EXPECT_EQ(status(), before);
  run(script, false);
  EXPECT_NE(status(), before);
}

TEST_F(IsolatedChild, StaysOneProcessWhereItIsToBe) {
  if (!offered_.network) GTEST_SKIP() << "this system has no seccomp";
  ChildOptions options;
  options.program = "/bin/bash";
  options.arguments = {"-c", "/bin/true; echo $?"};
  options.environment = {"PATH=/usr/bin:/bin"};
  options.working_directory = inside_.path();
  EXPECT_EQ(run_child(options, support::Cancellation()).value().output, "0\n");
  options.processes = Processes::one;
  const ChildResult alone = run_child(options, support::Cancellation()).value();
  EXPECT_THAT(alone.output, testing::HasSubstr("fork: "));
}

/// A process that left the group would survive its end.
TEST_F(IsolatedChild, StaysInItsProcessGroup) {
  if (!offered_.network) GTEST_SKIP() << "this system has no seccomp";
  EXPECT_EQ(run("setsid -w true", false).exit_code, 0);
  EXPECT_NE(run("setsid -w true").exit_code, 0);
}

TEST_F(IsolatedChild, IsEndedWithItsGroup) {
  const std::string alive = inside_ / "alive";
  run("(sleep 1; : > alive) & exit 0");
  sleep(2);
  EXPECT_FALSE(std::filesystem::exists(alive));
}

/// Leaves by a second fork and, where it may, a session of its own, as daemons do.
TEST_F(IsolatedChild, LeavesNoDescendantInASessionOfItsOwn) {
  if (!offered_.network) GTEST_SKIP() << "this system has no seccomp";
  const std::string alive = inside_ / "alive";
  const std::string descendant =
      "import os, time\n"
      "if os.fork(): time.sleep(0.5); os._exit(0)\n"  // not before the other has left the group
      "try: os.setsid()\n"
      "except PermissionError: pass\n"
      "if os.fork(): os._exit(0)\n"
      "os.close(1); os.close(2); time.sleep(1); open('alive', 'w')\n";
  const std::string script = "python3 -c \"" + descendant + "\"";
  run(script);
  sleep(2);
  EXPECT_FALSE(std::filesystem::exists(alive));
  run(script, false);
  sleep(2);
  EXPECT_TRUE(std::filesystem::exists(alive)) << "without isolation it survives";
}

/// A child as it is where the daemon is the superuser.
class ChildOfTheSuperuser : public IsolatedChild {
 protected:
  void SetUp() override {
    IsolatedChild::SetUp();
    ChildOptions options;
    options.program = "/bin/bash";
    options.working_directory = inside_.path();
    if (!next_child_user(options)) GTEST_SKIP() << "this process may not change users";
  }
};

/// Waits until the processes of children are reaped, which init does for orphans: they count until then.
void wait_until_reaped() {
  const auto is_left = [](const std::filesystem::path& process) {
    std::ifstream status(process / "status");
    for (std::string word; status >> word;) {
      std::uint64_t user = 0;
      if (word == "Uid:" && status >> user) return user >= first_child_user && user <= last_child_user;
    }
    return false;
  };
  for (int tries = 0; tries < 300; ++tries) {
    const std::filesystem::directory_iterator all("/proc");
    if (std::none_of(begin(all), end(all), [&](const auto& entry) { return is_left(entry.path()); })) return;
    usleep(100'000);
  }
}

TEST_F(ChildOfTheSuperuser, IsAUserOfItsOwn) {
  const std::string script = "id -u; id -g; id -G; : > here; stat -c %u here . kernel.c";
  std::ofstream(inside_ / "kernel.c") << "int x;";
  EXPECT_THAT(run("id -u", false).output, testing::StrEq("0\n"));
  const auto tell = [&] {
    const std::string output = run(script).output, user = output.substr(0, output.find('\n'));
    std::string all;
    for (int line = 0; line < 6; ++line) all += user + "\n";
    EXPECT_EQ(output, all);
    return std::stoul(user);
  };
  const auto one = tell(), two = tell();
  for (const auto user : {one, two}) {
    EXPECT_GE(user, first_child_user);
    EXPECT_LE(user, last_child_user);
  }
  EXPECT_NE(one, two);
}

// A change of the user forbids dumps of the memory that the new process shares with its parent.
TEST_F(ChildOfTheSuperuser, LeavesItsParentAsItWas) {
  const int before = prctl(PR_GET_DUMPABLE);
  ASSERT_EQ(prctl(PR_SET_DUMPABLE, 1), 0);
  EXPECT_EQ(run("true").exit_code, 0);
  EXPECT_EQ(prctl(PR_GET_DUMPABLE), 1);
  EXPECT_EQ(geteuid(), 0u);
  prctl(PR_SET_DUMPABLE, before);
}

TEST_F(ChildOfTheSuperuser, HasABoundedNumberOfProcesses) {
  const std::string script =
      "import os, signal\n"
      "count = 0\n"
      "try:\n"
      "  while count < 20000:\n"
      "    if not os.fork(): signal.pause()\n"
      "    count += 1\n"
      "except BlockingIOError: pass\n"
      "print(count)\n";
  const ChildResult bounded = run("python3 -c \"" + script + "\"");
  wait_until_reaped();
  ASSERT_EQ(bounded.exit_code, 0) << bounded.output;
  EXPECT_LE(std::stoul(bounded.output), max_child_processes());
  EXPECT_GE(std::stoul(bounded.output), 200U) << "a compiler has enough";
}

TEST_F(ChildOfTheSuperuser, KeepsTheUserWhoseFilesItReads) {
  EXPECT_THAT(run("id -u", true, {outside_.path()}).output, testing::StrEq("0\n")) << "closed to others";
  std::filesystem::permissions(outside_.path(), std::filesystem::perms(0755));
  EXPECT_THAT(run("id -u", true, {outside_.path()}).output, testing::Not(testing::StrEq("0\n")));
}

/// The user changes, and with it the signal that ends a child with its parent.
TEST_F(ChildOfTheSuperuser, DiesWithTheDaemon) {
  const std::string alive = inside_ / "alive";
  const pid_t daemon = fork();
  if (daemon == 0) {
    run("sleep 2; : > alive");
    _exit(0);
  }
  sleep(1);
  kill(daemon, SIGKILL);
  waitpid(daemon, nullptr, 0);
  sleep(2);
  EXPECT_FALSE(std::filesystem::exists(alive));
}

// Signals that its parent ignores or blocks.
TEST_F(IsolatedChild, HearsEverySignal) {
  sigset_t one, before;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  const auto handler = signal(SIGUSR2, SIG_IGN);
  pthread_sigmask(SIG_BLOCK, &one, &before);
  EXPECT_EQ(run("kill -USR1 $$; echo unheard").exit_code, 128 + SIGUSR1);
  EXPECT_EQ(run("kill -USR2 $$; echo unheard").exit_code, 128 + SIGUSR2);
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, &before, &now);
  signal(SIGUSR2, handler);
  EXPECT_EQ(sigismember(&now, SIGUSR1), 1) << "the parent blocks what it blocked";
  EXPECT_EQ(sigismember(&now, SIGTERM), 0) << "and nothing else";
}

TEST_F(IsolatedChild, DumpsNoCoreAndWritesNoLargeFile) {
  EXPECT_THAT(run("ulimit -c; ulimit -Hc").output, testing::StrEq("0\n0\n"));
  ChildOptions options;
  options.program = "/bin/bash";
  options.arguments = {"-c", "ulimit -f; ulimit -Hf; head -c 9000 /dev/zero > large"};
  options.environment = {"PATH=/usr/bin:/bin"};
  options.working_directory = inside_.path();
  options.file_bytes = 8192;
  const ChildResult limited = run_child(options, support::Cancellation()).value();
  EXPECT_THAT(limited.output, testing::StartsWith("8\n8\n"));
  EXPECT_NE(limited.exit_code, 0);
  EXPECT_LE(std::filesystem::file_size(inside_ / "large"), 8192U);
}

/// Landlock stacks sixteen sets of rules: it refuses the next.
TEST(IsolationDeathTest, EndsAChildThatTheSystemRefusesToIsolate) {
  if (!offered_isolation().files) GTEST_SKIP() << "this system has no Landlock";
  const auto isolate_again_and_again = [] {
    for (int layers = 0; layers < 40; ++layers) {
      if (!isolate({}, "/")) _exit(50 + layers);
    }
    _exit(1);
  };
  EXPECT_EXIT(
      isolate_again_and_again(), [](int status) { return WEXITSTATUS(status) >= 51; }, "");
}

// ---- the filter of system calls, interpreted: no privilege or other mechanism stands beside it ----

/// What the filter answers to a call.
std::uint32_t answer_to(std::uint32_t call, std::uint64_t first_argument = 0,
                        std::uint32_t architecture = AUDIT_ARCH_X86_64,
                        Processes processes = Processes::several) {
  seccomp_data data{};
  data.nr = static_cast<int>(call);
  data.arch = architecture;
  data.args[0] = first_argument;
  const CallFilter& filter = call_filter(processes);
  std::uint32_t loaded = 0;
  for (std::size_t at = 0; at < filter.size; ++at) {
    const sock_filter& now = filter.program[at];
    const auto jump = [&](bool condition) { at += condition ? now.jt : now.jf; };
    switch (now.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        std::memcpy(&loaded, reinterpret_cast<const char*>(&data) + now.k, sizeof loaded);
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        jump(loaded == now.k);
        break;
      case BPF_JMP | BPF_JGE | BPF_K:
        jump(loaded >= now.k);
        break;
      case BPF_JMP | BPF_JSET | BPF_K:
        jump((loaded & now.k) != 0);
        break;
      case BPF_RET | BPF_K:
        return now.k;
      default:
        ADD_FAILURE() << "instruction " << now.code;
        return 0;
    }
  }
  ADD_FAILURE() << "the filter ends without an answer";
  return 0;
}

constexpr std::uint32_t allowed = SECCOMP_RET_ALLOW, refused = SECCOMP_RET_ERRNO | EPERM;

#if defined(__x86_64__)
TEST(CallFilter, RefusesEachCallOfTheList) {
  const std::pair<const char*, std::uint32_t> calls[] = {{"socket", SYS_socket},
                                                         {"connect", SYS_connect},
                                                         {"bind", SYS_bind},
                                                         {"listen", SYS_listen},
                                                         {"accept", SYS_accept},
                                                         {"accept4", SYS_accept4},
                                                         {"mount", SYS_mount},
                                                         {"umount2", SYS_umount2},
                                                         {"pivot_root", SYS_pivot_root},
                                                         {"chroot", SYS_chroot},
                                                         {"setns", SYS_setns},
                                                         {"unshare", SYS_unshare},
                                                         {"open_tree", 428},
                                                         {"move_mount", 429},
                                                         {"fsopen", 430},
                                                         {"fsconfig", 431},
                                                         {"fsmount", 432},
                                                         {"fspick", 433},
                                                         {"mount_setattr", 442},
                                                         {"open_by_handle_at", SYS_open_by_handle_at},
                                                         {"bpf", SYS_bpf},
                                                         {"perf_event_open", SYS_perf_event_open},
                                                         {"userfaultfd", SYS_userfaultfd},
                                                         {"io_uring_setup", 425},
                                                         {"keyctl", SYS_keyctl},
                                                         {"add_key", SYS_add_key},
                                                         {"request_key", SYS_request_key},
                                                         {"init_module", SYS_init_module},
                                                         {"finit_module", SYS_finit_module},
                                                         {"delete_module", SYS_delete_module},
                                                         {"kexec_load", SYS_kexec_load},
                                                         {"reboot", SYS_reboot},
                                                         {"swapon", SYS_swapon},
                                                         {"swapoff", SYS_swapoff},
                                                         {"ptrace", SYS_ptrace},
                                                         {"process_vm_readv", SYS_process_vm_readv},
                                                         {"process_vm_writev", SYS_process_vm_writev},
                                                         {"pidfd_getfd", 438},
                                                         {"setsid", SYS_setsid},
                                                         {"setpgid", SYS_setpgid},
                                                         {"sched_setattr", SYS_sched_setattr},
                                                         {"sched_setscheduler", SYS_sched_setscheduler},
                                                         {"sched_setparam", SYS_sched_setparam},
                                                         {"setpriority", SYS_setpriority},
                                                         {"inotify_init", SYS_inotify_init},
                                                         {"inotify_init1", SYS_inotify_init1},
                                                         {"fanotify_init", SYS_fanotify_init},
                                                         {"setxattr", SYS_setxattr},
                                                         {"lsetxattr", SYS_lsetxattr},
                                                         {"fsetxattr", SYS_fsetxattr},
                                                         {"removexattr", SYS_removexattr},
                                                         {"setxattrat", 463},
                                                         {"removexattrat", 466},
                                                         {"chown", SYS_chown},
                                                         {"lchown", SYS_lchown},
                                                         {"fchown", SYS_fchown},
                                                         {"fchownat", SYS_fchownat}};
  for (const auto& [name, call] : calls) {
    EXPECT_EQ(answer_to(call), refused) << name;
    EXPECT_EQ(answer_to(call | 0x40000000U), refused) << name << " of x32";
  }
}

TEST(CallFilter, RefusesOtherConventions) {
  for (const std::uint32_t call : {SYS_read, SYS_write, SYS_exit_group}) {
    EXPECT_EQ(answer_to(call), allowed);
    EXPECT_EQ(answer_to(call | 0x40000000U), refused) << "x32";
    EXPECT_EQ(answer_to(call, 0, AUDIT_ARCH_I386), refused);
  }
}

TEST(CallFilter, AllowsThreadsAndNoNamespaces) {
  const auto thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SETTLS;
  EXPECT_EQ(answer_to(SYS_clone, static_cast<std::uint64_t>(thread)), allowed);
  for (const int space :
       {CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP})
    EXPECT_EQ(answer_to(SYS_clone, static_cast<std::uint64_t>(thread | space)), refused);
  EXPECT_EQ(answer_to(435), SECCOMP_RET_ERRNO | ENOSYS) << "clone3";
}

TEST(CallFilter, KeepsAProcessThatIsToStayOneFromOthers) {
  const auto one = [](std::uint32_t call, std::uint64_t first_argument = 0) {
    return answer_to(call, first_argument, AUDIT_ARCH_X86_64, Processes::one);
  };
  const std::uint64_t thread =
      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SETTLS;
  EXPECT_EQ(one(SYS_clone, thread), allowed);
  EXPECT_EQ(one(SYS_clone, thread | CLONE_NEWNET), refused);
  EXPECT_EQ(one(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD), refused) << "posix_spawn";
  EXPECT_EQ(one(SYS_clone, SIGCHLD), refused);
  EXPECT_EQ(one(435), SECCOMP_RET_ERRNO | ENOSYS) << "clone3";
  for (const std::uint32_t call : {SYS_fork, SYS_vfork}) {
    EXPECT_EQ(one(call), refused);
    EXPECT_EQ(answer_to(call), allowed) << "a compiler";
  }
  for (const std::uint32_t call : {SYS_read, SYS_execve, SYS_futex}) EXPECT_EQ(one(call), allowed);
  EXPECT_EQ(one(SYS_socket), refused);
}

TEST(CallFilter, LimitsTheCallersOwnProcessAlone) {
  for (const std::uint32_t call : {SYS_prlimit64, SYS_sched_setaffinity}) {
    EXPECT_EQ(answer_to(call, 0), allowed);
    EXPECT_EQ(answer_to(call, 1), refused);
  }
}

TEST(CallFilter, AnswersModesAndTimesWithoutEffect) {
  for (const std::uint32_t call :
       {SYS_chmod, SYS_fchmod, SYS_fchmodat, 452, SYS_utime, SYS_utimes, SYS_utimensat, SYS_futimesat})
    EXPECT_EQ(answer_to(call), SECCOMP_RET_ERRNO);
}
#endif

TEST(Isolation, IsToldInWords) {
  EXPECT_EQ(print({}), "none");
  EXPECT_EQ(print({true, false, true}), "files, network");
  EXPECT_EQ(print({true, true, true}), "files, signals, network");
}

}  // namespace
}  // namespace schaas::toolchain
