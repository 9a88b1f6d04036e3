#pragma once
#include <functional>
#include <vector>

#include "client/cpp/oracle/oracle_term.h"
#include "compiler/support/result.h"

namespace schaas::client {

struct OracleWalk {
  const std::vector<OracleAccess>* accesses = nullptr;
  const OracleSupport* support = nullptr;
  std::vector<int> loops;             ///< the indices that run
  std::vector<std::int64_t> extents;  ///< by index
};

/// Calls `visit` once for every point of the loops where the support holds. Entries of the accesses of a set
/// are joined: each looks up, by binary search, those that agree with the indices bound before it; indices
/// that no access binds run over their extents. A point of several sets belongs to the first. Errors:
/// unsupported [oracle-size] beyond `max_points` points.
support::Result<void> walk(const OracleWalk& request, const std::function<void(OraclePoint&)>& visit);

constexpr double max_points = 2e9;
/// Bounds the number of points by extents and numbers of entries.
double points_of(const OracleWalk& request);

}  // namespace schaas::client
