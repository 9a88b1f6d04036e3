#pragma once
#include <memory>

#include "kernels_cache/binary_store.h"
#include "kernels_cache/schedule_store.h"

namespace schaas::server {

/// The two stores the daemon keeps its answers in.
struct Stores {
  std::shared_ptr<kernels_cache::ScheduleStore> schedules;
  std::shared_ptr<kernels_cache::BinaryStore> binaries;
};

}  // namespace schaas::server
