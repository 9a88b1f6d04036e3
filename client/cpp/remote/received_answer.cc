#include "client/cpp/remote/received_answer.h"

#include <algorithm>

namespace schaas::client {

void add_kernel(std::vector<KernelInfo>& kernels, const KernelInfo& kernel) {
  const auto same = std::find_if(kernels.begin(), kernels.end(), [&](const KernelInfo& known) {
    return known.id == kernel.id && known.baseline != kernel.baseline;
  });
  if (same == kernels.end()) {
    kernels.push_back(kernel);
  } else if (!kernel.baseline) {
    *same = kernel;
  }
}

void tell(ScheduleAnswer& answer, const std::function<bool(const ScheduleEvent&)>& listener) {
  if (!listener) return;
  bool more = listener(answer.frontier);
  for (std::size_t k = 0; more && k < answer.kernels.size(); ++k) more = listener(answer.kernels[k]);
  if (more) listener(answer.done);
  if (!more) answer.left = ScheduleAnswer::Left::listener;
}

}  // namespace schaas::client
