#pragma once
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "compiler/loop_ir/nodes.h"
#include "compiler/problem/problem.h"

/// Runs generated kernels on small random tensors and compares with a brute-force sum over all index values.
namespace schaas::testing {

/// Values of every coordinate, row-major by mode; for tensors with compressed levels only `present` ones are stored.
struct DenseTensor {
  std::vector<std::int64_t> extents;
  std::vector<double> values;
  std::vector<bool> present;
};

struct RunCase {
  problem::Problem problem;
  std::map<std::string, std::int64_t> extents;  ///< by index
  double density = 0.3;
  int pieces = 1;  ///< parallel phases are run in this many ranges, in reverse order
};

/// Random operands of a case.
std::map<std::string, DenseTensor> random_operands(const RunCase& run, std::mt19937_64& random);

/// The result by brute force.
std::vector<double> brute_force(const RunCase& run, const std::map<std::string, DenseTensor>& operands);

/// Compiles `kernel` (cc), loads it and runs it twice on the same workspace, checking both results against
/// brute_force; the text of the first difference, or "".
std::string compile_and_check(const loop_ir::Kernel& kernel, const RunCase& run, std::mt19937_64& random);

/// Lowers `tree` (text of concrete notation), verifies the loops and runs compile_and_check. "" when all is well.
std::string check_tree(const std::string& tree, const RunCase& run, std::uint64_t seed);

}  // namespace schaas::testing
