#pragma once
#include <memory>
#include <string>

#include "kernels_cache/clock.h"
#include "kernels_cache/database.h"
#include "kernels_cache/schedule_store.h"

namespace schaas::kernels_cache {

/// Returns the store in a database with the tables of schedule_schema.h.
std::unique_ptr<ScheduleStore> make_schedule_store(std::shared_ptr<Database> database,
                                                   std::shared_ptr<const Clock> clock);

/// Opens or creates the SQLite database at `path`. A crash of the machine may lose the last rows, never the
/// file. Errors: those of open_sqlite.
support::Result<std::unique_ptr<ScheduleStore>> open_sqlite_schedule_store(
    const std::string& path, std::shared_ptr<const Clock> clock);

}  // namespace schaas::kernels_cache
