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

/// The stores' one way to SQLite: a database file with a numbered schema, statements, transactions.
namespace schaas::kernels_cache {

struct CloseDatabase {
  void operator()(sqlite3* database) const;
};
/// One connection. Not thread-safe by itself: a store holds its mutex.
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

/// How a file is opened. `what` names it in messages: "schedule database".
struct Schema {
  const char* what;
  std::span<const char* const> migrations;  ///< entry n brings version n (PRAGMA user_version) to n + 1
  /// True: what was committed outlives a crash of the machine, at the price of a flush for each commit.
  /// False: such a crash may lose the last rows, never the file.
  bool durable = false;
};

/// Opens or creates the database at `path`, write-ahead log, checks it as a whole (PRAGMA quick_check: reads
/// the file once) and brings its schema up to date in one transaction. Errors: invalid [newer-schema]
/// (written by a later schaas), [damaged-database] (not a database), [data-directory] (cannot be opened:
/// permissions); exhausted [disk-full].
support::Result<Database> open_database(const std::string& path, const Schema& schema);

/// Renames a damaged database to `path`.damaged, in place of an older one, so that a new one can be made; its
/// last rows (the write-ahead log) go with it. Nobody has it open. Errors: internal [storage].
support::Result<void> set_aside(const std::string& path);

/// Copies `database` as it is at one instant to a new file at `path`, some pages at a time, between which
/// `mutex` (that of the store) is free; removes it when that fails. Errors: those of storage_error.
support::Result<void> back_up(const Database& database, std::mutex& mutex, const std::string& path);

/// What SQLite last said about `database`, as our error. `doing` completes "cannot ..."; `file` is what was
/// to be opened, when that failed. exhausted [disk-full], [disk-read-only]; internal [damaged-database],
/// [storage].
support::Diagnostic storage_error(sqlite3* database, const std::string& doing, const std::string& file = "");

/// A prepared statement: bind in order, then step. Errors wait until `step`.
class Statement {
 public:
  Statement(const Database& database, const char* sql);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  Statement& bind(std::string_view text);
  Statement& bind(std::int64_t number);
  Statement& bind(double number);

  /// True when there is a row to read.
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

/// What `read` makes of every row of `query`, in order.
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

/// Rows changed by the last statement that ended.
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
