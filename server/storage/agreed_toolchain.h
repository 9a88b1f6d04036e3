#pragma once
#include <memory>

#include "compiler/toolchain/toolchain.h"
#include "kernels_cache/schedule_store.h"
#include "server/telemetry/log.h"

namespace schaas::server {

/// A toolchain whose kernels are found again where it is not installed any more. The identities that kernels
/// were made with are stored by target. A target that `own` cannot compile for has the stored identity, so
/// its stored kernels are served; a new one is refused as `own` refuses it. Thread-safe.
std::shared_ptr<toolchain::Toolchain> make_agreed_toolchain(
    std::shared_ptr<toolchain::Toolchain> own, std::shared_ptr<kernels_cache::ScheduleStore> schedules,
    Log log);

}  // namespace schaas::server
