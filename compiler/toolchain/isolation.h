#pragma once
#include <string>
#include <vector>

#include "compiler/toolchain/call_filter.h"

/// Isolation of a child process beside limits of time and memory. A compromised compiler, or a kernel on
/// trial, sees only the system's files and its own, can signal no process and has no network. Uses Landlock
/// and seccomp as far as the operating system offers them, at a fifth of a millisecond a child.
/// docs/security.md.
namespace schaas::toolchain {

struct Isolation {
  bool files = false;    ///< reads what `isolate` lists, writes below its working directory alone (Landlock)
  bool signals = false;  ///< none beyond itself and its children, nor their memory (Landlock, ABI 6)
  bool network = false;  ///< no socket, mount, namespace, ... (seccomp, call_filter.h)
  bool operator==(const Isolation&) const = default;
};

/// Returns the isolation that this system offers.
Isolation offered_isolation();
/// "files, signals, network"; "none".
std::string print(const Isolation& isolation);

/// From here on this process and its children have nothing but: to read and execute, the system's programs
/// and libraries and `readable`; to write as well, everything below `writable` ("/": nothing). Between vfork
/// and exec: only async-signal-safe calls. What the system does not offer is left out. Returns false when it
/// refuses what it offers: the process must end then.
[[nodiscard]] bool isolate(const std::vector<std::string>& readable, const std::string& writable,
                           Processes processes = Processes::several);

}  // namespace schaas::toolchain
