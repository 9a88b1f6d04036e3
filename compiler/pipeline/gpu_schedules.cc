#include "compiler/pipeline/gpu_schedules.h"

#include <algorithm>
#include <utility>

#include "compiler/lower/lower.h"
#include "compiler/schedule/apply.h"

namespace schaas::pipeline {
namespace {

/// What survivors of a long frontier get at least, while there is room.
constexpr std::size_t least_of_a_survivor = 4;

}  // namespace

std::vector<GpuSchedule> gpu_schedules(const frontier::Frontier& frontier, const problem::Problem& problem) {
  std::vector<GpuSchedule> out;
  const std::size_t all = frontier.survivors.size();
  for (std::size_t s = 0; s < all && out.size() < most_gpu_schedules; ++s) {
    // What earlier ones left is shared by those that are left.
    const std::size_t each = std::max((most_gpu_schedules - out.size()) / (all - s), least_of_a_survivor);
    const schedule::Trace& trace = frontier.survivors[s].traces.front();
    for (auto& point :
         frontier::gpu_points(trace, problem, std::min(each, most_gpu_schedules - out.size()))) {
      const auto same = [&](const GpuSchedule& other) {
        return concrete_notation::equal(other.point.tree, point.tree);
      };
      if (std::any_of(out.begin(), out.end(), same)) continue;
      // What lowering refuses (merged lists, remembered elements) is no schedule for a GPU.
      const auto kernel = lower::lower(point.tree, problem);
      if (!kernel.ok() || !kernel->for_gpu()) continue;
      out.push_back({"g" + std::to_string(out.size() + 1), s, std::move(point)});
    }
  }
  return out;
}

}  // namespace schaas::pipeline
