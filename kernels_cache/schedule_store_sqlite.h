#pragma once
#include <memory>
#include <string>

#include "kernels_cache/clock.h"
#include "kernels_cache/schedule_store.h"

namespace schaas::kernels_cache {

/// Opens or creates the database at `path` and brings its schema up to date in one transaction. Write-ahead
/// log, synchronous NORMAL: a crash of the machine may lose the last rows, never the file. Errors: invalid
/// [newer-schema] (written by a later schaas), [damaged-database] (not a database), [data-directory] (cannot
/// be opened: permissions); exhausted [disk-full].
support::Result<std::unique_ptr<ScheduleStore>> open_sqlite_schedule_store(
    const std::string& path, std::shared_ptr<const Clock> clock);

}  // namespace schaas::kernels_cache
