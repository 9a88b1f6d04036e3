#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "compiler/frontier/frontier.h"
#include "compiler/frontier/gpu_points.h"
#include "compiler/problem/problem.h"

namespace schaas::pipeline {

/// A schedule of the frontier as it runs on a GPU.
struct GpuSchedule {
  std::string id;            ///< "g1", "g2", ...: of one frontier always the same
  std::size_t survivor = 0;  ///< index into frontier.survivors
  frontier::GpuPoint point;
};

/// Maximum per frontier, which bounds the size of a stored answer.
inline constexpr std::size_t max_gpu_schedules = 48;

/// The points (frontier::gpu_points) of each survivor that code can be made of, survivors in order, equal
/// trees once. Made anew from a stored frontier each time, as ways to run an entry are (docs/gpu.md): some
/// 0.2 ms a point. None for values that are integers.
std::vector<GpuSchedule> gpu_schedules(const frontier::Frontier& frontier, const problem::Problem& problem);

}  // namespace schaas::pipeline
