#pragma once
#include <cstdint>
#include <memory>

#include "kernels_cache/binary_store.h"
#include "kernels_cache/schedule_store.h"

namespace schaas::server {

/// The stores of a daemon's answers.
struct Stores {
  std::shared_ptr<kernels_cache::ScheduleStore> schedules;
  std::shared_ptr<kernels_cache::BinaryStore> binaries;
};

/// Deletes kernel rows whose binary is missing; returns their number. Thread-safe. Errors: those of the
/// stores.
support::Result<std::uint64_t> drop_rows_without_binary(const Stores& stores);

}  // namespace schaas::server
