#include "kernels_cache/postgres/postgres_connection.h"

#include <libpq-fe.h>
#include <poll.h>

#include <array>
#include <cstdio>
#include <cstdlib>

// The only file that calls libpq. Texts are sent as they are, with their lengths and without escapes; results
// come as texts. Statements with few parameters are prepared once for each connection: the number of
// different texts is bounded. SQLSTATE tells errors apart.
namespace schaas::kernels_cache {
namespace {

using support::Diagnostic;
using support::Result;

// Types of parameters (pg_type.dat).
constexpr Oid bytea = 17, int8 = 20, text_type = 25, float8 = 701;
/// Statements with more parameters differ by their number, and are not kept.
constexpr std::size_t max_prepared_parameters = 16;

std::string first_line(const char* said) {
  std::string text = said == nullptr ? "" : said;
  return text.substr(0, text.find('\n'));
}

Diagnostic unreachable_database(const std::string& doing, const std::string& said) {
  return support::noting(support::unreachable("database-unreachable", "cannot " + doing + ": " + said),
                         "the server goes on when its database does; ask again in some seconds");
}

Diagnostic postgres_error(PGconn* connection, const PGresult* result, const std::string& doing) {
  const std::string said = first_line(PQerrorMessage(connection));
  const char* found = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const std::string state = found == nullptr ? "" : found;
  if (PQstatus(connection) == CONNECTION_BAD || state.starts_with("08") || state.starts_with("57P") ||
      state == "53300" || state == "25006")
    return unreachable_database(doing, said);
  if (state == "53100")
    return support::exhausted("disk-full", "cannot " + doing + ": the database's disk is full");
  if (state == "22021")
    return support::invalid("text-encoding", "cannot " + doing + ": a text has bytes that no text may have");
  if (state == "XX001" || state == "XX002")
    return support::internal("damaged-database",
                             "cannot " + doing + ": the database is damaged (" + said + ")");
  return support::internal("storage", "cannot " + doing + ": " + said);
}

struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Answer = std::unique_ptr<PGresult, ClearResult>;

bool is_good(const PGresult* answer) {
  const auto status = PQresultStatus(answer);
  return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

class PostgresCursor final : public Cursor {
 public:
  PostgresCursor(PGconn* connection, std::map<std::string, std::string>& prepared, std::string sql)
      : connection_(connection), prepared_(prepared), sql_(std::move(sql)) {}

  void bind(int, std::string_view text) override { add(std::string(text), text_type, 1); }
  void bind(int, std::int64_t number) override { add(std::to_string(number), int8, 0); }
  void bind(int, double number) override {
    char exact[40];
    std::snprintf(exact, sizeof exact, "%.17g", number);
    add(exact, float8, 0);
  }
  void bind(int, Bytes bytes) override { add(std::string(bytes.bytes), bytea, 1); }

  // Runs the statement at the first step; all its rows are here then.
  Result<bool> step(const std::string& doing) override {
    if (answer_ == nullptr) {
      answer_ = ask();
      if (!is_good(answer_.get())) return postgres_error(connection_, answer_.get(), doing);
    }
    return ++row_ < PQntuples(answer_.get());
  }

  std::string text(int column) const override {
    const std::string_view value(PQgetvalue(answer_.get(), row_, column),
                                 static_cast<std::size_t>(PQgetlength(answer_.get(), row_, column)));
    return PQftype(answer_.get(), column) == bytea ? unescaped(value) : std::string(value);
  }
  std::int64_t integer(int column) const override {
    return std::strtoll(PQgetvalue(answer_.get(), row_, column), nullptr, 10);
  }
  double real(int column) const override {
    return std::strtod(PQgetvalue(answer_.get(), row_, column), nullptr);
  }
  std::uint64_t changed() const override { return std::strtoull(PQcmdTuples(answer_.get()), nullptr, 10); }

 private:
  void add(std::string value, Oid type, int format) {
    values_.push_back(std::move(value));
    types_.push_back(type);
    formats_.push_back(format);
  }

  Answer ask() {
    const int count = static_cast<int>(values_.size());
    std::vector<const char*> values;
    std::vector<int> lengths;
    for (const auto& value : values_) {
      values.push_back(value.c_str());
      lengths.push_back(static_cast<int>(value.size()));
    }
    if (values_.size() > max_prepared_parameters)
      return Answer(PQexecParams(connection_, sql_.c_str(), count, types_.data(), values.data(),
                                 lengths.data(), formats_.data(), 0));
    auto known = prepared_.find(sql_);
    if (known == prepared_.end()) {
      const std::string name = "s" + std::to_string(prepared_.size());
      Answer made(PQprepare(connection_, name.c_str(), sql_.c_str(), count, types_.data()));
      if (!is_good(made.get())) return made;
      known = prepared_.emplace(sql_, name).first;
    }
    return Answer(PQexecPrepared(connection_, known->second.c_str(), count, values.data(), lengths.data(),
                                 formats_.data(), 0));
  }

  // Reads "\x00ff".
  static std::string unescaped(std::string_view hex) {
    const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    std::string out;
    out.reserve(hex.size() / 2);
    for (std::size_t n = 2; n + 1 < hex.size(); n += 2)
      out += static_cast<char>(digit(hex[n]) * 16 + digit(hex[n + 1]));
    return out;
  }

  PGconn* const connection_;
  std::map<std::string, std::string>& prepared_;
  const std::string sql_;
  std::vector<std::string> values_;
  std::vector<Oid> types_;
  std::vector<int> formats_;
  Answer answer_;
  int row_ = -1;
};

}  // namespace

Result<std::unique_ptr<PostgresConnection>> PostgresConnection::open(const std::string& uri,
                                                                     const std::string& name) {
  // Later keywords take precedence: the URI over the times before it. Times are seconds; tcp_user_timeout
  // is milliseconds.
  const std::array keywords = {"connect_timeout",  "keepalives_idle",  "keepalives_interval",
                               "keepalives_count", "tcp_user_timeout", "client_encoding",
                               "dbname",           "application_name", static_cast<const char*>(nullptr)};
  const std::array values = {
      "5", "5", "2", "3", "10000", "UTF8", uri.c_str(), name.c_str(), static_cast<const char*>(nullptr)};
  PGconn* opened = PQconnectdbParams(keywords.data(), values.data(), 1);
  if (opened == nullptr) return unreachable_database("connect to the database", "out of memory");
  std::unique_ptr<PostgresConnection> connection(new PostgresConnection(opened));
  if (PQstatus(opened) != CONNECTION_OK)
    return unreachable_database("connect to the database", first_line(PQerrorMessage(opened)));
  PQsetNoticeProcessor(
      opened, [](void*, const char*) {}, nullptr);
  // The server's side: locks of a client that is gone are freed within seconds.
  SCHAAS_RETURN_IF_ERROR(connection->execute(
      "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3",
      "connect to the database"));
  return connection;
}

PostgresConnection::~PostgresConnection() { PQfinish(connection_); }

std::unique_ptr<Cursor> PostgresConnection::prepare(const std::string& sql) {
  return std::make_unique<PostgresCursor>(connection_, prepared_, sql);
}

Result<void> PostgresConnection::begin(const std::string& doing, Flush flush) {
  return execute(flush == Flush::now ? "BEGIN" : "BEGIN; SET LOCAL synchronous_commit = off", doing);
}
// A transaction that failed before answers ROLLBACK, which is no error to the server.
Result<void> PostgresConnection::commit(const std::string& doing) {
  const bool failed = PQtransactionStatus(connection_) == PQTRANS_INERROR;
  SCHAAS_RETURN_IF_ERROR(execute("COMMIT", doing));
  if (failed) return support::internal("storage", "cannot " + doing + ": a statement failed before");
  return {};
}
void PostgresConnection::roll_back() { (void)execute("ROLLBACK", "roll back"); }

Result<void> PostgresConnection::notify(const char* channel, const std::string& what) {
  return Statement(*this, "SELECT pg_notify($1, $2)").bind(channel).bind(what).run("tell of a change");
}

const Dialect& PostgresConnection::dialect() const {
  static constexpr Dialect dialect{" FOR UPDATE SKIP LOCKED",
                                   "extract(epoch FROM pg_postmaster_start_time())::text"};
  return dialect;
}

Result<void> PostgresConnection::execute(const std::string& statements, const std::string& doing) {
  const Answer answer(PQexec(connection_, statements.c_str()));
  if (is_good(answer.get())) return {};
  return postgres_error(connection_, answer.get(), doing);
}

std::vector<PostgresConnection::Notification> PostgresConnection::notifications() {
  PQconsumeInput(connection_);
  std::vector<Notification> out;
  while (PGnotify* found = PQnotifies(connection_)) {
    out.push_back({found->relname, found->extra, found->be_pid});
    PQfreemem(found);
  }
  return out;
}

// An idle connection has something to read when it ended, or when a notification came.
bool PostgresConnection::broken() {
  pollfd input{PQsocket(connection_), POLLIN, 0};
  if (PQstatus(connection_) == CONNECTION_OK && ::poll(&input, 1, 0) > 0) PQconsumeInput(connection_);
  return PQstatus(connection_) != CONNECTION_OK;
}
int PostgresConnection::socket() const { return PQsocket(connection_); }
int PostgresConnection::process_number() const { return PQbackendPID(connection_); }

}  // namespace schaas::kernels_cache
