#pragma once
#include "kernels_cache/database.h"

/// The schema of the schedule database, and the digests of its rows.
namespace schaas::kernels_cache {

// A row whose digest does not fit is no row: a letter of it changed on the disk. The request makes it again.
// On disk, never edit.
#define FRONTIER_DIGEST                                                                    \
  "row_digest(problem.key, problem.canonical, frontier.options, frontier.search_version, " \
  "frontier.complete, "                                                                    \
  "frontier.schedules, frontier.seconds, frontier.created, frontier.payload)"
#define KERNEL_DIGEST                                                                                \
  "row_digest(problem.key, problem.canonical, kernel.key, kernel.trace, kernel.isa, kernel.sha256, " \
  "kernel.bytes, kernel.seconds, kernel.created, kernel.signature)"
#define MEASUREMENT_DIGEST                                                                                \
  "row_digest(problem.key, problem.canonical, measurement.host, measurement.sizes, measurement.threads, " \
  "measurement.isa, measurement.trace, measurement.code_version, measurement.seconds, measurement.created)"
#define SOUND_FRONTIER "frontier.digest = " FRONTIER_DIGEST " "
#define SOUND_KERNEL "kernel.digest = " KERNEL_DIGEST " "
#define SOUND_MEASUREMENT "measurement.digest = " MEASUREMENT_DIGEST " "

/// The newest schema version this code knows (PRAGMA user_version).
inline constexpr int schema_version = 10;
const Schema& schedule_schema();

/// Returns the same tables for PostgreSQL.
const Schema& postgres_schedule_schema();

}  // namespace schaas::kernels_cache
