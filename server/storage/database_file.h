#pragma once
#include <memory>
#include <string>

#include "kernels_cache/database.h"

namespace schaas::server {

/// Reads the connection string of the database that servers share; it may hold a password. Errors: invalid
/// [database] when the file cannot be read, others than its owner may read it, or it holds no connection
/// string.
support::Result<std::string> read_database_file(const std::string& path);

/// Opens the database that a file names, with the tables of all stores, as a "server" or a "worker". Errors:
/// those of read_database_file and of open_postgres.
support::Result<std::shared_ptr<kernels_cache::Database>> open_shared_database(const std::string& path,
                                                                               const std::string& role);

}  // namespace schaas::server
