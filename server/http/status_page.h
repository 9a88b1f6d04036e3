#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "kernels_cache/job_store.h"
#include "server/http/http_server.h"
#include "server/rpc/server_facts.h"
#include "server/storage/stores.h"

namespace schaas::server {

/// Returns the routes of the read-only status page: / (overview), /jobs and /jobs/ID, /fleet
/// (fleet_page.h), /problems and /problems/KEY (frontier_page.h). Plain HTML; all stored text is escaped.
std::vector<HttpRoute> status_routes(Stores stores, std::shared_ptr<kernels_cache::JobStore> jobs,
                                     std::function<ServerFacts()> facts, std::function<bool()> is_ready);

}  // namespace schaas::server
