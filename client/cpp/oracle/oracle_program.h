#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "schaas/tensor.h"

namespace schaas::client {

/// A dense array as the oracle reads it: `offset` strides for the driver's indices, `inner` strides for the
/// others. An index that occurs twice has the sum of its strides.
struct StridedAccess {
  std::map<std::string, std::int64_t> strides;
  std::vector<std::int64_t> driver_strides;  ///< by driver depth (0-based); 0 when the index does not occur
  int bound_at = 0;                          ///< number of driver coordinates that must be bound
};

/// out[...] += in[...] * factor[...] over all loops, for one factor.
struct OracleStep {
  struct Loop {
    std::int64_t extent, in, factor, out;  ///< strides; the last loop is the innermost
  };
  int factor = 0;
  std::vector<Loop> loops;
  std::int64_t out_size = 1;
};

/// Operations of the oracle at each depth (number of bound driver coordinates), from `result_depth` down to
/// the leaves.
struct OracleProgram {
  int depths = 0;        ///< distinct indices of the driver
  int result_depth = 0;  ///< depth at which a finished partial result is added to the result
  std::vector<std::vector<OracleStep>> steps;  ///< by depth
  std::vector<std::int64_t>
      accumulator_size;  ///< by depth: elements of the sum of the children's partial results
  std::vector<std::string> result_indices;  ///< modes of the final partial result
  std::vector<std::int64_t> result_extents;
  double multiplications = 0;
  std::int64_t largest = 1;  ///< elements of the largest partial result
};

struct OracleShape {
  std::vector<std::string> driver;  ///< distinct indices of the driver, in depth order
  std::vector<double> visits;       ///< by depth 0..depths: distinct prefixes of that many coordinates
  std::vector<StridedAccess> factors;
  std::vector<std::string> result_indices;  ///< distinct
  std::map<std::string, std::int64_t> extents;
};

/// Returns the assignment of factors to depths with the fewest multiplications. A factor may be multiplied at
/// any depth where its driver indices are bound, but not above result_depth. There, partial results of
/// children belong to different elements of the result and cannot be summed. Within a depth the cheapest
/// factor goes first. An index outside the driver is summed as soon as neither a later factor nor the result
/// needs it.
OracleProgram oracle_program(const OracleShape& shape);

}  // namespace schaas::client
