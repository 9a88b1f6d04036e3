#pragma once
#include <memory>
#include <string>

#include "compiler/support/result.h"
#include "kernels_cache/database.h"

struct sqlite3;

/// SQLite: database files with a numbered schema.
namespace schaas::kernels_cache {

/// Opens or creates the database at `path` with a write-ahead log. Checks it as a whole (PRAGMA quick_check
/// reads the file once) and migrates its schema in one transaction. SQL knows row_digest(a, b, ...), the
/// SHA-256 of values, for rows that tell a changed letter, and greatest(a, b). Errors: invalid [newer-schema]
/// (written by a later schaas), [damaged-database] (not a database), [data-directory] (cannot be opened:
/// permissions); exhausted [disk-full].
support::Result<std::unique_ptr<Connection>> open_connection(const std::string& path, const Schema& schema);
/// Opens an existing database as it is, for the rows that can still be read. Errors: those of storage_error.
support::Result<std::unique_ptr<Connection>> open_unchecked(const std::string& path,
                                                            const std::string& doing);

/// Opens a database behind one connection, which one thread has at a time. Errors: those of open_connection.
support::Result<std::shared_ptr<Database>> open_sqlite(const std::string& path, const Schema& schema);

/// Renames a damaged database to `path`.damaged, replacing an older one, together with its write-ahead log.
/// The database must not be open. Errors: internal [storage].
support::Result<void> set_aside(const std::string& path);

/// Converts SQLite's last error. `doing` completes "cannot ..."; `file` is the path that failed to open.
/// Returns exhausted [disk-full], [disk-read-only]; internal [damaged-database], [storage].
support::Diagnostic storage_error(sqlite3* database, const std::string& doing, const std::string& file = "");

}  // namespace schaas::kernels_cache
