#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/support/result.h"
#include "kernels_cache/claims.h"

/// Databases behind the stores: one interface, two engines (sqlite.h, postgres.h). The texts of statements
/// are written once; parameters are $1, $2. Definitions of tables are each engine's own.
namespace schaas::kernels_cache {

/// Bytes in a column that holds any: text in SQLite, bytea in PostgreSQL.
struct Bytes {
  std::string_view bytes;
};

/// A statement of an engine: bound by number from 1, then stepped through.
class Cursor {
 public:
  virtual ~Cursor() = default;
  virtual void bind(int parameter, std::string_view text) = 0;
  virtual void bind(int parameter, std::int64_t number) = 0;
  virtual void bind(int parameter, double number) = 0;
  virtual void bind(int parameter, Bytes bytes) = 0;
  /// Advances; returns true when there is a row to read. Reports the errors of preparing and binding.
  virtual support::Result<bool> step(const std::string& doing) = 0;
  virtual std::string text(int column) const = 0;  ///< also of bytes; NULL reads as the empty text
  virtual std::int64_t integer(int column) const = 0;
  virtual double real(int column) const = 0;
  /// Returns the number of rows that the finished statement changed, without those of triggers.
  virtual std::uint64_t changed() const = 0;
};

/// Tables of a database in one engine, by numbered migrations. `what` names the database in messages:
/// "schedule database".
struct Schema {
  const char* what;
  std::span<const char* const> migrations;  ///< entry n brings version n to n + 1
  /// SQLite. True: a commit survives a crash of the machine and costs one flush. False: such a crash may lose
  /// the last rows, never the file.
  bool durable = false;
  std::span<const char* const> totals{};  ///< SQLite: temporary tables that triggers keep, made at each start
};

/// Time of a commit's flush. A crash of the machine may lose what is flushed later.
enum class Flush { now, later };

/// Differences between the engines that statements must know.
struct Dialect {
  const char* skip_locked;  ///< ends a query for a row that no other transaction works on
  /// Text that differs after a restart of the database, which ends all claims; a constant where a restart is
  /// that of the only process.
  const char* lifetime;
};

/// A process that is connected to the database.
struct ConnectedProcess {
  std::string name;   ///< process_name()
  std::string role;   ///< "server" or "worker"
  std::string since;  ///< UTC, ISO 8601
};

/// One connection. Not thread-safe.
class Connection {
 public:
  virtual ~Connection() = default;
  virtual std::unique_ptr<Cursor> prepare(const std::string& sql) = 0;
  virtual support::Result<void> begin(const std::string& doing, Flush flush) = 0;
  virtual support::Result<void> commit(const std::string& doing) = 0;
  virtual void roll_back() = 0;
  /// Tells every process that listens, with the commit when inside a transaction. Nobody but this process
  /// uses a SQLite database, so nothing is sent there.
  virtual support::Result<void> notify(const char* channel, const std::string& what) = 0;
  virtual const Dialect& dialect() const = 0;
};

/// A prepared statement: bind in order, then step. Errors are deferred to `step`.
class Statement {
 public:
  Statement(Connection& connection, const std::string& sql) : cursor_(connection.prepare(sql)) {}

  template <class Value>
  Statement& bind(const Value& value) {
    cursor_->bind(++parameter_, value);
    return *this;
  }
  Statement& bind(const std::string& text) { return bind(std::string_view(text)); }
  Statement& bind(const char* text) { return bind(std::string_view(text)); }

  support::Result<bool> step(const std::string& doing) { return cursor_->step(doing); }
  support::Result<void> run(const std::string& doing) {
    SCHAAS_RETURN_IF_ERROR(step(doing));
    return {};
  }

  std::string text(int column) const { return cursor_->text(column); }
  std::int64_t integer(int column) const { return cursor_->integer(column); }
  std::uint64_t count(int column) const { return static_cast<std::uint64_t>(integer(column)); }
  double real(int column) const { return cursor_->real(column); }
  std::uint64_t changed() const { return cursor_->changed(); }

 private:
  std::unique_ptr<Cursor> cursor_;
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

/// Begins, and rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(Connection& connection) : connection_(connection) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    if (open_) connection_.roll_back();
  }
  support::Result<void> begin(const std::string& doing, Flush flush = Flush::now) {
    SCHAAS_RETURN_IF_ERROR(connection_.begin(doing, flush));
    open_ = true;
    return {};
  }
  support::Result<void> commit(const std::string& doing) {
    SCHAAS_RETURN_IF_ERROR(connection_.commit(doing));
    open_ = false;
    return {};
  }

 private:
  Connection& connection_;
  bool open_ = false;
};

/// A connection for one thread at a time, given back by the destructor. A thread holds one at most.
using Session = std::unique_ptr<Connection, std::function<void(Connection*)>>;

/// Receives the notifications of other processes. Called by one thread at a time.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void hear(std::string_view channel, std::string_view what) = 0;
  /// Notifications may be missed from now on (`false`), or none from now on (`true`): everything may have
  /// changed in between.
  virtual void hearing(bool all) = 0;
};

/// A database. Thread-safe. Errors of every method: unreachable [database-unreachable] where a server does
/// not answer; exhausted [disk-full], [disk-read-only]; internal [storage], [damaged-database].
class Database {
 public:
  virtual ~Database() = default;
  virtual support::Result<Session> session() = 0;
  virtual Claims& claims() = 0;
  /// Adds a listener, which must outlive the database's threads or be removed.
  virtual void add(Listener& listener) = 0;
  virtual void remove(Listener& listener) = 0;
  /// Lists the processes that share the database; none where only this one uses it.
  virtual support::Result<std::vector<ConnectedProcess>> processes() = 0;
  /// Verifies a commit before a client is told of it. After an error the outcome is unknown.
  virtual support::Result<void> check_durable(const std::string& doing) = 0;
  /// Copies the database as of one instant into a new file; other calls proceed meanwhile.
  virtual support::Result<void> back_up(const std::string& path) = 0;
};

}  // namespace schaas::kernels_cache
