#include "compiler/pipeline/gpu_schedules.h"

#include <algorithm>
#include <utility>

#include "compiler/lower/lower.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/support/schedule_id.h"

// Selection of the schedules that are offered for GPUs. Capacity is shared evenly among the survivors, and
// what one leaves is passed on to the next. Numbers are part of answers, so the order must not depend on
// anything but the frontier.
namespace schaas::pipeline {
namespace {

/// Minimum for each survivor of a long frontier, while there is capacity.
constexpr std::size_t min_per_survivor = 4;

}  // namespace

std::vector<GpuSchedule> gpu_schedules(const frontier::Frontier& frontier, const problem::Problem& problem) {
  std::vector<GpuSchedule> out;
  if (problem::type_not_on_gpu(problem)) return out;
  const std::size_t all = frontier.survivors.size();
  for (std::size_t s = 0; s < all && out.size() < max_gpu_schedules; ++s) {
    // Capacity unused by earlier survivors is shared by the remaining ones.
    const std::size_t each = std::max((max_gpu_schedules - out.size()) / (all - s), min_per_survivor);
    const schedule::Trace& trace = frontier.survivors[s].traces.front();
    for (auto& point : frontier::gpu_points(trace, problem, std::min(each, max_gpu_schedules - out.size()))) {
      const auto same = [&](const GpuSchedule& other) {
        return concrete_notation::equal(other.point.tree, point.tree);
      };
      if (std::any_of(out.begin(), out.end(), same)) continue;
      // Schedules that lowering rejects (merged lists, occupancy) are not for a GPU.
      const auto kernel = lower::lower(point.tree, problem);
      if (!kernel.ok() || !kernel->for_gpu()) continue;
      out.push_back({support::print({support::ScheduleId::Kind::gpu, out.size() + 1}), s, std::move(point)});
    }
  }
  return out;
}

}  // namespace schaas::pipeline
