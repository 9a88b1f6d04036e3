#pragma once
#include "server/storage/data_directory.h"
#include "server/storage/stores.h"
#include "server/telemetry/log.h"

namespace schaas::server {

/// Opens the stores of a data directory, after an interrupted restore is finished. The schedule database is a
/// cache: a damaged one is renamed to schedules.db.damaged, logged, and created anew. Errors: those of the
/// stores.
support::Result<Stores> open_stores(const DataDirectory& directory, const Log& log);

}  // namespace schaas::server
