#pragma once
#include <functional>
#include <vector>

#include "schaas/kernel_source.h"

namespace schaas::client {

/// Adds a kernel; a full kernel replaces the baseline kernel of its schedule.
void add_kernel(std::vector<KernelInfo>& kernels, const KernelInfo& kernel);

/// Drops the kernels of parts of the space, which a long search sends before its answer. They stay until the
/// whole frontier and a kernel of it have come. `traces` are those that were asked for.
void drop_parts(ScheduleAnswer& answer, const std::vector<std::string>& traces);

/// Tells a complete answer event by event, as a server would; notes in it when the listener has had enough.
void tell(ScheduleAnswer& answer, const std::function<bool(const ScheduleEvent&)>& listener);

}  // namespace schaas::client
