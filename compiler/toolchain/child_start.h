#pragma once
#include <sys/types.h>

#include "compiler/support/result.h"
#include "compiler/toolchain/child_process.h"

namespace schaas::toolchain {

/// Standard files of a child; -1: none.
struct ChildFiles {
  int input = -1, output = -1, error = -1;
};

/// Starts a program in a process group of its own with the limits of `options` (its wall time aside), nothing
/// inherited but `files`. It dies with the thread that started it. Errors: exhausted [no-process].
support::Result<pid_t> start_child(const ChildOptions& options, const ChildFiles& files);

/// Kills what is left of the group, then collects the child: in this order its number cannot be another's
/// yet. Its exit code, or 128 + the signal that ended it.
int end_child(pid_t pid);

support::Diagnostic refused_by_system(const char* what);

}  // namespace schaas::toolchain
