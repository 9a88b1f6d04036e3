#pragma once
#include <cstdint>
#include <map>
#include <random>
#include <string>

#include "compiler/lower/passes.h"
#include "compiler/problem/problem.h"

namespace schaas::testing {

/// A problem with the sizes to try it at.
struct RunCase {
  problem::Problem problem;
  std::map<std::string, std::int64_t> extents;  ///< by index
  double density = 0.3;                         ///< entries of operands with a compressed level
};

/// Verifies `tree` (text of concrete notation), lowers it by the passes, verifies the loops and compiles.
/// Runs it on random operands in random ranges and compares with the oracle of tests/support. Returns "" or
/// the first error.
std::string check_tree(const std::string& tree, const RunCase& run, std::uint64_t seed,
                       const lower::PassList& passes = lower::all_passes());

}  // namespace schaas::testing
