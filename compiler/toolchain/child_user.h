#pragma once
#include <sys/types.h>

#include <optional>
#include <string>

#include "compiler/support/result.h"
#include "compiler/toolchain/child_process.h"

/// Users of children. Where the daemon is the superuser, an isolated child runs as a user without a name.
/// That user owns nothing of the daemon's, and the system bounds its processes (RLIMIT_NPROC).
namespace schaas::toolchain {

/// Numbers that neither Debian (policy, 9.2.2) nor systemd (UIDS-GIDS) gives to anybody.
constexpr uid_t first_child_user = 65520, last_child_user = 65533;

/// Returns the user of the next child, each number in turn. None where this process may not change users, or
/// where something that the child reads is closed to others: the child then keeps the user.
std::optional<uid_t> next_child_user(const ChildOptions& options);

/// Gives a working directory, and all in it, to a user. Errors: exhausted [no-process].
support::Result<void> give_directory(const std::string& path, uid_t user);

/// Makes this process the user's, for good. For use between vfork and exec. Returns false when the system
/// refuses.
[[nodiscard]] bool become_user(uid_t user);

/// Returns the processes and threads that a user of children may have.
std::size_t max_child_processes();

}  // namespace schaas::toolchain
