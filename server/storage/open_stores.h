#pragma once
#include <memory>

#include "kernels_cache/database.h"
#include "kernels_cache/job_store.h"
#include "server/storage/data_directory.h"
#include "server/storage/stores.h"
#include "server/telemetry/log.h"

namespace schaas::server {

/// Opens the stores in a database that servers share. The data directory keeps binaries near by, `near_bytes`
/// at most. Errors: those of the stores.
support::Result<Stores> open_shared_stores(const DataDirectory& directory,
                                           std::shared_ptr<kernels_cache::Database> database,
                                           std::uint64_t near_bytes);

/// Opens the stores of a data directory, after an interrupted restore is finished. The schedule database is a
/// cache: a damaged one is renamed to schedules.db.damaged, logged, and created anew. Errors: those of the
/// stores.
support::Result<Stores> open_stores(const DataDirectory& directory, const Log& log);

/// Opens the job database of a data directory. One that is damaged is renamed to jobs.db.damaged, and the
/// jobs in it that are whole are kept, which is logged. Errors: those of open_job_store; invalid
/// [damaged-database] when no job can be read.
support::Result<std::unique_ptr<kernels_cache::JobStore>> open_jobs(const DataDirectory& directory,
                                                                    const kernels_cache::JobLimits& limits,
                                                                    const Log& log);

}  // namespace schaas::server
