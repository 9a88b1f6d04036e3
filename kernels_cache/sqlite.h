#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/result.h"

struct sqlite3;
struct sqlite3_stmt;

/// Access to SQLite: database files with a numbered schema, statements, transactions.
namespace schaas::kernels_cache {

struct CloseDatabase {
  void operator()(sqlite3* database) const;
};
/// One connection. Not thread-safe: a store holds its mutex.
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

/// Schema and durability of a database. `what` names it in messages: "schedule database".
struct Schema {
  const char* what;
  std::span<const char* const> migrations;  ///< entry n brings version n (PRAGMA user_version) to n + 1
  /// True: a commit survives a crash of the machine and costs one flush. False: such a crash may lose the
  /// last rows, never the file.
  bool durable = false;
};

/// Opens or creates the database at `path` with a write-ahead log. Checks it as a whole (PRAGMA quick_check
/// reads the file once) and migrates its schema in one transaction. SQL knows row_digest(a, b, ...), the
/// SHA-256 of values, for rows that tell a changed letter. Errors: invalid [newer-schema] (written
/// by a later schaas), [damaged-database] (not a database), [data-directory] (cannot be opened: permissions);
/// exhausted [disk-full].
support::Result<Database> open_database(const std::string& path, const Schema& schema);
/// Opens an existing database as it is, for the rows that can still be read. Errors: those of storage_error.
support::Result<Database> open_unchecked(const std::string& path, const std::string& doing);

/// Renames a damaged database to `path`.damaged, replacing an older one, together with its write-ahead log.
/// The database must not be open. Errors: internal [storage].
support::Result<void> set_aside(const std::string& path);

/// Copies `database` as of one instant to a new file at `path`, some pages at a time; the store's `mutex` is
/// free in between. Removes the file on failure. Errors: those of storage_error.
support::Result<void> back_up(const Database& database, std::mutex& mutex, const std::string& path);

/// Converts SQLite's last error. `doing` completes "cannot ..."; `file` is the path that failed to open.
/// Returns exhausted [disk-full], [disk-read-only]; internal [damaged-database], [storage].
support::Diagnostic storage_error(sqlite3* database, const std::string& doing, const std::string& file = "");

/// A prepared statement: bind in order, then step. Errors are deferred to `step`.
class Statement {
 public:
  Statement(const Database& database, const char* sql);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  Statement& bind(std::string_view text);
  Statement& bind(std::int64_t number);
  Statement& bind(double number);

  /// Advances; returns true when there is a row to read.
  support::Result<bool> step(const std::string& doing);
  support::Result<void> run(const std::string& doing);

  std::string text(int column) const;
  std::int64_t integer(int column) const;
  std::uint64_t count(int column) const { return static_cast<std::uint64_t>(integer(column)); }
  double real(int column) const;

 private:
  Statement& note(int state);
  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
  int state_;
  int parameter_ = 0;
};

/// Applies `read` to every row of `query`, in order.
template <class Read>
auto all_rows(Statement& query, const std::string& doing, Read read)
    -> support::Result<std::vector<decltype(read(query))>> {
  std::vector<decltype(read(query))> rows;
  for (;;) {
    SCHAAS_ASSIGN_OR_RETURN(const bool more, query.step(doing));
    if (!more) return rows;
    rows.push_back(read(query));
  }
}

/// Runs statements, one after the other.
support::Result<void> run_all(const Database& database, std::span<const char* const> statements,
                              const std::string& doing);

/// Returns the number of rows changed by the last finished statement, without those of triggers.
std::uint64_t changes(const Database& database);

/// BEGIN IMMEDIATE ... COMMIT; rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(const Database& database) : database_(database.get()) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  support::Result<void> begin(const std::string& doing);
  support::Result<void> commit(const std::string& doing);

 private:
  sqlite3* database_;
  bool open_ = false;
};

}  // namespace schaas::kernels_cache
