#pragma once
#include <functional>
#include <vector>

#include "schaas/kernel_source.h"
#include "schaas/v1/schaas.pb.h"

namespace schaas::client {

/// An answer as it came over the wire, so that what is kept of it is all of it, whatever fields it has.
struct ReceivedAnswer {
  v1::Frontier frontier;
  std::vector<v1::Kernel> kernels;  ///< a draft only where the full kernel of its schedule has not come
};

/// Adds a kernel; a draft serves until the full kernel of its schedule is there. For kernels as they came and
/// as values.
void add_kernel(std::vector<v1::Kernel>& kernels, const v1::Kernel& kernel);
void add_kernel(std::vector<KernelInfo>& kernels, const KernelInfo& kernel);

/// Tells a complete answer event by event, as a server would; notes in it when the listener has had enough.
void tell(ScheduleAnswer& answer, const std::function<bool(const ScheduleEvent&)>& listener);

}  // namespace schaas::client
