#pragma once
#include <functional>
#include <string>
#include <vector>

#include "schaas/kernel_source.h"
#include "schaas/v1/bundle.pb.h"

namespace schaas::client {

/// The bytes of an answer as they came over the wire, so that what is kept of it is all of it, whatever
/// fields it has. Bytes, since messages of the library that asks servers are another type than those of this
/// one.
struct ReceivedAnswer {
  std::string frontier;              ///< v1::Frontier
  std::vector<std::string> kernels;  ///< v1::Kernel, as they came
};

/// The frontier and the kernels as messages; a draft only where the full kernel of its schedule has not come.
v1::Answer message_of(const ReceivedAnswer& answer);

/// Adds a kernel; a draft serves until the full kernel of its schedule is there. For kernels as messages and
/// as values.
void add_kernel(std::vector<v1::Kernel>& kernels, const v1::Kernel& kernel);
void add_kernel(std::vector<KernelInfo>& kernels, const KernelInfo& kernel);

/// Tells a complete answer event by event, as a server would; notes in it when the listener has had enough.
void tell(ScheduleAnswer& answer, const std::function<bool(const ScheduleEvent&)>& listener);

}  // namespace schaas::client
