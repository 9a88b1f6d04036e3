#pragma once
#include <string>
#include <vector>

#include "kernels_cache/clock.h"
#include "kernels_cache/job_store.h"

namespace schaas::server {

/// Ends of items within this time count for the rate; items of jobs that changed within the other are
/// counted.
inline constexpr std::chrono::minutes rate_time{10};
inline constexpr std::chrono::hours counted_time{24};

/// Renders the processes of a fleet: queue, rate, and by process and host what runs, was done and failed.
std::string fleet_page(const std::vector<kernels_cache::FleetProcess>& processes,
                       const std::map<kernels_cache::ItemState, std::uint64_t>& items);

}  // namespace schaas::server
