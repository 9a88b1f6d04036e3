#include "client/cpp/runtime/workspaces.h"

#include <algorithm>
#include <limits>

namespace schaas::client {

support::Result<Workspaces> Workspaces::make(const schaas_kernel_descriptor& kernel,
                                             const std::vector<const schaas_tensor*>& arguments,
                                             int threads) {
  Workspaces out;
  out.kernel_ = &kernel;
  out.arguments_ = arguments.data();
  out.each_.resize(static_cast<std::size_t>(threads));
  const std::int64_t places = kernel.table_bytes == nullptr ? 0 : std::int64_t{SCHAAS_FIRST_PLACES};
  for (Workspace& each : out.each_) SCHAAS_RETURN_IF_ERROR(out.give(each, places));
  return out;
}

std::int64_t Workspaces::needed(std::int64_t places) const {
  if (places > 0) return kernel_->table_bytes(arguments_, places);
  return kernel_->workspace_bytes == nullptr ? 0 : kernel_->workspace_bytes(arguments_);
}

bool Workspaces::suit() const {
  return std::all_of(each_.begin(), each_.end(), [this](const Workspace& each) {
    return static_cast<std::int64_t>(each.memory.bytes()) == needed(each.places);
  });
}

support::Result<void> Workspaces::give(Workspace& to, std::int64_t places) {
  to.memory = Buffer();
  SCHAAS_ASSIGN_OR_RETURN(to.memory, allocate(needed(places), 1, "a temporary of the kernel"));
  if (places > 0) *to.memory.as<std::int64_t>() = places;
  to.places = places;
  return {};
}

support::Result<void> Workspaces::grow(int thread) {
  Workspace& own = each_[static_cast<std::size_t>(thread)];
  if (own.places > std::numeric_limits<std::int64_t>::max() / 1024)
    return too_large("a hash table of the kernel", std::to_string(own.places) + " places");
  return give(own, 2 * own.places);
}

support::Result<void> Workspaces::grow_all() {
  std::int64_t most = 0;
  for (const Workspace& each : each_) most = std::max(most, each.places);
  for (Workspace& each : each_) {
    if (each.places < most) SCHAAS_RETURN_IF_ERROR(give(each, most));
  }
  return {};
}

std::int64_t Workspaces::bytes() const {
  std::int64_t bytes = 0;
  for (const Workspace& each : each_) bytes += static_cast<std::int64_t>(each.memory.bytes());
  return bytes;
}

}  // namespace schaas::client
