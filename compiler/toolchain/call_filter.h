#pragma once
#include <linux/filter.h>

#include <cstddef>

/// System calls that a child is refused (seccomp), as a program for the kernel's packet filter.
///
/// Refused with EPERM: sockets, mounts, namespaces, modules, keys, BPF, performance counters; watching files,
/// their owners and extended attributes; tracing, limits and scheduling of other processes; calls by another
/// convention (32-bit, x32). Also leaving the process group: such a process would survive the group's end.
/// Refused with ENOSYS: clone3, whose flags a filter cannot read; the C library then calls clone.
/// A process that is to stay one gets no other: fork, vfork, and clone but for threads are refused.
/// Answered with success, without effect: modes and times of files, which linkers set and nobody reads.
namespace schaas::toolchain {

struct CallFilter {
  static constexpr std::size_t max_size = 256;
  sock_filter program[max_size];
  unsigned short size = 0;  ///< 0: there is no filter for this processor
};

/// Processes that a child may be.
enum class Processes {
  several,  ///< a compiler runs its passes, assembler and linker
  one,      ///< with any number of threads
};

const CallFilter& call_filter(Processes processes = Processes::several);

}  // namespace schaas::toolchain
