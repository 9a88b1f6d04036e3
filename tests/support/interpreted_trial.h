#pragma once
#include <random>
#include <string>

#include "tests/support/interpreted_kernel.h"
#include "tests/support/kernel_trial.h"

namespace schaas::test_support {

/// Interprets a kernel on `runs` of the inputs, from `first` on. "" or what went wrong: another result than
/// the oracle's, an access outside an array, or code that the semantics of loop IR rule out.
inline std::string interpreted_error(const loop_ir::Kernel& kernel, const Trials& trials, std::size_t first,
                                     std::size_t runs, std::mt19937_64& random) {
  try {
    InterpretedKernel interpreted(kernel);
    const std::string error = trials.error_of(interpreted.descriptor(), first, runs, random);
    return error.empty() || interpreted.error().empty() ? error + interpreted.error()
                                                        : error + ": " + interpreted.error();
  } catch (const BrokenCode& broken) {
    return broken.what();
  }
}

}  // namespace schaas::test_support
