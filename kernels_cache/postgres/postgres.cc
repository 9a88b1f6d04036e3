#include "kernels_cache/postgres/postgres.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <set>
#include <thread>

#include "compiler/support/digest.h"
#include "kernels_cache/postgres/postgres_connection.h"
#include "kernels_cache/process_name.h"

// A pool of connections for statements, one connection for claims and one for notifications. Claims are
// advisory locks of a session, so the server frees them when the process, its machine or the way to it is
// gone; nothing expires, and no clock is compared. One thread watches both connections and opens them again.
// Everything may have changed while it did not hear, and claims of a connection that ended are lost.
namespace schaas::kernels_cache {
namespace {

using support::Diagnostic;
using support::Result;

constexpr std::array channels = {"schaas_problem", "schaas_job", "schaas_items"};
constexpr const char* name_prefix = "schaasd ";  ///< begins the names of all connections
constexpr std::chrono::milliseconds first_delay{100}, max_delay{5000};

/// Returns the number of an advisory lock: the first 64 bits of the key's digest.
std::int64_t lock_number(const std::string& key) {
  return static_cast<std::int64_t>(std::stoull(support::digest_of(key).sha256.substr(0, 16), nullptr, 16));
}

/// Wakes a thread out of poll().
class Waker {
 public:
  Waker() : file_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;
  ~Waker() { ::close(file_); }
  void wake() const { (void)!::write(file_, "\1\0\0\0\0\0\0", 8); }
  int file() const { return file_; }

 private:
  const int file_;
};

/// Claims on one connection. Keys that this process holds are known here: a session may lock twice.
class PostgresClaims final : public Claims {
 public:
  Result<std::unique_ptr<Claim>> try_take(const std::string& key) override {
    const std::lock_guard lock(state_->mutex);
    if (state_->connection == nullptr) return no_connection();
    if (state_->held.count(key) != 0) return std::unique_ptr<Claim>();
    Statement take(*state_->connection, "SELECT CASE WHEN pg_try_advisory_lock($1) THEN 1 ELSE 0 END");
    SCHAAS_RETURN_IF_ERROR(take.bind(lock_number(key)).step("claim work"));
    if (take.integer(0) == 0) return std::unique_ptr<Claim>();
    state_->held.insert(key);
    return std::unique_ptr<Claim>(std::make_unique<Held>(state_, key, state_->generation.load()));
  }

  Result<std::vector<std::string>> not_held(std::vector<std::string> keys) override {
    if (keys.empty()) return keys;
    const std::lock_guard lock(state_->mutex);
    if (state_->connection == nullptr) return no_connection();
    Statement held(*state_->connection,
                   "SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks WHERE granted AND "
                   "locktype = 'advisory' AND objsubid = 1 AND database = "
                   "(SELECT oid FROM pg_database WHERE datname = current_database())");
    SCHAAS_ASSIGN_OR_RETURN(const auto rows, all_rows(held, "look for claims",
                                                      [](const Statement& row) { return row.integer(0); }));
    const std::set<std::int64_t> numbers(rows.begin(), rows.end());
    std::erase_if(keys, [&](const std::string& key) { return numbers.count(lock_number(key)) != 0; });
    return keys;
  }

  /// Replaces the connection. Claims of the one before are lost; null: so is every other until the next.
  void use(std::unique_ptr<PostgresConnection> connection) {
    const std::lock_guard lock(state_->mutex);
    ++state_->generation;
    state_->held.clear();
    state_->connection = std::move(connection);
  }
  bool broken() {
    const std::lock_guard lock(state_->mutex);
    return state_->connection == nullptr || state_->connection->broken();
  }
  int socket() {
    const std::lock_guard lock(state_->mutex);
    return state_->connection == nullptr ? -1 : state_->connection->socket();
  }

 private:
  struct State {
    std::mutex mutex;
    std::unique_ptr<PostgresConnection> connection;
    std::set<std::string> held;
    std::atomic<std::uint64_t> generation{0};
  };
  class Held final : public Claim {
   public:
    Held(std::shared_ptr<State> state, std::string key, std::uint64_t generation)
        : state_(std::move(state)), key_(std::move(key)), generation_(generation) {}
    ~Held() override {
      const std::lock_guard lock(state_->mutex);
      if (lost()) return;
      state_->held.erase(key_);
      Statement drop(*state_->connection, "SELECT pg_advisory_unlock($1)");
      (void)drop.bind(lock_number(key_))
          .run("end a claim");  // else the connection ended, and the lock with it
    }
    bool lost() const override { return state_->generation != generation_; }

   private:
    const std::shared_ptr<State> state_;
    const std::string key_;
    const std::uint64_t generation_;
  };
  static Diagnostic no_connection() {
    return support::unreachable("database-unreachable", "cannot claim work: no connection to the database");
  }

  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

class PostgresDatabase final : public Database {
 public:
  PostgresDatabase(std::string uri, std::string name, std::size_t connections)
      : uri_(std::move(uri)), name_(std::move(name)), free_(connections) {}
  ~PostgresDatabase() override {
    stopping_ = true;
    waker_.wake();
    if (watcher_.joinable()) watcher_.join();
    claims_.use(nullptr);
  }

  Result<void> start(const std::vector<Schema>& schemas) {
    {
      SCHAAS_ASSIGN_OR_RETURN(const Session session, this->session());
      SCHAAS_RETURN_IF_ERROR(migrate(static_cast<PostgresConnection&>(*session), schemas));
    }
    SCHAAS_RETURN_IF_ERROR(connect());
    watcher_ = std::thread([this] { watch(); });
    return {};
  }

  Result<Session> session() override {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [this] { return free_ > 0; });
    --free_;
    std::unique_ptr<PostgresConnection> connection;
    while (connection == nullptr && !idle_.empty()) {
      connection = std::move(idle_.back());
      idle_.pop_back();
      if (!connection->broken()) continue;
      ours_.erase(connection->process_number());
      connection.reset();
    }
    lock.unlock();
    if (connection == nullptr) {
      auto opened = PostgresConnection::open(uri_, name_);
      lock.lock();
      if (!opened.ok()) {
        ++free_;
        returned_.notify_one();
        return opened.error();
      }
      connection = std::move(opened).value();
      ours_.insert(connection->process_number());
    }
    return Session(connection.release(), [this](Connection* used) { take_back(used); });
  }

  Claims& claims() override { return claims_; }

  void add(Listener& listener) override {
    const std::lock_guard lock(listening_);
    listeners_.insert(&listener);
    listener.hearing(connected_);
  }
  void remove(Listener& listener) override {
    const std::lock_guard lock(listening_);
    listeners_.erase(&listener);
  }

  // Each process is known by the name of its connections, so nobody has to say that he is there.
  Result<std::vector<ConnectedProcess>> processes() override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, this->session());
    Statement query(*session,
                    "SELECT split_part(application_name, ' ', 3), split_part(application_name, ' ', 2), "
                    "to_char(min(backend_start) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') "
                    "FROM pg_stat_activity WHERE datname = current_database() AND "
                    "starts_with(application_name, $1) GROUP BY application_name ORDER BY 1");
    query.bind(name_prefix);
    return all_rows(query, "list the processes of the fleet", [](const Statement& row) {
      return ConnectedProcess{row.text(0), row.text(1), row.text(2)};
    });
  }
  // The server acknowledges what its settings promise.
  Result<void> check_durable(const std::string&) override { return {}; }
  Result<void> back_up(const std::string&) override {
    return support::noting(
        support::invalid("backup", "the rows are in PostgreSQL, not in this server's data directory"),
        "pg_dump copies them as of one instant, while servers run");
  }

 private:
  void take_back(Connection* used) {
    std::unique_ptr<PostgresConnection> connection(static_cast<PostgresConnection*>(used));
    const std::lock_guard lock(mutex_);
    if (connection->broken()) {
      ours_.erase(connection->process_number());
    } else {
      idle_.push_back(std::move(connection));
    }
    ++free_;
    returned_.notify_one();
  }

  static Result<void> migrate(PostgresConnection& connection, const std::vector<Schema>& schemas) {
    const std::string doing = "migrate the database";
    Transaction transaction(connection);
    SCHAAS_RETURN_IF_ERROR(transaction.begin(doing));
    SCHAAS_RETURN_IF_ERROR(Statement(connection, "SELECT pg_advisory_xact_lock($1)")
                               .bind(lock_number("schaas migration"))
                               .run(doing));
    SCHAAS_RETURN_IF_ERROR(connection.execute(
        "CREATE TABLE IF NOT EXISTS schema_version (what text PRIMARY KEY, version bigint NOT NULL, "
        "min_reader bigint NOT NULL)",
        doing));
    for (const Schema& schema : schemas) SCHAAS_RETURN_IF_ERROR(migrate(connection, schema, doing));
    return transaction.commit(doing);
  }

  // Applies the migrations that are missing. `min_reader` is the oldest version that may use the tables.
  static Result<void> migrate(PostgresConnection& connection, const Schema& schema,
                              const std::string& doing) {
    const auto newest = static_cast<std::int64_t>(schema.migrations.size());
    Statement query(connection, "SELECT version, min_reader FROM schema_version WHERE what = $1");
    SCHAAS_ASSIGN_OR_RETURN(const bool found, query.bind(schema.what).step(doing));
    const std::int64_t version = found ? query.integer(0) : 0;
    if (found && query.integer(1) > newest) {
      return support::noting(
          support::invalid("newer-schema",
                           std::string("the database has version ") + std::to_string(version) + " of the " +
                               schema.what + ", this schaas knows versions up to " + std::to_string(newest)),
          "use the newer schaas, or another database");
    }
    if (version >= newest) return {};
    for (std::int64_t n = version; n < newest; ++n)
      SCHAAS_RETURN_IF_ERROR(connection.execute(schema.migrations[static_cast<std::size_t>(n)], doing));
    Statement note(connection,
                   "INSERT INTO schema_version(what, version, min_reader) VALUES ($1, $2, 1) ON CONFLICT "
                   "(what) DO UPDATE SET version = excluded.version");
    return note.bind(schema.what).bind(newest).run(doing);
  }

  /// Opens the connections for claims and notifications.
  Result<void> connect() {
    SCHAAS_ASSIGN_OR_RETURN(auto claims, PostgresConnection::open(uri_, name_));
    SCHAAS_ASSIGN_OR_RETURN(listening_connection_, PostgresConnection::open(uri_, name_));
    std::string listen;
    for (const char* channel : channels) listen += std::string("LISTEN ") + channel + ";";
    SCHAAS_RETURN_IF_ERROR(listening_connection_->execute(listen, "listen to the database"));
    claims_.use(std::move(claims));
    set_connected(true);
    return {};
  }

  void set_connected(bool connected) {
    const std::lock_guard lock(listening_);
    if (connected_ == connected) return;
    connected_ = connected;
    for (Listener* listener : listeners_) listener->hearing(connected);
  }

  void watch() {
    auto delay = first_delay;
    while (!stopping_) {
      if (listening_connection_ == nullptr && !connect().ok()) {
        listening_connection_.reset();
        sleep(delay);
        delay = std::min(2 * delay, max_delay);
        continue;
      }
      delay = first_delay;
      pollfd inputs[] = {{waker_.file(), POLLIN, 0},
                         {listening_connection_->socket(), POLLIN, 0},
                         {claims_.socket(), POLLIN, 0}};
      ::poll(inputs, 3, -1);
      hear();
      if (!listening_connection_->broken() && !claims_.broken()) continue;
      claims_.use(nullptr);
      listening_connection_.reset();
      set_connected(false);
    }
  }

  // Passes on what other processes sent; this one knows of its own changes.
  void hear() {
    for (const auto& found : listening_connection_->notifications()) {
      if (is_ours(found.sender)) continue;
      const std::lock_guard lock(listening_);
      for (Listener* listener : listeners_) listener->hear(found.channel, found.what);
    }
  }
  bool is_ours(int process) {
    const std::lock_guard lock(mutex_);
    return ours_.count(process) != 0;
  }

  void sleep(std::chrono::milliseconds time) {
    pollfd input{waker_.file(), POLLIN, 0};
    ::poll(&input, 1, static_cast<int>(time.count()));
  }

  const std::string uri_;
  const std::string name_;  ///< names all connections: name_prefix, role and process
  std::mutex mutex_;        ///< guards the pool
  std::condition_variable returned_;
  std::size_t free_;  ///< sessions that may be opened
  std::vector<std::unique_ptr<PostgresConnection>> idle_;
  std::set<int> ours_;  ///< process numbers of the pool's connections
  PostgresClaims claims_;
  std::mutex listening_;  ///< guards the listeners
  std::set<Listener*> listeners_;
  bool connected_ = false;
  std::unique_ptr<PostgresConnection> listening_connection_;  ///< the watcher's
  const Waker waker_;
  std::atomic<bool> stopping_{false};
  std::thread watcher_;
};

}  // namespace

Result<std::shared_ptr<Database>> open_postgres(const std::string& uri, const std::vector<Schema>& schemas,
                                                const std::string& role, std::size_t connections) {
  auto database =
      std::make_shared<PostgresDatabase>(uri, name_prefix + role + " " + process_name(), connections);
  SCHAAS_RETURN_IF_ERROR(database->start(schemas));
  return std::shared_ptr<Database>(std::move(database));
}

}  // namespace schaas::kernels_cache
