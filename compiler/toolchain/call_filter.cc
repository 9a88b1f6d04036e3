#include "compiler/toolchain/call_filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdint>
#include <iterator>

// A program for the kernel's packet filter (classic BPF, seccomp(2)). It checks the architecture first and
// then compares the call's number with one after the other. Calls that it does not name are allowed.
// The program is made while compiling, so that nothing is allocated between vfork and exec. Jumps are
// relative and forward. A test that loads an argument must end in an answer on every way, because the
// accumulator then no longer holds the number.
namespace schaas::toolchain {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t architecture = 0;
#endif

// Numbers above 400 are the same on every architecture, and newer than the headers of some systems.
constexpr std::uint32_t refused[] = {
    SYS_socket,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    // mounts and namespaces
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_setns,
    SYS_unshare,
    SYS_quotactl,
    SYS_acct,
    428 /* open_tree */,
    429 /* move_mount */,
    430 /* fsopen */,
    431 /* fsconfig */,
    432 /* fsmount */,
    433 /* fspick */,
    442 /* mount_setattr */,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    // the system
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_syslog,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    425 /* io_uring_setup: it opens sockets unseen */,
    // other processes
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    438 /* pidfd_getfd */,
    440 /* process_madvise */,
    SYS_setsid,
    SYS_setpgid,
    SYS_sched_setattr,
    SYS_sched_setscheduler,
    SYS_sched_setparam,
    SYS_setpriority,
    SYS_ioprio_set,
    SYS_migrate_pages,
    SYS_move_pages,
    // files of others: Landlock knows nothing of these
    SYS_inotify_init1,
    SYS_fanotify_init,
    SYS_fanotify_mark,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    463 /* setxattrat */,
    466 /* removexattrat */,
    SYS_fchown,
    SYS_fchownat,
#if defined(__x86_64__)
    SYS_inotify_init,
    SYS_chown,
    SYS_lchown,
    SYS_iopl,
    SYS_ioperm,
#endif
};
// A linker makes what it writes executable, and ends when it may not.
constexpr std::uint32_t without_effect[] = {
    SYS_fchmod, SYS_fchmodat, 452 /* fchmodat2 */, SYS_utimensat,
#if defined(__x86_64__)
    SYS_chmod,  SYS_utime,    SYS_utimes,          SYS_futimesat,
#endif
};
constexpr std::uint32_t clone3 = 435;

// Calls that take a process: allowed on the caller itself (0) alone.
constexpr std::uint32_t on_itself[] = {SYS_prlimit64, SYS_sched_setaffinity};

constexpr std::uint32_t namespaces = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                     CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP |
                                     0x80U /* CLONE_NEWTIME */;

constexpr sock_filter load(std::uint32_t offset) { return {BPF_LD | BPF_W | BPF_ABS, 0, 0, offset}; }
constexpr sock_filter answer(std::uint32_t with) { return {BPF_RET | BPF_K, 0, 0, with}; }
/// Skips the next `count` instructions unless the loaded word equals `word`.
constexpr sock_filter unless_equal(std::uint32_t word, std::uint8_t count) {
  return {BPF_JMP | BPF_JEQ | BPF_K, 0, count, word};
}

// An error number of 0 makes the call return 0 without being made.
constexpr std::uint32_t error(std::uint32_t number) { return SECCOMP_RET_ERRNO | number; }
constexpr std::uint32_t first_argument = offsetof(seccomp_data, args);  // its low half: little-endian

class Writer {
 public:
  constexpr void add(sock_filter instruction) { filter.program[filter.size++] = instruction; }
  constexpr void answer_to(std::uint32_t call, std::uint32_t with) {
    add(unless_equal(call, 1));
    add(answer(with));
  }
  CallFilter filter{};
};

constexpr CallFilter write_filter(Processes processes) {
  Writer out;
  if (architecture == 0) return out.filter;
  out.add(load(offsetof(seccomp_data, arch)));
  out.add({BPF_JMP | BPF_JEQ | BPF_K, 1, 0, architecture});
  out.add(answer(error(EPERM)));  // calls by another convention have other numbers
  out.add(load(offsetof(seccomp_data, nr)));
#if defined(__x86_64__)
  constexpr std::uint32_t x32 = 0x40000000;
  out.add({BPF_JMP | BPF_JGE | BPF_K, 0, 1, x32});
  out.add(answer(error(EPERM)));
#endif
  for (const std::uint32_t call : refused) out.answer_to(call, error(EPERM));
  for (const std::uint32_t call : without_effect) out.answer_to(call, error(0));
  out.answer_to(clone3, error(ENOSYS));
  for (const std::uint32_t call : on_itself) {
    // Skips the four instructions below for other calls, which keep the number in the accumulator.
    out.add(unless_equal(call, 4));
    out.add(load(first_argument));
    out.add(unless_equal(0, 1));
    out.add(answer(SECCOMP_RET_ALLOW));
    out.add(answer(error(EPERM)));
  }
  // Threads and processes are allowed, namespaces are not: the flags are the first argument.
  const bool one = processes == Processes::one;
#if defined(__x86_64__)
  for (const std::uint32_t call : {SYS_fork, SYS_vfork}) {
    if (one) out.answer_to(call, error(EPERM));
  }
#endif
  out.add(unless_equal(SYS_clone, one ? 5 : 3));
  out.add(load(first_argument));
  out.add({BPF_JMP | BPF_JSET | BPF_K, 0, 1, namespaces});
  out.add(answer(error(EPERM)));
  if (one) {
    out.add({BPF_JMP | BPF_JSET | BPF_K, 1, 0, CLONE_THREAD});
    out.add(answer(error(EPERM)));
  }
  out.add(answer(SECCOMP_RET_ALLOW));
  return out.filter;
}

}  // namespace

const CallFilter& call_filter(Processes processes) {
  static constexpr CallFilter several = write_filter(Processes::several), one = write_filter(Processes::one);
  return processes == Processes::one ? one : several;
}

}  // namespace schaas::toolchain
