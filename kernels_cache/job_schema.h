#pragma once
#include "kernels_cache/database.h"

namespace schaas::kernels_cache {

/// Returns the schema of the job database. docs/storage.md.
const Schema& job_schema();
/// Returns the same tables for PostgreSQL.
const Schema& postgres_job_schema();

}  // namespace schaas::kernels_cache
