#pragma once
#include <string>
#include <vector>

#include "kernels_cache/schedule_store.h"
#include "server/subject.h"

/// Seconds that clients measured on their own tensors, kept for clients on like hosts.
namespace schaas::server {

/// Checks and keeps a client's measurements of a problem's schedules. All or, when one is wrong, none.
/// Errors: invalid [measurement] (says which and why), [isa]; those of canonical_trace and of the store.
support::Result<void> keep(const std::vector<NamedMeasurement>& measurements, const std::string& host,
                           const Subject& subject, kernels_cache::ScheduleStore& store);

/// Those known of a problem on one kind of host, newest first, in the user's names. One whose trace does not
/// apply any more is left out. Errors: those of the store.
support::Result<std::vector<NamedMeasurement>> measured(const Subject& subject, const std::string& host,
                                                        kernels_cache::ScheduleStore& store);

}  // namespace schaas::server
