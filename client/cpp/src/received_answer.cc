#include "received_answer.h"

#include <algorithm>
#include <string>

namespace schaas::client {
namespace {

const std::string& id(const v1::Kernel& kernel) { return kernel.id(); }
const std::string& id(const KernelInfo& kernel) { return kernel.id; }
bool draft(const v1::Kernel& kernel) { return kernel.draft(); }
bool draft(const KernelInfo& kernel) { return kernel.draft; }

template <class Kernel>
void add(std::vector<Kernel>& kernels, const Kernel& kernel) {
  const auto same = std::find_if(kernels.begin(), kernels.end(), [&](const Kernel& known) {
    return id(known) == id(kernel) && draft(known) != draft(kernel);
  });
  if (same == kernels.end()) {
    kernels.push_back(kernel);
  } else if (!draft(kernel)) {
    *same = kernel;
  }
}

}  // namespace

v1::Answer message_of(const ReceivedAnswer& answer) {
  v1::Answer message;
  message.mutable_frontier()->ParseFromString(answer.frontier);
  std::vector<v1::Kernel> kernels;
  for (const std::string& bytes : answer.kernels) {
    v1::Kernel kernel;
    if (kernel.ParseFromString(bytes)) add_kernel(kernels, kernel);
  }
  message.mutable_kernels()->Assign(kernels.begin(), kernels.end());
  return message;
}

void add_kernel(std::vector<v1::Kernel>& kernels, const v1::Kernel& kernel) { add(kernels, kernel); }
void add_kernel(std::vector<KernelInfo>& kernels, const KernelInfo& kernel) { add(kernels, kernel); }

void tell(ScheduleAnswer& answer, const std::function<bool(const ScheduleEvent&)>& listener) {
  if (!listener) return;
  bool more = listener(answer.frontier);
  for (std::size_t k = 0; more && k < answer.kernels.size(); ++k) more = listener(answer.kernels[k]);
  if (more) listener(answer.done);
  if (!more) answer.left = ScheduleAnswer::Left::listener;
}

}  // namespace schaas::client
