#pragma once
#include <string>
#include <vector>

#include "compiler/pipeline/gpu_schedules.h"
#include "server/answers/prepared_problem.h"
#include "server/answers/scheduling.h"

namespace schaas::server {

/// The GPU schedules of a frontier, in canonical names.
class GpuSchedules {
 public:
  /// `deterministic` keeps only schedules whose results do not depend on the order of threads. Ids are the
  /// same with and without it.
  GpuSchedules(const frontier::Frontier& found, const PreparedProblem& prepared, bool deterministic);

  /// Returns the schedules in the user's names. Errors: those of schedule::apply.
  support::Result<std::vector<answers::GpuSchedule>> named() const;
  /// Returns up to `most` schedules to compile before the client's sizes are known, likeliest first.
  std::vector<pipeline::GpuSchedule> likeliest(std::size_t most) const;
  /// Finds a schedule by id. Errors: invalid [unknown-schedule], also for one excluded by `deterministic`.
  support::Result<pipeline::GpuSchedule> schedule(const std::string& id) const;
  bool empty() const;

 private:
  const frontier::Frontier& found_;
  const PreparedProblem& prepared_;
  const bool deterministic_;
  std::vector<pipeline::GpuSchedule> all_;
};

/// Returns the error that no schedule of the frontier runs on a GPU.
support::Diagnostic no_gpu_schedule(const problem::Problem& problem);

}  // namespace schaas::server
