#include "kernels_cache/sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "compiler/support/digest.h"
#include "kernels_cache/file_system.h"

// The only file that calls SQLite. Errors become diagnostics in one function, storage_error: SQLite's own
// codes are too coarse, since a full, a read-only and a failing disk need different answers. The number of
// the system's last error on the database's files tells them apart.
// A database is opened with a write-ahead log, checked as a whole and migrated in one transaction. Migrations
// are texts that are never edited; the schema's number is PRAGMA user_version. A file with a higher number is
// left alone.
namespace schaas::kernels_cache {

using support::Diagnostic;
using support::Result;

namespace {

// Returns the errno of the last failure on a file of SQLite's; 0: none.
int last_errno(sqlite3_file* file) {
  int number = 0;
  if (file != nullptr && file->pMethods != nullptr)
    file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number);
  return number;
}

// Returns the errno of the last failure. SQLite reports what it does not know as an I/O error. A failed
// commit fails in the write-ahead log and leaves sqlite3_system_errno stale, so the files are asked first.
int system_errno(sqlite3* database) {
  for (const int which : {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER}) {
    sqlite3_file* file = nullptr;
    sqlite3_file_control(database, "main", which, &file);
    if (const int number = last_errno(file); number != 0) return number;
  }
  return sqlite3_system_errno(database);
}

// Returns true when `path` lies on a read-only file system. SQLite reports a file it cannot create there as
// missing.
bool is_on_read_only(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  struct statvfs found {};
  return ::statvfs(folder.c_str(), &found) == 0 && (found.f_flag & ST_RDONLY) != 0;
}

}  // namespace

/// Sorts an error by its primary code; an error of input and output by the number of the system's own.
Diagnostic storage_error(sqlite3* database, const std::string& doing, const std::string& file) {
  const std::string said = sqlite3_errmsg(database);
  const char* opened = sqlite3_db_filename(database, "main");
  const std::string path = opened == nullptr || *opened == '\0' ? file : opened;
  switch (sqlite3_errcode(database) & 0xff) {
    case SQLITE_FULL:
      return support::exhausted("disk-full", "cannot " + doing + ": the disk is full");
    case SQLITE_READONLY:
      return support::exhausted("disk-read-only", "cannot " + doing + ": the file system is read-only");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return support::internal("damaged-database",
                               "cannot " + doing + ": the database `" + path + "` is damaged (" + said + ")");
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      if (auto known = disk_error(doing, system_errno(database))) return *std::move(known);
      if (!path.empty() && is_on_read_only(path)) return disk_error(doing, EROFS).value();
      if (sqlite3_extended_errcode(database) == SQLITE_IOERR_WRITE) {  // a failing disk
        return support::exhausted("disk-full",
                                  "cannot " + doing + ": the disk is full, or does not take what is written");
      }
      [[fallthrough]];
    default:
      return support::internal("storage", "cannot " + doing + ": " + said);
  }
}

namespace {

struct CloseDatabase {
  // sqlite3_close_v2 also closes a connection that failed to open, and waits for statements that are left.
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
using Handle = std::unique_ptr<sqlite3, CloseDatabase>;

/// Errors of preparing and binding are kept and reported by `step`, so that calls can be chained.
class SqliteCursor final : public Cursor {
 public:
  SqliteCursor(sqlite3* database, const std::string& sql) : database_(database) {
    state_ = sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement_, nullptr);
  }
  SqliteCursor(const SqliteCursor&) = delete;
  SqliteCursor& operator=(const SqliteCursor&) = delete;
  ~SqliteCursor() override { sqlite3_finalize(statement_); }

  // SQLite copies the text, so it may be a temporary.
  void bind(int parameter, std::string_view text) override {
    note(sqlite3_bind_text64(statement_, index_of(parameter), text.data(), text.size(), SQLITE_TRANSIENT,
                             SQLITE_UTF8));
  }
  void bind(int parameter, std::int64_t number) override {
    note(sqlite3_bind_int64(statement_, index_of(parameter), number));
  }
  void bind(int parameter, double number) override {
    note(sqlite3_bind_double(statement_, index_of(parameter), number));
  }
  void bind(int parameter, Bytes bytes) override { bind(parameter, bytes.bytes); }

  // The first error wins; after it the statement is not run.
  Result<bool> step(const std::string& doing) override {
    if (state_ == SQLITE_OK) {
      const int stepped = sqlite3_step(statement_);
      if (stepped == SQLITE_ROW) return true;
      if (stepped == SQLITE_DONE) return false;
    }
    return storage_error(database_, doing);
  }

  std::string text(int column) const override {
    const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return data == nullptr
               ? std::string()
               : std::string(data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
  }
  std::int64_t integer(int column) const override { return sqlite3_column_int64(statement_, column); }
  double real(int column) const override { return sqlite3_column_double(statement_, column); }
  std::uint64_t changed() const override { return static_cast<std::uint64_t>(sqlite3_changes64(database_)); }

 private:
  // To SQLite $1 is a name, numbered by its first occurrence: mostly in order.
  int index_of(int parameter) {
    const char* name = sqlite3_bind_parameter_name(statement_, parameter);
    if (name != nullptr && std::atoi(name + 1) == parameter) return parameter;
    return sqlite3_bind_parameter_index(statement_, ("$" + std::to_string(parameter)).c_str());
  }
  void note(int state) {
    if (state_ == SQLITE_OK) state_ = state;
  }
  sqlite3* const database_;
  sqlite3_stmt* statement_ = nullptr;
  int state_;
};

Result<void> execute(sqlite3* database, const char* sql, const std::string& doing) {
  if (sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return storage_error(database, doing);
}

class SqliteConnection final : public Connection {
 public:
  explicit SqliteConnection(Handle database) : database_(std::move(database)) {}
  std::unique_ptr<Cursor> prepare(const std::string& sql) override {
    return std::make_unique<SqliteCursor>(database_.get(), sql);
  }
  // The schema says when its commits are flushed. IMMEDIATE takes the write lock at once: no statement can
  // fail later because another process writes.
  Result<void> begin(const std::string& doing, Flush) override {
    return execute(get(), "BEGIN IMMEDIATE", doing);
  }
  Result<void> commit(const std::string& doing) override { return execute(get(), "COMMIT", doing); }
  void roll_back() override { sqlite3_exec(get(), "ROLLBACK", nullptr, nullptr, nullptr); }
  Result<void> notify(const char*, const std::string&) override { return {}; }
  const Dialect& dialect() const override {
    static constexpr Dialect dialect{"", "''"};
    return dialect;
  }
  sqlite3* get() const { return database_.get(); }

 private:
  const Handle database_;
};

}  // namespace

namespace {

Diagnostic damaged(const std::string& path, const Schema& schema, const std::string& said) {
  return support::noting(
      support::invalid("damaged-database", "`" + path + "` is not a sound " + schema.what + ": " + said),
      schema.durable ? "restore a backup (schaasd --restore), or move the file away; then the jobs in it "
                       "have to be submitted again"
                     : "move the file away; what it held is computed again when asked for");
}

// Maps an error of opening; the messages name the file, which the user can repair.
Diagnostic open_error(sqlite3* database, const std::string& path, const Schema& schema) {
  const std::string said = database == nullptr ? "out of memory" : sqlite3_errmsg(database);
  const int code = database == nullptr ? SQLITE_NOMEM : sqlite3_errcode(database) & 0xff;
  if (code == SQLITE_FULL)
    return support::exhausted("disk-full", "cannot open `" + path + "`: the disk is full");
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) {
    return damaged(path, schema, said);
  }
  return support::invalid(
      "data-directory",
      "cannot open `" + path + "`: " + (is_on_read_only(path) ? "the file system is read-only" : said));
}

/// Applies the migrations from the number found to the newest, all or none.
Result<void> migrate(SqliteConnection& database, const std::string& path, const Schema& schema) {
  const int newest = static_cast<int>(schema.migrations.size());
  Transaction transaction(database);
  if (!transaction.begin("").ok()) return open_error(database.get(), path, schema);
  int found = 0;
  {
    Statement query(database, "PRAGMA user_version");
    if (auto row = query.step("read the schema version"); !row.ok())
      return open_error(database.get(), path, schema);
    found = static_cast<int>(query.integer(0));
  }
  if (found > newest || found < 0) {
    return support::noting(
        support::invalid("newer-schema", "`" + path + "` has schema version " + std::to_string(found) +
                                             ", this schaas knows versions up to " + std::to_string(newest)),
        "use the newer schaas, or another data directory");
  }
  for (int version = found; version < newest; ++version) {
    const std::string numbered = std::string(schema.migrations[static_cast<std::size_t>(version)]) +
                                 "PRAGMA user_version = " + std::to_string(version + 1) + ";";
    if (sqlite3_exec(database.get(), numbered.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
      return open_error(database.get(), path, schema);
  }
  if (!transaction.commit("").ok()) return open_error(database.get(), path, schema);
  return {};
}

// Finds damaged pages at the start, not at the first request that reads them.
Result<void> check(SqliteConnection& database, const std::string& path, const Schema& schema) {
  Statement query(database, "PRAGMA quick_check(1)");
  if (!query.step("check the database").ok()) return open_error(database.get(), path, schema);
  if (query.text(0) != "ok") return damaged(path, schema, query.text(0));
  return {};
}

/// Pages cached per database. The system's page cache holds the file already.
constexpr int cached_pages = 128;
constexpr int page_bytes = 4096;

/// Reserves the memory of both databases' pages once for the life of the process: pages allocated and freed
/// for months would fragment the heap. Further pages come from the heap. Returns false when SQLite works
/// without.
bool take_page_cache() {
  int header = 0;
  if (sqlite3_config(SQLITE_CONFIG_PCACHE_HDRSZ, &header) != SQLITE_OK) return false;
  // SQLite wants room for a header beside each page, and pages aligned to eight bytes.
  const int each = page_bytes + (header + 7) / 8 * 8, pages = 2 * cached_pages;
  static auto* const memory =  // outlives every database
      new std::vector<std::int64_t>(static_cast<std::size_t>(each) * pages / sizeof(std::int64_t), 1);
  return sqlite3_config(SQLITE_CONFIG_PAGECACHE, memory->data(), each, pages) == SQLITE_OK;
}

}  // namespace

Result<void> set_aside(const std::string& path) {
  // The log belongs to its file: beside a new database it would be applied to that.
  for (const char* part : {"", "-wal", "-shm"}) {
    const std::string from = path + part, to = path + ".damaged" + part;
    ::unlink(to.c_str());
    if (std::rename(from.c_str(), to.c_str()) != 0 && errno != ENOENT)
      return file_error("rename `" + from + "`", errno);
  }
  return {};
}

namespace {

/// Prints a value for a digest, the same way in every version of SQLite.
std::string text_of(sqlite3_value* value) {
  if (sqlite3_value_type(value) == SQLITE_FLOAT) {  // versions of SQLite print numbers in their own ways
    char exact[40];
    return {exact,
            static_cast<std::size_t>(std::snprintf(exact, sizeof exact, "%a", sqlite3_value_double(value)))};
  }
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return text == nullptr ? "" : std::string(text, static_cast<std::size_t>(sqlite3_value_bytes(value)));
}

/// SQL: row_digest(a, b, ...), the SHA-256 of the values as texts, length-prefixed.
void row_digest(sqlite3_context* context, int count, sqlite3_value** values) {
  std::string all;
  for (int n = 0; n < count; ++n) {
    const std::string text = text_of(values[n]);
    all += std::to_string(text.size()) + ":" + text;
  }
  const std::string sha256 = support::digest_of(all).sha256;
  sqlite3_result_text(context, sha256.data(), static_cast<int>(sha256.size()), SQLITE_TRANSIENT);
}

/// SQL: greatest(a, b), as PostgreSQL names it.
void greatest(sqlite3_context* context, int, sqlite3_value** values) {
  sqlite3_result_int64(context, std::max(sqlite3_value_int64(values[0]), sqlite3_value_int64(values[1])));
}

bool add_functions(sqlite3* database) {
  const auto add = [database](const char* name, int arguments, auto* function) {
    return sqlite3_create_function(database, name, arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr,
                                   function, nullptr, nullptr) == SQLITE_OK;
  };
  return add("row_digest", -1, row_digest) && add("greatest", 2, greatest);
}

}  // namespace

namespace {

/// Copies `database` to a new file, some pages at a time; `mutex` is free in between. Removes the file on
/// failure.
Result<void> copy_database(sqlite3* database, std::mutex& mutex, const std::string& path) {
  constexpr int pages_at_once = 256;
  const std::string doing = "back up to `" + path + "`";
  // Creates the file first: for one that cannot be created SQLite reports the error of its second try, to
  // read it.
  const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (made < 0) return file_error(doing, errno);
  ::close(made);
  sqlite3* opened = nullptr;
  const int state =
      sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  const Handle copy(opened);
  if (state != SQLITE_OK) return storage_error(opened, doing, path);
  std::unique_lock lock(mutex);
  sqlite3_backup* backup = sqlite3_backup_init(opened, "main", database, "main");
  if (backup == nullptr) return storage_error(opened, doing);
  int stepped = SQLITE_OK;
  while (stepped == SQLITE_OK) {  // writes of this connection between two steps are copied as well
    stepped = sqlite3_backup_step(backup, pages_at_once);
    // Leaves the store to requests between two steps.
    lock.unlock();
    lock.lock();
  }
  if (sqlite3_backup_finish(backup) == SQLITE_OK && stepped == SQLITE_DONE) return {};
  const auto error = storage_error(opened, doing);
  ::unlink(path.c_str());
  return error;
}

class SqliteDatabase final : public Database {
 public:
  SqliteDatabase(std::unique_ptr<Connection> connection, std::string path, bool durable)
      : connection_(std::move(connection)), path_(std::move(path)), durable_(durable) {}

  Result<Session> session() override {
    mutex_.lock();
    return Session(connection_.get(), [this](Connection*) { mutex_.unlock(); });
  }
  Claims& claims() override { return claims_; }
  void add(Listener& listener) override { listener.hearing(true); }
  void remove(Listener&) override {}
  // A flush may succeed on a disk that fails (docs/storage.md).
  Result<void> check_durable(const std::string& doing) override {
    if (!durable_) return {};
    SCHAAS_RETURN_IF_ERROR(files_.check(doing));
    return check_flushed(path_, doing);
  }
  Result<std::vector<ConnectedProcess>> processes() override { return std::vector<ConnectedProcess>(); }
  Result<void> back_up(const std::string& path) override {
    return copy_database(static_cast<SqliteConnection&>(*connection_).get(), mutex_, path);
  }

 private:
  const std::unique_ptr<Connection> connection_;
  const std::string path_;
  const FilesInPlace files_{{path_, path_ + "-wal"}};
  const bool durable_;
  ProcessClaims claims_;
  std::mutex mutex_;  // one connection, one statement at a time
};

}  // namespace

Result<std::unique_ptr<Connection>> open_connection(const std::string& path, const Schema& schema) {
  // Memory can be configured only before the first connection of the process.
  static const bool page_cache = take_page_cache();
  static_cast<void>(page_cache);
  sqlite3* opened = nullptr;
  const int state =
      sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  auto connection = std::make_unique<SqliteConnection>(Handle(opened));
  if (state != SQLITE_OK) return open_error(opened, path, schema);
  sqlite3_busy_timeout(opened, 5000);  // another process may read: the sqlite3 shell, a backup
  // The log lets others read while the daemon writes. A schema that was tampered with may call harmless
  // functions only.
  const std::string settings =
      std::string(
          "PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA "
          "trusted_schema = OFF; ") +
      "PRAGMA cache_size = " + std::to_string(cached_pages) + "; " +
      (schema.durable ? "PRAGMA synchronous = FULL;" : "PRAGMA synchronous = NORMAL;");
  if (sqlite3_exec(opened, settings.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK ||
      !add_functions(opened))
    return open_error(opened, path, schema);
  SCHAAS_RETURN_IF_ERROR(check(*connection, path, schema));
  SCHAAS_RETURN_IF_ERROR(migrate(*connection, path, schema));
  for (const char* total : schema.totals)
    SCHAAS_RETURN_IF_ERROR(execute(opened, total, "count the stored rows"));
  return std::unique_ptr<Connection>(std::move(connection));
}

Result<std::unique_ptr<Connection>> open_unchecked(const std::string& path, const std::string& doing) {
  sqlite3* opened = nullptr;
  const int state = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
  auto connection = std::make_unique<SqliteConnection>(Handle(opened));
  if (state != SQLITE_OK) return storage_error(opened, doing, path);
  return std::unique_ptr<Connection>(std::move(connection));
}

Result<std::shared_ptr<Database>> open_sqlite(const std::string& path, const Schema& schema) {
  SCHAAS_ASSIGN_OR_RETURN(auto connection, open_connection(path, schema));
  return std::shared_ptr<Database>(
      std::make_shared<SqliteDatabase>(std::move(connection), path, schema.durable));
}

}  // namespace schaas::kernels_cache
