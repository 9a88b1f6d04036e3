#pragma once
#include "server/caching_provider.h"
#include "server/data_directory.h"
#include "server/log.h"

namespace schaas::server {

/// The stores of a data directory. The schedule database is a cache: a damaged one is set aside
/// (schedules.db.damaged), logged, and begun anew. Errors: those of the stores.
support::Result<Stores> open_stores(const DataDirectory& directory, const Log& log);

}  // namespace schaas::server
