#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/passes.h"
#include "compiler/support/result.h"

/// Runs passes of the table, and observes each on request.
namespace schaas::lower {

/// The effect of one pass on one kernel.
struct Remark {
  std::string pass;
  bool applied = false;
  std::string reason;  ///< set when the pass was not applied
  std::chrono::nanoseconds time{0};
};

struct PassOptions {
  PassList passes = all_passes();
  bool verify = false;                     ///< verifies the kernel after each pass; for tests
  std::vector<Remark>* remarks = nullptr;  ///< receives a remark for each pass, in table order
};

/// Runs the passes on trees. `machine`: the one that the kernel is for.
void run_passes(NestTree& tree, Machine machine, const PassOptions& options);
/// Runs the passes on kernels. `names` issues names that the kernel does not have. Errors, when it verifies:
/// internal [loop-ir] with the name of the pass.
support::Result<loop_ir::Kernel> run_passes(loop_ir::Kernel kernel, Names& names, const PassOptions& options);

}  // namespace schaas::lower
