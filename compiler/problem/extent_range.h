#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "compiler/problem/problem.h"

namespace schaas::problem {

/// Range that the constraints on the extent of one index leave: `8 <= k`, `k <= 256`. Missing: no such
/// constraint.
struct ExtentRange {
  std::optional<std::int64_t> least, most;
  bool holds(std::int64_t size) const { return size >= least.value_or(size) && size <= most.value_or(size); }
};
ExtentRange extent_range(const Problem& problem, const std::string& index);

}  // namespace schaas::problem
