#pragma once
#include <memory>
#include <string>
#include <vector>

#include "kernels_cache/database.h"

/// PostgreSQL: one database that several servers share.
namespace schaas::kernels_cache {

/// Opens a database and brings the tables of all schemas up to date, one process at a time. A newer version
/// that this one may read is left as it is. `uri`: a connection string of libpq, which may name several
/// hosts. `role` tells other processes what this one is. Connections are opened when they are needed,
/// `connections` at most, two more for claims and notifications. Errors: unreachable [database-unreachable];
/// invalid [newer-schema]; unsupported [no-postgresql] where this schaas was built without libpq.
support::Result<std::shared_ptr<Database>> open_postgres(const std::string& uri,
                                                         const std::vector<Schema>& schemas,
                                                         const std::string& role = "server",
                                                         std::size_t connections = 8);

}  // namespace schaas::kernels_cache
