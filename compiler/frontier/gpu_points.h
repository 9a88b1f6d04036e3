#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/schedule/trace.h"

/// Schedules of the frontier on a GPU: points of Sgap's grid {<x rows or entries, c columns>, r} (Zhang et
/// al., section 3). Proposed are those that are legal for its loops and can win. docs/gpu.md, "What the
/// search proposes".
namespace schaas::frontier {

struct GpuPoint {
  schedule::Trace trace;
  concrete_notation::StatementPtr tree;
  std::string text;               ///< "{<1/8 row, 4 col>, 8 parallel}"
  bool nondeterministic = false;  ///< concrete_notation::is_nondeterministic of the tree
};

/// At most `most` points of one schedule, all different, the likeliest first. A tree of several phases gets a
/// point for all of them; a phase that cannot have it is shared out by whole rows. None where the tree cannot
/// run on a GPU: it reads copies, appends to its result, runs in blocks. Left out of the grid is what another
/// point does no slower whatever the tensors hold; an index whose bound leaves threads without work loses the
/// wider points.
std::vector<GpuPoint> gpu_points(const schedule::Trace& trace, const problem::Problem& problem,
                                 std::size_t most);

}  // namespace schaas::frontier
