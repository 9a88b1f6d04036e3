#pragma once
#include <cstdint>
#include <memory>

#include "kernels_cache/binary_store.h"
#include "kernels_cache/schedule_store.h"

namespace schaas::server {

/// The two stores the daemon keeps its answers in.
struct Stores {
  std::shared_ptr<kernels_cache::ScheduleStore> schedules;
  std::shared_ptr<kernels_cache::BinaryStore> binaries;
};

/// Bytes of all stored binaries. Thread-safe. Errors: those of the store.
support::Result<std::uint64_t> stored_bytes(kernels_cache::BinaryStore& binaries);

/// Drops the rows of kernels whose binary is gone; how many there were. Thread-safe. Errors: those of the
/// stores.
support::Result<std::uint64_t> drop_rows_without_binary(const Stores& stores);

}  // namespace schaas::server
