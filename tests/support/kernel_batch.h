#pragma once
#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "compiler/toolchain/toolchain.h"
#include "tests/support/kernel_runner.h"

namespace schaas::test_support {

/// Many kernels in one object, for tests of thousands of them: starting a compiler costs more than compiling
/// one.
///
/// Each source is one print_c gave, unchanged: a #define around it gives its file-scope names a number, and
/// its prologue (declarations of the ABI and the value type) is read once. All sources must have the same
/// value type. Kernel n is exported as schaas_kernel_<n>.
std::string join_sources(const std::vector<std::string>& sources);

/// Compiles the joined sources and loads every kernel, in order.
support::Result<std::vector<LoadedKernel>> compile_batch(const std::vector<std::string>& sources,
                                                         toolchain::Toolchain& toolchain);

/// The system's compiler with the flags of the C toolchain but little optimisation, many times faster on big
/// sources. In a program built with a sanitizer the kernels are built with it too, so that reads outside an
/// array are caught; SCHAAS_SANITIZE_KERNELS in the environment asks for it in a program into which
/// libasan is preloaded.
class QuickToolchain {
 public:
  QuickToolchain();
  ~QuickToolchain();
  QuickToolchain(const QuickToolchain&) = delete;
  QuickToolchain& operator=(const QuickToolchain&) = delete;
  toolchain::Toolchain& operator*() { return *toolchain_; }

 private:
  std::string script_;  ///< the compiler, called with one more flag
  std::unique_ptr<toolchain::Toolchain> toolchain_;
};

}  // namespace schaas::test_support
