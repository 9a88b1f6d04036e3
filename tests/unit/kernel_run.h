#pragma once
#include <cstdint>
#include <map>
#include <random>
#include <string>

#include "compiler/problem/problem.h"

namespace schaas::testing {

/// A problem with the sizes to try it at.
struct RunCase {
  problem::Problem problem;
  std::map<std::string, std::int64_t> extents;  ///< by index
  double density = 0.3;                         ///< of the operands with a compressed level
};

/// Verifies `tree` (text of concrete notation), lowers it, verifies the loops, compiles, runs on random
/// operands in random pieces and compares with the oracle of tests/support. "" when all is well, else what
/// went wrong.
std::string check_tree(const std::string& tree, const RunCase& run, std::uint64_t seed);

}  // namespace schaas::testing
