#include "kernels_cache/schedule_store_database.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "kernels_cache/schedule_schema.h"
#include "kernels_cache/sqlite.h"

// Durable results in a database. A row that cannot be trusted is a miss,
// never an error: everything here can be computed again. Each row carries a digest of its columns and of its
// problem. A second statement of the same transaction (`seal`) computes it over the columns as they are
// stored. Readers outside hold derived data with a stamp of `changes_`. A writer raises it after the commit
// and before it returns, so whoever learned of a change cannot be given older data (changes.h).
namespace schaas::kernels_cache {
namespace {

using support::Result;

// Notifications of changes: the problem's key, or nothing for all problems.
constexpr const char* changed_problem = "schaas_problem";

constexpr const char* kernel_columns =
    "SELECT kernel.key, problem.key, problem.canonical, trace, isa, sha256, bytes, seconds, kernel.created, "
    "signature FROM kernel JOIN problem ON problem.id = kernel.problem ";

KernelRow kernel_row(const Statement& row) {
  return {row.text(0), row.text(1), row.text(2), row.text(3), row.text(4), {row.text(5), row.count(6)},
          row.real(7), row.text(8), row.text(9)};
}

// Uses are noted to this precision, which spares a write for nearly every read.
constexpr std::chrono::minutes use_precision{1};
/// Rows deleted in one transaction; the mutex is free between two.
constexpr std::size_t rows_at_once = 1000;

/// Returns "$1, $2, $3".
std::string placeholders(std::size_t count) {
  std::string out = count == 0 ? "" : "$1";
  for (std::size_t n = 2; n <= count; ++n) out += ", $" + std::to_string(n);
  return out;
}

class DatabaseScheduleStore final : public ScheduleStore, private Listener {
 public:
  DatabaseScheduleStore(std::shared_ptr<Database> database, std::shared_ptr<const Clock> clock)
      : database_(std::move(database)), clock_(std::move(clock)) {
    database_->add(*this);
  }
  ~DatabaseScheduleStore() override { database_->remove(*this); }

  Claims& claims() override { return database_->claims(); }

  Result<void> put_frontier(const FrontierRow& row) override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    const std::string doing = "store a frontier";
    Transaction transaction(*session);
    SCHAAS_RETURN_IF_ERROR(transaction.begin(doing, Flush::later));
    SCHAAS_ASSIGN_OR_RETURN(const std::int64_t problem,
                            insert_problem(*session, row.key.problem_key, row.canonical));
    // The family and the names of who asked are those of the latest search.
    Statement update(*session, "UPDATE problem SET family = $1, asked = $2 WHERE id = $3");
    SCHAAS_RETURN_IF_ERROR(update.bind(row.unconstrained_key).bind(row.asked).bind(problem).run(doing));
    Statement insert(
        *session,
        "INSERT INTO frontier(problem, options, search_version, complete, schedules, seconds, "
        "created, payload) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) "
        "ON CONFLICT(problem, options, search_version) DO UPDATE SET complete = excluded.complete, "
        "schedules = excluded.schedules, seconds = excluded.seconds, created = excluded.created, "
        "payload = excluded.payload");
    insert.bind(problem).bind(row.key.options).bind(std::int64_t{row.key.search_version});
    insert.bind(std::int64_t{row.complete}).bind(static_cast<std::int64_t>(row.schedules)).bind(row.seconds);
    const std::string now = print(clock_->now());
    insert.bind(now).bind(Bytes{row.payload});
    SCHAAS_RETURN_IF_ERROR(insert.run(doing));
    Statement seal(*session,
                   "UPDATE frontier SET digest = " FRONTIER_DIGEST
                   " FROM problem WHERE problem.id = frontier.problem AND frontier.problem = $1 AND "
                   "options = $2 AND search_version = $3");
    seal.bind(problem).bind(row.key.options).bind(std::int64_t{row.key.search_version});
    SCHAAS_RETURN_IF_ERROR(seal.run(doing));
    Statement use(
        *session,
        "INSERT INTO frontier_use(frontier, used, bytes) SELECT id, $1, $2 FROM frontier "
        "WHERE problem = $3 AND options = $4 AND search_version = $5 ON CONFLICT(frontier) DO UPDATE "
        "SET used = excluded.used, bytes = excluded.bytes");
    use.bind(now).bind(static_cast<std::int64_t>(row.payload.size())).bind(problem).bind(row.key.options);
    SCHAAS_RETURN_IF_ERROR(use.bind(std::int64_t{row.key.search_version}).run(doing));
    return commit_change(*session, transaction, {row.key.problem_key}, doing);
  }

  // Reads a frontier and notes the use; a row with a wrong digest is absent.
  Result<std::optional<FrontierRow>> frontier(const FrontierKey& key) override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    Statement query(
        *session,
        "SELECT problem.canonical, payload, complete, schedules, seconds, frontier.created, family, "
        "frontier.id, used, asked FROM frontier JOIN problem ON problem.id = frontier.problem "
        "JOIN frontier_use ON frontier_use.frontier = frontier.id "
        "WHERE problem.key = $1 AND options = $2 AND search_version = $3 AND " SOUND_FRONTIER);
    query.bind(key.problem_key).bind(key.options).bind(std::int64_t{key.search_version});
    SCHAAS_ASSIGN_OR_RETURN(const bool found, query.step("read a frontier"));
    if (!found) return std::optional<FrontierRow>();
    FrontierRow row{key,           query.text(0), query.text(1), query.integer(2) != 0, query.count(3),
                    query.real(4), query.text(5), query.text(6), query.text(9)};
    note_use(*session, query.integer(7), query.text(8));
    return std::optional(std::move(row));
  }

  // Lists complete frontiers only: a part of a space subsumes nothing.
  Result<std::vector<FrontierRow>> frontiers_of(const std::string& unconstrained_key,
                                                const std::string& options, int search_version,
                                                std::size_t limit) override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    Statement query(
        *session,
        "SELECT problem.key, problem.canonical, payload, schedules, seconds, frontier.created, asked "
        "FROM frontier JOIN problem ON problem.id = frontier.problem "
        "WHERE family = $1 AND options = $2 AND search_version = $3 AND complete = 1 AND " SOUND_FRONTIER
        "ORDER BY frontier.created DESC, frontier.id DESC LIMIT $4");
    query.bind(unconstrained_key).bind(options).bind(std::int64_t{search_version});
    query.bind(static_cast<std::int64_t>(limit));
    return all_rows(query, "list the frontiers of a family", [&](const Statement& row) {
      return FrontierRow{{row.text(0), options, search_version},
                         row.text(1),
                         row.text(2),
                         true,
                         row.count(3),
                         row.real(4),
                         row.text(5),
                         unconstrained_key,
                         row.text(6)};
    });
  }

  // Orders by time and then by id, which tells rows of one millisecond apart.
  Result<std::optional<FrontierRow>> newest_frontier(const std::string& problem_key) override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    Statement query(
        *session,
        "SELECT problem.canonical, payload, complete, schedules, seconds, frontier.created, family, options, "
        "search_version, asked FROM frontier JOIN problem ON problem.id = frontier.problem "
        "WHERE problem.key = $1 AND " SOUND_FRONTIER
        "ORDER BY frontier.created DESC, frontier.id DESC LIMIT 1");
    SCHAAS_ASSIGN_OR_RETURN(const bool found, query.bind(problem_key).step("read a frontier"));
    if (!found) return std::optional<FrontierRow>();
    return std::optional(FrontierRow{{problem_key, query.text(7), static_cast<int>(query.integer(8))},
                                     query.text(0),
                                     query.text(1),
                                     query.integer(2) != 0,
                                     query.count(3),
                                     query.real(4),
                                     query.text(5),
                                     query.text(6),
                                     query.text(9)});
  }

  Result<void> put_kernel(const KernelRow& row) override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    const std::string doing = "store a kernel";
    Transaction transaction(*session);
    SCHAAS_RETURN_IF_ERROR(transaction.begin(doing, Flush::later));
    SCHAAS_ASSIGN_OR_RETURN(const std::int64_t problem,
                            insert_problem(*session, row.problem_key, row.canonical));
    Statement insert(
        *session,
        "INSERT INTO kernel(key, problem, trace, isa, sha256, bytes, seconds, created, signature) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT(key) DO UPDATE SET trace = excluded.trace, "
        "isa = excluded.isa, sha256 = excluded.sha256, bytes = excluded.bytes, "
        "seconds = excluded.seconds, created = excluded.created, signature = excluded.signature");
    insert.bind(row.kernel_key).bind(problem).bind(row.trace).bind(row.isa).bind(row.digest.sha256);
    insert.bind(static_cast<std::int64_t>(row.digest.bytes)).bind(row.seconds).bind(print(clock_->now()));
    insert.bind(row.signature);
    SCHAAS_RETURN_IF_ERROR(insert.run(doing));
    Statement seal(*session, "UPDATE kernel SET digest = " KERNEL_DIGEST
                             " FROM problem WHERE problem.id = kernel.problem AND kernel.key = $1");
    SCHAAS_RETURN_IF_ERROR(seal.bind(row.kernel_key).run(doing));
    return commit_change(*session, transaction, {row.problem_key}, doing);
  }

  Result<std::optional<KernelRow>> kernel(const std::string& kernel_key) override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    const std::string sql = std::string(kernel_columns) + "WHERE kernel.key = $1 AND " SOUND_KERNEL;
    Statement query(*session, sql);
    query.bind(kernel_key);
    SCHAAS_ASSIGN_OR_RETURN(const bool found, query.step("read a kernel"));
    if (!found) return std::optional<KernelRow>();
    return std::optional(kernel_row(query));
  }

  // Lists rows whatever their digests.
  Result<std::vector<KernelRow>> kernels_of(const std::string& problem_key) override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    const std::string sql = std::string(kernel_columns) + "WHERE problem.key = $1 ORDER BY kernel.id";
    Statement query(*session, sql);
    query.bind(problem_key);
    return all_rows(query, "list kernels", kernel_row);
  }

  // Rows of several problems may name one binary, so all answers are declared old.
  Result<std::uint64_t> drop_kernels_with(const std::vector<std::string>& sha256) override {
    std::uint64_t dropped = 0;
    for (std::size_t begin = 0; begin < sha256.size(); begin += rows_at_once) {
      const std::size_t count = std::min(rows_at_once, sha256.size() - begin);
      const std::string sql = "DELETE FROM kernel WHERE sha256 IN (" + placeholders(count) + ")";
      SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
      Statement drop(*session, sql);
      for (std::size_t n = begin; n < begin + count; ++n) drop.bind(sha256[n]);
      SCHAAS_RETURN_IF_ERROR(drop.run("drop kernels"));
      if (drop.changed() > 0) SCHAAS_RETURN_IF_ERROR(note_all(*session));
      dropped += drop.changed();
    }
    return dropped;
  }

  Result<std::set<std::string>> binaries() override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    Statement query(*session, "SELECT DISTINCT sha256 FROM kernel");
    return texts_of(query, "list the kernels' binaries");
  }

  Result<void> put_toolchain(const std::string& target, const std::string& identity) override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    Statement insert(
        *session,
        "INSERT INTO toolchain(target, identity, since) VALUES ($1, $2, $3) ON CONFLICT(target) DO "
        "UPDATE SET identity = excluded.identity, since = excluded.since");
    insert.bind(target).bind(identity).bind(print(clock_->now()));
    SCHAAS_RETURN_IF_ERROR(insert.run("store a toolchain"));
    return note_all(*session);
  }

  Result<std::string> agree_on_toolchain(const std::string& target, const std::string& identity) override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    const std::string doing = "agree on a toolchain";
    Statement insert(
        *session,
        "INSERT INTO toolchain(target, identity, since) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING");
    SCHAAS_RETURN_IF_ERROR(insert.bind(target).bind(identity).bind(print(clock_->now())).run(doing));
    if (insert.changed() > 0) SCHAAS_RETURN_IF_ERROR(note_all(*session));
    Statement query(*session, "SELECT identity FROM toolchain WHERE target = $1");
    SCHAAS_RETURN_IF_ERROR(query.bind(target).step(doing));
    return query.text(0);
  }

  Result<std::map<std::string, std::string>> toolchains() override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    Statement query(*session, "SELECT target, identity FROM toolchain");
    SCHAAS_ASSIGN_OR_RETURN(const auto rows, all_rows(query, "list the toolchains", [](const Statement& row) {
                              return std::pair(row.text(0), row.text(1));
                            }));
    return std::map<std::string, std::string>(rows.begin(), rows.end());
  }

  Result<void> put_measurements(const std::vector<MeasurementRow>& rows) override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    const std::string doing = "store measurements";
    Transaction transaction(*session);
    SCHAAS_RETURN_IF_ERROR(transaction.begin(doing, Flush::later));
    // All old timings go before the first new one is added, or rows of one report would drop each other.
    std::vector<const MeasurementRow*> kept;
    for (const auto& row : rows) {
      SCHAAS_ASSIGN_OR_RETURN(const bool dropped, drop_superseded_measurements(*session, row, doing));
      if (dropped) kept.push_back(&row);
    }
    for (const auto* row : kept) SCHAAS_RETURN_IF_ERROR(add_measurement(*session, *row, doing));
    std::set<std::string> problems;
    for (const auto& row : rows) problems.insert(row.problem_key);
    return commit_change(*session, transaction, problems, doing);
  }

  Result<std::vector<MeasurementRow>> measurements_of(const std::string& problem_key, const std::string& host,
                                                      int code_version, std::size_t limit) override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    Statement query(
        *session,
        "SELECT canonical, host, sizes, threads, isa, trace, seconds, measurement.created, exclusive "
        "FROM measurement JOIN problem ON problem.id = measurement.problem "
        "WHERE problem.key = $1 AND ($2 = '' OR host = $2) AND code_version = $3 AND " SOUND_MEASUREMENT
        "ORDER BY measurement.id DESC LIMIT $4");
    query.bind(problem_key).bind(host).bind(std::int64_t{code_version});
    query.bind(static_cast<std::int64_t>(limit));
    return all_rows(query, "list measurements", [&](const Statement& row) {
      return MeasurementRow{
          problem_key,        row.text(0), row.text(1),  row.text(2), static_cast<int>(row.integer(3)),
          row.text(4),        row.text(5), code_version, row.real(6), row.text(7),
          row.integer(8) != 0};
    });
  }

  Result<bool> set_pin(const std::string& problem_key, Pinned pinned) override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    Statement update(*session, "UPDATE problem SET pinned = $1 WHERE key = $2");
    update.bind(std::int64_t{pinned == Pinned::yes}).bind(problem_key);
    SCHAAS_RETURN_IF_ERROR(update.run("pin a problem"));
    return update.changed() == 1;
  }

  Result<std::set<std::string>> pinned_binaries() override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    Statement query(
        *session,
        "SELECT DISTINCT sha256 FROM kernel JOIN problem ON problem.id = kernel.problem WHERE pinned = 1");
    return texts_of(query, "list the pinned kernels");
  }

  Result<std::uint64_t> drop_frontiers_before(int search_version) override {
    std::uint64_t dropped = 0;
    for (std::int64_t last = 0;;) {
      SCHAAS_ASSIGN_OR_RETURN(const std::uint64_t some, drop_some_before(search_version, last));
      dropped += some;
      if (some > 0) continue;
      if (dropped > 0) {
        SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
        SCHAAS_RETURN_IF_ERROR(note_all(*session));
      }
      return dropped;
    }
  }

  // Evicts the least recently used frontiers until `bytes` are left, some at a time.
  Result<DroppedFrontiers> drop_frontiers_above(std::uint64_t bytes, Clock::Time fresh) override {
    DroppedFrontiers out;
    for (;;) {
      SCHAAS_ASSIGN_OR_RETURN(const DroppedFrontiers some, drop_some_above(bytes, fresh));
      out.frontiers += some.frontiers;
      out.bytes += some.bytes;
      out.left_bytes = some.left_bytes;
      if (some.frontiers == 0) return out;
    }
  }

  Result<void> back_up(const std::string& path) override { return database_->back_up(path); }

  Result<std::vector<ProblemSummary>> list(const ProblemRange& range) override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    const bool newest = range.order == ProblemRange::Order::newest_first;
    // Keys are texts of one byte a letter, so those that begin with the prefix stand together.
    const std::string sql =
        std::string(
            "SELECT key, canonical, created, "
            "coalesce((SELECT schedules FROM frontier WHERE frontier.problem = problem.id "
            "          ORDER BY frontier.created DESC, frontier.id DESC LIMIT 1), 0), "
            "(SELECT count(*) FROM kernel WHERE kernel.problem = problem.id), pinned, asked, id "
            "FROM problem WHERE id > $1 ") +
        (range.prefix.empty() ? "" : "AND key >= $3 AND key < $4 ") + "ORDER BY id " +
        (newest ? "DESC " : "") + "LIMIT $2";
    Statement query(*session, sql);
    query.bind(static_cast<std::int64_t>(range.after));
    query.bind(range.limit == 0 ? std::numeric_limits<std::int64_t>::max()
                                : static_cast<std::int64_t>(range.limit));
    if (!range.prefix.empty()) query.bind(range.prefix).bind(range.prefix + '\x7f');
    return all_rows(query, "list the problems", [](const Statement& row) {
      return ProblemSummary{row.text(0),  row.text(1), row.count(3),
                            row.count(4), row.text(2), row.integer(5) != 0 ? Pinned::yes : Pinned::no,
                            row.text(6),  row.count(7)};
    });
  }

  Result<Statistics> statistics() override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    Statement query(*session, "SELECT problems, frontiers, kernels, bytes FROM total");
    SCHAAS_RETURN_IF_ERROR(query.step("read the totals"));
    return Statistics{query.count(0), query.count(1), query.count(2), query.count(3)};
  }

 private:
  void hear(std::string_view channel, std::string_view what) override {
    if (channel != changed_problem) return;
    if (what.empty()) {
      changes_.of_all();
    } else {
      changes_.of_problem(std::string(what));
    }
  }
  void hearing(bool all) override { changes_.set_hearing(all); }

  // Drops the timings of an earlier run in the same circumstances, whatever their traces.
  // Deletes the timings that a row replaces; returns false where they are better than it.
  Result<bool> drop_superseded_measurements(Connection& connection, const MeasurementRow& row,
                                            const std::string& doing) {
    const std::string same =
        "FROM measurement WHERE problem = (SELECT id FROM problem WHERE key = $1) AND host = $2 AND "
        "sizes = $3 AND threads = $4 AND isa = $5 AND code_version = $6";
    const auto bind = [&row](Statement& statement) {
      statement.bind(row.problem_key).bind(row.host).bind(row.sizes).bind(std::int64_t{row.threads});
      statement.bind(row.isa).bind(std::int64_t{row.code_version});
    };
    if (!row.exclusive) {
      Statement better(connection, "SELECT 1 " + same + " AND exclusive = 1 LIMIT 1");
      bind(better);
      SCHAAS_ASSIGN_OR_RETURN(const bool found, better.step(doing));
      if (found) return false;
    }
    Statement purge(connection, "DELETE " + same);
    bind(purge);
    SCHAAS_RETURN_IF_ERROR(purge.run(doing));
    return true;
  }

  Result<void> add_measurement(Connection& connection, const MeasurementRow& row, const std::string& doing) {
    SCHAAS_ASSIGN_OR_RETURN(const std::int64_t problem,
                            insert_problem(connection, row.problem_key, row.canonical));
    // The row is made anew, not changed: ids increase with age.
    Statement same(connection,
                   "DELETE FROM measurement WHERE problem = $1 AND host = $2 AND sizes = $3 AND threads = $4 "
                   "AND isa = $5 AND code_version = $6 AND trace = $7");
    same.bind(problem).bind(row.host).bind(row.sizes).bind(std::int64_t{row.threads}).bind(row.isa);
    SCHAAS_RETURN_IF_ERROR(same.bind(std::int64_t{row.code_version}).bind(row.trace).run(doing));
    Statement insert(connection,
                     "INSERT INTO measurement(problem, host, sizes, threads, isa, trace, "
                     "code_version, seconds, created, exclusive) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, "
                     "$10) RETURNING "
                     "id");
    insert.bind(problem).bind(row.host).bind(row.sizes).bind(std::int64_t{row.threads}).bind(row.isa);
    insert.bind(row.trace).bind(std::int64_t{row.code_version}).bind(row.seconds);
    insert.bind(print(clock_->now())).bind(std::int64_t{row.exclusive});
    SCHAAS_RETURN_IF_ERROR(insert.step(doing));
    const std::int64_t id = insert.integer(0);
    SCHAAS_RETURN_IF_ERROR(insert.run(doing));  // finishes the statement
    Statement seal(connection,
                   "UPDATE measurement SET digest = " MEASUREMENT_DIGEST
                   " FROM problem WHERE problem.id = measurement.problem AND measurement.id = $1");
    SCHAAS_RETURN_IF_ERROR(seal.bind(id).run(doing));
    Statement purge(connection,
                    "DELETE FROM measurement WHERE problem = $1 AND id <= (SELECT id FROM measurement "
                    "WHERE problem = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)");
    return purge.bind(problem).bind(static_cast<std::int64_t>(max_measurements)).run(doing);
  }

  struct Dropped {
    std::int64_t problem = 0;
    std::string key;
  };
  static Dropped dropped_row(const Statement& row) { return {row.integer(0), row.text(1)}; }

  // Deletes some frontiers of older search versions behind the row `last`, which it moves on; returns their
  // number.
  Result<std::uint64_t> drop_some_before(int search_version, std::int64_t& last) {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    const std::string doing = "drop frontiers";
    Transaction transaction(*session);
    SCHAAS_RETURN_IF_ERROR(transaction.begin(doing, Flush::later));
    Statement oldest(*session,
                     "SELECT id FROM frontier WHERE id > $1 AND search_version < $2 ORDER BY id LIMIT $3");
    oldest.bind(last).bind(std::int64_t{search_version}).bind(static_cast<std::int64_t>(rows_at_once));
    SCHAAS_ASSIGN_OR_RETURN(const auto ids,
                            all_rows(oldest, doing, [](const Statement& row) { return row.integer(0); }));
    if (ids.empty()) return 0;
    const std::string sql =
        "DELETE FROM frontier WHERE id IN (" + placeholders(ids.size()) + ") RETURNING problem, ''";
    Statement drop(*session, sql);
    for (const std::int64_t id : ids) drop.bind(id);
    SCHAAS_ASSIGN_OR_RETURN(const auto dropped, all_rows(drop, doing, dropped_row));
    SCHAAS_RETURN_IF_ERROR(purge_problems(*session, dropped, doing));
    SCHAAS_RETURN_IF_ERROR(transaction.commit(doing));
    last = ids.back();
    return ids.size();
  }

  // Evicts at most `rows_at_once` frontiers, in one statement.
  Result<DroppedFrontiers> drop_some_above(std::uint64_t bytes, Clock::Time fresh) {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    const std::string doing = "drop frontiers";
    Transaction transaction(*session);
    SCHAAS_RETURN_IF_ERROR(transaction.begin(doing, Flush::later));
    DroppedFrontiers out;
    SCHAAS_ASSIGN_OR_RETURN(const std::uint64_t before, frontier_bytes(*session, doing));
    out.left_bytes = before;
    if (before <= bytes) return out;
    // The sum over older ones tells which are one too many.
    Statement drop(*session,
                   "WITH oldest AS MATERIALIZED (SELECT frontier, used, bytes FROM frontier_use "
                   "JOIN frontier ON frontier.id = frontier_use.frontier "
                   "JOIN problem ON problem.id = frontier.problem "
                   "WHERE pinned = 0 AND used < $1 ORDER BY used, frontier LIMIT $2), "
                   "summed AS (SELECT frontier, sum(bytes) OVER (ORDER BY used, frontier) - bytes AS older "
                   "FROM oldest) "
                   "DELETE FROM frontier WHERE id IN (SELECT frontier FROM summed WHERE older < $3) "
                   "RETURNING problem, (SELECT key FROM problem WHERE problem.id = frontier.problem)");
    drop.bind(print(fresh)).bind(static_cast<std::int64_t>(rows_at_once));
    drop.bind(static_cast<std::int64_t>(before - bytes));
    SCHAAS_ASSIGN_OR_RETURN(const auto dropped, all_rows(drop, doing, dropped_row));
    SCHAAS_RETURN_IF_ERROR(purge_problems(*session, dropped, doing));
    std::set<std::string> keys;
    for (const Dropped& row : dropped) keys.insert(row.key);
    SCHAAS_RETURN_IF_ERROR(commit_change(*session, transaction, keys, doing));
    // Totals may be counted by the commit.
    SCHAAS_ASSIGN_OR_RETURN(out.left_bytes, frontier_bytes(*session, doing));
    out.frontiers = dropped.size();
    out.bytes = before - std::min(before, out.left_bytes);
    return out;
  }

  // Deletes those of the problems that have no row left and are not pinned. Runs inside the caller's
  // transaction.
  Result<void> purge_problems(Connection& connection, const std::vector<Dropped>& problems,
                              const std::string& doing) {
    if (problems.empty()) return {};
    const std::string sql =
        "DELETE FROM problem WHERE pinned = 0 AND id IN (" + placeholders(problems.size()) +
        ") AND NOT EXISTS (SELECT 1 FROM frontier WHERE frontier.problem = problem.id) "
        "AND NOT EXISTS (SELECT 1 FROM kernel WHERE kernel.problem = problem.id) "
        "AND NOT EXISTS (SELECT 1 FROM measurement WHERE measurement.problem = problem.id)";
    Statement purge(connection, sql);
    for (const Dropped& row : problems) purge.bind(row.problem);
    return purge.run(doing);
  }

  Result<std::uint64_t> frontier_bytes(Connection& connection, const std::string& doing) {
    Statement total(connection, "SELECT bytes FROM total");
    SCHAAS_RETURN_IF_ERROR(total.step(doing));
    return total.count(0);
  }

  // Returns the first column.
  static Result<std::set<std::string>> texts_of(Statement& query, const std::string& doing) {
    SCHAAS_ASSIGN_OR_RETURN(const auto rows,
                            all_rows(query, doing, [](const Statement& row) { return row.text(0); }));
    return std::set<std::string>(rows.begin(), rows.end());
  }

  // Records a use. An error, such as a full disk, does not fail the read.
  void note_use(Connection& connection, std::int64_t frontier, const std::string& used) {
    const auto now = clock_->now();
    if (used > print(now - use_precision)) return;
    Statement update(connection, "UPDATE frontier_use SET used = $1 WHERE frontier = $2");
    (void)update.bind(print(now)).bind(frontier).run("note a use");
  }

  // Commits a change of problems and tells of it: those that wait elsewhere with the commit, this process
  // after it.
  Result<void> commit_change(Connection& connection, Transaction& transaction,
                             const std::set<std::string>& problems, const std::string& doing) {
    for (const auto& key : problems) SCHAAS_RETURN_IF_ERROR(connection.notify(changed_problem, key));
    SCHAAS_RETURN_IF_ERROR(transaction.commit(doing));
    for (const auto& key : problems) changes_.of_problem(key);
    return {};
  }

  Result<void> note_all(Connection& connection) {
    changes_.of_all();
    return connection.notify(changed_problem, "");
  }

  // Returns the row id of a problem, inserting it when it is new. Runs inside the caller's transaction.
  Result<std::int64_t> insert_problem(Connection& connection, const std::string& key,
                                      const std::string& canonical) {
    const std::string doing = "store a problem";
    Statement insert(
        connection,
        "INSERT INTO problem(key, canonical, created) VALUES ($1, $2, $3) "
        "ON CONFLICT(key) DO UPDATE SET canonical = excluded.canonical WHERE problem.canonical <> "
        "excluded.canonical");
    insert.bind(key).bind(canonical).bind(print(clock_->now()));
    SCHAAS_RETURN_IF_ERROR(insert.run(doing));
    Statement query(connection, "SELECT id FROM problem WHERE key = $1");
    query.bind(key);
    SCHAAS_RETURN_IF_ERROR(query.step(doing));
    return query.integer(0);
  }

  const std::shared_ptr<Database> database_;
  const std::shared_ptr<const Clock> clock_;
};

}  // namespace

std::unique_ptr<ScheduleStore> make_schedule_store(std::shared_ptr<Database> database,
                                                   std::shared_ptr<const Clock> clock) {
  return std::make_unique<DatabaseScheduleStore>(std::move(database), std::move(clock));
}

Result<std::unique_ptr<ScheduleStore>> open_sqlite_schedule_store(const std::string& path,
                                                                  std::shared_ptr<const Clock> clock) {
  SCHAAS_ASSIGN_OR_RETURN(auto database, open_sqlite(path, schedule_schema()));
  return make_schedule_store(std::move(database), std::move(clock));
}

}  // namespace schaas::kernels_cache
