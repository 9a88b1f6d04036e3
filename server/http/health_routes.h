#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "server/http/http_server.h"
#include "server/telemetry/metrics.h"

namespace schaas::server {

/// Returns the routes /metrics (Prometheus), /healthz (200 while the process answers) and /readyz (200 while
/// requests are accepted, else 503).
std::vector<HttpRoute> health_routes(std::shared_ptr<const Metrics> metrics, std::function<bool()> is_ready);

}  // namespace schaas::server
