#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/problem/problem.h"
#include "schaas/blocks.h"
#include "schaas/kernel.h"
#include "schaas/oracle.h"

namespace schaas::test_support {

/// One schedule of a problem, compiled, and operands to run it on with the client's threads.
class ThreadedKernel {
 public:
  /// Operands have random entries at `density`; of sparse ones one row (slice of the first mode) in the
  /// middle is full, and every fifth empty. Values lie between 1/2 and 3/2, of either sign when `signs`.
  struct Shape {
    std::map<std::string, std::int64_t> extents;  ///< by index
    double density = 0.1;
    bool signs = true;
  };
  /// Extents are those of the user's indices: matrices in blocks are made and checked as the user sees them.
  ThreadedKernel(const problem::ProblemText& text, const std::string& trace, const Shape& shape,
                 std::uint64_t seed);

  struct Outcome {
    std::string error;           ///< "" when the result is as the client's oracle says
    client::DenseTensor result;  ///< every value
    std::int64_t folding_bytes = 0;
  };
  /// One run from the start.
  Outcome run(const client::ExecutionOptions& options);

 private:
  std::vector<client::PackedTensor> tensors_;
  std::unique_ptr<client::Kernel> kernel_;
  client::Expected expected_;
  client::Buffer before_;
  client::Blocks blocks_;
  std::string result_;
  std::vector<std::int64_t> result_extents_;
  format::TensorFormat result_format_;  ///< the user's, csr of a matrix in blocks
};

}  // namespace schaas::test_support
