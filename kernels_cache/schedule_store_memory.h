#pragma once
#include <memory>

#include "kernels_cache/clock.h"
#include "kernels_cache/schedule_store.h"

namespace schaas::kernels_cache {

/// Creates the in-memory twin of the SQLite store, for tests: same answers, nothing survives.
std::unique_ptr<ScheduleStore> make_memory_schedule_store(std::shared_ptr<const Clock> clock);

}  // namespace schaas::kernels_cache
