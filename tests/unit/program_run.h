#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "compiler/problem/problem.h"
#include "compiler/schedule/trace.h"

namespace schaas::testing {

/// A program and the sizes to try it at.
struct ProgramCase {
  std::string program;
  std::map<std::string, std::string> formats;
  std::map<std::string, std::int64_t> extents;  ///< by index
  std::string trace = "";
  double density = 0.3;  ///< of the operands with a compressed level
  std::string position_bits = "32";
  std::string value_type = "f64";
};

/// The tree of a program's trace, or the diagnostic's text.
std::string tree_of(const ProgramCase& run);

/// Applies the trace, lowers, compiles and runs on random operands, counting, scanning and filling by hand,
/// once whole and once in pieces; compares with the program's value by definition. "" when all is well, else
/// what went wrong.
std::string check_program(const ProgramCase& run, std::uint64_t seed);

/// How many entries the last checked result stored, level by level; -1 for a dense level.
struct Stored {
  std::vector<std::int64_t> entries;
};
std::string check_program(const ProgramCase& run, std::uint64_t seed, Stored& stored);

}  // namespace schaas::testing
