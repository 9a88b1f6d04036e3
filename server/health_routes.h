#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "server/http_door.h"
#include "server/metrics.h"

namespace schaas::server {

/// /metrics for Prometheus, /healthz (200 while the process answers) and /readyz (200 while requests are
/// taken, 503 otherwise: load balancers look there).
std::vector<HttpRoute> health_routes(std::shared_ptr<const Metrics> metrics, std::function<bool()> is_ready);

}  // namespace schaas::server
