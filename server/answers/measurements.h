#pragma once
#include <string>
#include <vector>

#include "kernels_cache/schedule_store.h"
#include "server/answers/prepared_problem.h"

/// Timings measured by clients on their own tensors, kept for clients on hosts of the same class.
namespace schaas::server {

/// Checks and stores a client's timings of a problem's schedules, all or none. Errors: invalid [measurement]
/// (names the wrong one), [isa]; those of canonical_trace and of the store.
support::Result<void> keep(const std::vector<answers::Measurement>& measurements, const std::string& host,
                           const PreparedProblem& prepared, kernels_cache::ScheduleStore& store);

/// Returns the stored timings of a problem on one class of hosts, newest first, in the user's names. Timings
/// whose trace no longer applies are skipped. Errors: those of the store.
support::Result<std::vector<answers::Measurement>> measured(const PreparedProblem& prepared,
                                                            const std::string& host,
                                                            kernels_cache::ScheduleStore& store);

}  // namespace schaas::server
