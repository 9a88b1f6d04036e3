#pragma once
#include <memory>

#include "kernels_cache/binary_store.h"
#include "kernels_cache/clock.h"
#include "kernels_cache/database.h"

namespace schaas::kernels_cache {

/// Returns a store of binaries in a database that servers share (postgres_schedule_schema). `near` holds
/// those that this server used last, up to `near_bytes` (0: no limit), and is read first; its content is
/// checked by digest like that of the database, and may be lost at any time.
std::unique_ptr<BinaryStore> make_database_binary_store(std::shared_ptr<Database> database,
                                                        std::unique_ptr<BinaryStore> near,
                                                        std::uint64_t near_bytes,
                                                        std::shared_ptr<const Clock> clock);

}  // namespace schaas::kernels_cache
