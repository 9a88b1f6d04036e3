#pragma once
#include <string_view>

#include "compiler/lower/pass_runner.h"

namespace schaas::lower {

/// Runs passes on a kernel in the text form of loop IR, which is verified before and after each of them.
/// Passes on trees are skipped. Errors: those of loop_ir::parse and loop_ir::verify.
support::Result<loop_ir::Kernel> run_passes_on_text(std::string_view text, const PassOptions& options);

}  // namespace schaas::lower
