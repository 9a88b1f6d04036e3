#pragma once
#include <functional>
#include <memory>
#include <string>

#include "kernels_cache/job_store.h"
#include "server/providers/admitting_provider.h"
#include "server/rpc/active_requests.h"
#include "server/rpc/response_cache.h"
#include "server/storage/quarantine.h"
#include "server/storage/stores.h"
#include "server/telemetry/metrics.h"

namespace schaas::server {

/// Sources of the gauges; they outlive them.
struct GaugeSources {
  Stores stores;
  std::shared_ptr<kernels_cache::JobStore> jobs;
  AdmissionQueues queues;
  const ActiveRequests* requests;
  std::shared_ptr<const ResponseCache> response_cache;
  std::shared_ptr<const Quarantine> quarantine;
  std::function<bool()> is_ready;  ///< true while requests are accepted
};
/// Registers gauges for stored, waiting and running work and for the process, read on demand. A store that
/// cannot be read yields no sample.
void add_gauges(Metrics& metrics, const GaugeSources& sources);

}  // namespace schaas::server
