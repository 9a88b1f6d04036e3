#pragma once
#include <string>
#include <vector>

#include "compiler/problem/problem.h"
#include "compiler/toolchain/toolchain.h"
#include "schaas/host.h"
#include "schaas/kernel.h"

namespace schaas::test_support {

/// A schedule of a problem compiled as a server does it, for this processor or a lesser one, and loaded as a
/// client does. Throws std::runtime_error with the diagnostic.
client::Kernel compiled_kernel(const problem::ProblemText& text, const std::string& trace,
                               const std::string& isa = client::host_isa());
client::Kernel compiled_kernel(const problem::ProblemText& text, const std::string& trace,
                               const toolchain::Target& target);

/// The instruction sets that this processor runs, of those whose code differs: the portable one first.
std::vector<std::string> instruction_sets();

}  // namespace schaas::test_support
