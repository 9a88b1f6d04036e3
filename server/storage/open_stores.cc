#include "server/storage/open_stores.h"

#include <utility>

#include "kernels_cache/binary_store_database.h"
#include "kernels_cache/binary_store_files.h"
#include "kernels_cache/job_salvage.h"
#include "kernels_cache/schedule_store_database.h"
#include "kernels_cache/sqlite.h"
#include "server/storage/backup.h"

// Damage found at the start is handled by the kind of database. The schedule database is a cache: it is set
// aside and begun anew. Jobs were promised: those that are whole are kept, and where none can be read the
// start is refused.
namespace schaas::server {

support::Result<Stores> open_shared_stores(const DataDirectory& directory,
                                           std::shared_ptr<kernels_cache::Database> database,
                                           std::uint64_t near_bytes) {
  SCHAAS_ASSIGN_OR_RETURN(auto near, kernels_cache::open_file_binary_store(directory.binaries()));
  const auto clock = kernels_cache::system_clock();
  return Stores{kernels_cache::make_schedule_store(database, clock),
                kernels_cache::make_database_binary_store(database, std::move(near), near_bytes, clock)};
}

support::Result<Stores> open_stores(const DataDirectory& directory, const Log& log) {
  SCHAAS_RETURN_IF_ERROR(recover(directory));
  const std::string path = directory.database();
  auto schedules = kernels_cache::open_sqlite_schedule_store(path, kernels_cache::system_clock());
  if (!schedules.ok() && schedules.error().code == "damaged-database") {
    log->error("recreating the schedule database, the damaged one is kept as {}.damaged: {}", path,
               support::render(schedules.error()));
    SCHAAS_RETURN_IF_ERROR(kernels_cache::set_aside(path));
    schedules = kernels_cache::open_sqlite_schedule_store(path, kernels_cache::system_clock());
  }
  if (!schedules.ok()) return schedules.error();
  SCHAAS_ASSIGN_OR_RETURN(auto binaries, kernels_cache::open_file_binary_store(directory.binaries()));
  return Stores{std::move(schedules).value(), std::move(binaries)};
}

support::Result<std::unique_ptr<kernels_cache::JobStore>> open_jobs(const DataDirectory& directory,
                                                                    const kernels_cache::JobLimits& limits,
                                                                    const Log& log) {
  const std::string path = directory.jobs();
  auto jobs = kernels_cache::open_job_store(path, kernels_cache::system_clock(), limits);
  if (jobs.ok() || jobs.error().code != "damaged-database") return jobs;
  const auto salvaged = kernels_cache::salvage_jobs(path);
  // The first error tells more when nothing could be kept.
  if (!salvaged.ok()) return salvaged.error().code == "damaged-database" ? jobs.error() : salvaged.error();
  log->error("the job database is damaged: {} jobs are kept, {} are lost; it is kept as {}.damaged: {}",
             salvaged->kept, salvaged->lost, path, support::render(jobs.error()));
  return kernels_cache::open_job_store(path, kernels_cache::system_clock(), limits);
}

}  // namespace schaas::server
