#pragma once
#include <string>
#include <vector>

#include "compiler/pipeline/gpu_schedules.h"
#include "server/scheduling.h"
#include "server/subject.h"

namespace schaas::server {

/// How the schedules of a frontier run on a GPU, by canonical names.
class GpuSchedules {
 public:
  /// `deterministic`: those alone that round the same way each time. Ids are the same with and without.
  GpuSchedules(const frontier::Frontier& found, const Subject& subject, bool deterministic);

  /// In the user's names. Errors: those of schedule::apply.
  support::Result<std::vector<NamedGpuSchedule>> named() const;
  /// The first ones: what is compiled before anybody's sizes are known.
  std::vector<pipeline::GpuSchedule> likeliest(std::size_t most) const;
  /// Errors: invalid [unknown-schedule], also of one that is left out, and says so.
  support::Result<pipeline::GpuSchedule> schedule(const std::string& id) const;
  bool empty() const;

 private:
  const frontier::Frontier& found_;
  const Subject& subject_;
  const bool deterministic_;
  std::vector<pipeline::GpuSchedule> all_;
};

/// That nothing of the frontier runs on a GPU.
support::Diagnostic no_gpu_schedule();

}  // namespace schaas::server
