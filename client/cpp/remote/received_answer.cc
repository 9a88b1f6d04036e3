#include "client/cpp/remote/received_answer.h"

#include <algorithm>
#include <set>

#include "compiler/support/schedule_id.h"

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

void drop_parts(ScheduleAnswer& answer, const std::vector<std::string>& traces) {
  if (answer.frontier.partial) return;
  std::set<std::string> kept(traces.begin(), traces.end());
  for (const FrontierEntry& entry : answer.frontier.entries) kept.insert(entry.id);
  const auto is_kept = [&](const KernelInfo& kernel) {
    return kept.count(kernel.id) != 0 || support::is_gpu_id(kernel.id);
  };
  // A caller that left early keeps something to run.
  if (std::none_of(answer.kernels.begin(), answer.kernels.end(), is_kept)) return;
  std::erase_if(answer.kernels, [&](const KernelInfo& kernel) { return !is_kept(kernel); });
}

void tell(ScheduleAnswer& answer, const std::function<bool(const ScheduleEvent&)>& listener) {
  if (!listener) return;
  bool more = listener(answer.frontier);
  for (std::size_t k = 0; more && k < answer.kernels.size(); ++k) more = listener(answer.kernels[k]);
  if (more) listener(answer.done);
  if (!more) answer.left = ScheduleAnswer::Left::listener;
}

}  // namespace schaas::client
