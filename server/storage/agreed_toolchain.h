#pragma once
#include <memory>

#include "compiler/toolchain/toolchain.h"
#include "kernels_cache/schedule_store.h"
#include "server/telemetry/log.h"

namespace schaas::server {

/// Compilers whose names kernels are found under: those of this machine, or those that all servers of a
/// database agreed on.
enum class Compilers { each_its_own, the_agreed };

/// A toolchain whose kernels are found again where it is not installed, by the identities that are stored for
/// each target. With `each_its_own` a compiler that works makes its own kernels, and a target that `own`
/// cannot compile for has the stored identity. With `the_agreed` a target has the identity that was stored
/// first; where `own` is another, it compiles nothing: unsupported [other-compiler]. Stored kernels are
/// served either way. Thread-safe.
std::shared_ptr<toolchain::Toolchain> make_agreed_toolchain(
    std::shared_ptr<toolchain::Toolchain> own, std::shared_ptr<kernels_cache::ScheduleStore> schedules,
    Compilers compilers, Log log);

/// Checks that `own` is the compiler of each agreed target that it has one for. Errors: unsupported
/// [other-compiler]; those of the store.
support::Result<void> check_agreed_toolchain(const toolchain::Toolchain& own,
                                             kernels_cache::ScheduleStore& schedules);

/// Makes `own` the compiler of each target that it has one for. Errors: those of the store.
support::Result<void> adopt_toolchain(const toolchain::Toolchain& own,
                                      kernels_cache::ScheduleStore& schedules);

}  // namespace schaas::server
