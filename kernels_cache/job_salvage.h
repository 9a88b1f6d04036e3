#pragma once
#include <cstdint>
#include <string>

#include "compiler/support/result.h"

namespace schaas::kernels_cache {

struct SalvagedJobs {
  std::uint64_t kept = 0;  ///< jobs that were whole
  std::uint64_t lost = 0;  ///< jobs of which some rows could be read
};

/// Sets a damaged job database aside (set_aside in sqlite.h) and makes a new one with the jobs that are
/// whole. The content of such a job has the digest that was stored when it was accepted. Jobs keep their ids
/// and the ends of their items. Errors: invalid [damaged-database], untouched, when no job can be read; those
/// of open_connection.
support::Result<SalvagedJobs> salvage_jobs(const std::string& path);

}  // namespace schaas::kernels_cache
