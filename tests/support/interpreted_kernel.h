#pragma once
#include <memory>
#include <string>

#include "compiler/loop_ir/kernel.h"
#include "proto/kernel_abi.h"
#include "tests/support/interpreted_code.h"

namespace schaas::test_support {

/// A kernel of loop IR that runs without a C compiler, behind the descriptor of the kernel ABI, so that
/// whatever runs compiled kernels runs it. Every access is checked against the size of its array, and
/// operations are counted. For kernels for CPUs. Not more than one lives at a time.
class InterpretedKernel {
 public:
  /// Throws BrokenCode for a kernel that the semantics of loop IR rule out.
  explicit InterpretedKernel(loop_ir::Kernel kernel);
  ~InterpretedKernel();
  InterpretedKernel(const InterpretedKernel&) = delete;
  InterpretedKernel& operator=(const InterpretedKernel&) = delete;

  const schaas_kernel_descriptor& descriptor() const;
  /// Operations of all calls so far. A phase that was run again counts again.
  InterpretedWork work() const;
  /// First error of a call; "": none. The call has returned SCHAAS_ERROR_ARGUMENT.
  std::string error() const;

 private:
  friend struct InterpretedCalls;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace schaas::test_support
