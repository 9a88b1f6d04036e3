#pragma once
#include "kernels_cache/sqlite.h"

namespace schaas::kernels_cache {

/// Returns the schema of the job database. docs/storage.md.
const Schema& job_schema();

}  // namespace schaas::kernels_cache
