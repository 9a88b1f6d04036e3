#pragma once
#include <functional>
#include <memory>
#include <string>

#include "kernels_cache/job_store.h"
#include "server/active_requests.h"
#include "server/admitting_provider.h"
#include "server/caching_provider.h"
#include "server/kept_replies.h"
#include "server/metrics.h"

namespace schaas::server {

/// What the gauges are read from; it outlives them.
struct GaugeSources {
  Stores stores;
  std::shared_ptr<kernels_cache::JobStore> jobs;
  Lines lines;
  const ActiveRequests* requests;
  std::shared_ptr<const KeptReplies> replies;
  std::string quarantine;          ///< directory
  std::function<bool()> is_ready;  ///< whether requests are taken
};
/// Has `metrics` read what is stored, waits and runs, and what this process takes, whenever it is asked. A
/// store that cannot be read gives no sample.
void add_gauges(Metrics& metrics, const GaugeSources& sources);

}  // namespace schaas::server
