#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "kernels_cache/job_store.h"
#include "server/http_door.h"
#include "server/server_facts.h"
#include "server/stores.h"

namespace schaas::server {

/// The status page, for reading: / (the server and what it holds), /jobs and /jobs/ID (progress, what
/// failed), /problems and /problems/KEY (frontier_page.h). Plain HTML; everything that is stored is escaped.
std::vector<HttpRoute> status_routes(Stores stores, std::shared_ptr<kernels_cache::JobStore> jobs,
                                     std::function<ServerFacts()> facts, std::function<bool()> is_ready);

}  // namespace schaas::server
