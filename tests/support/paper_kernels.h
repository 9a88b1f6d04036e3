#pragma once
#include <string>
#include <vector>

#include "compiler/problem/problem.h"

namespace schaas::test_support {

/// One of the eight kernels SparseAuto is evaluated on (its table 2, with the typing error of the third row
/// corrected).
struct PaperKernel {
  std::string name;  ///< "K1"
  problem::ProblemText text;
  std::string symmetric_members;  ///< exact size of the symmetric space
};

/// K1..K8, f64; K7 with a dense result.
const std::vector<PaperKernel>& paper_kernels();
const PaperKernel& paper_kernel(const std::string& name);

}  // namespace schaas::test_support
