#pragma once
#include <cstdint>
#include <vector>

#include "kernels_cache/clock.h"
#include "kernels_cache/database.h"

namespace schaas::kernels_cache {

/// A process of a fleet, with the items that it took of jobs that changed lately.
struct FleetProcess : ConnectedProcess {  ///< without role and time: it is not connected any more
  std::uint64_t running = 0, done = 0, failed = 0;
  std::uint64_t recent = 0;  ///< ended lately
};

/// Lists the processes that are connected, and those that took items of jobs that changed since `changed`, by
/// name. `recent` counts ends since then. Reads all items of those jobs.
support::Result<std::vector<FleetProcess>> fleet_processes(Database& database, Clock::Time changed,
                                                           Clock::Time recent);

}  // namespace schaas::kernels_cache
