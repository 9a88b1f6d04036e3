#include "kernels_cache/job_store.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <mutex>

#include "compiler/support/digest.h"
#include "kernels_cache/file_system.h"
#include "kernels_cache/job_rows.h"
#include "kernels_cache/job_schema.h"
#include "kernels_cache/sqlite.h"

// Accepted jobs in SQLite: one transaction for each change, so a crash leaves every item in exactly one
// state. A job is accepted once. Key, client and content tell whether it is the same job, so a request may be
// sent again after a lost answer. The content is compared by a digest of length-prefixed fields.
// Fair sharing is a counter: `client.served` is a logical time, the greatest of all clients plus one whenever
// one of its items is claimed. The client with the least is next among equal priorities.
// Items get end numbers that only grow, retries included, so that a watcher can ask for whatever ended after
// the last number it saw. What clients are told is checked after the commit (check_flushed), because a flush
// may succeed on a disk that fails (docs/storage.md).
namespace schaas::kernels_cache {
namespace {

using support::Result;

// Items by state, of all jobs and of each, in tables of the connection that triggers keep: asking for them
// reads no items. They are counted when the database is opened, so that no file can hold wrong ones.
#define MOVED(state) state " = " state " + (new.state = '" state "') - (old.state = '" state "')"
constexpr const char* item_totals[] = {
    "CREATE TEMP TABLE total(state TEXT PRIMARY KEY, items INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "INSERT INTO total VALUES ('waiting', 0), ('running', 0), ('done', 0), ('failed', 0), ('cancelled', 0)",
    "UPDATE total SET items = (SELECT count(*) FROM item WHERE item.state = total.state)",
    "CREATE TEMP TABLE job_total(job INTEGER PRIMARY KEY, waiting INTEGER NOT NULL, running INTEGER NOT "
    "NULL, "
    "done INTEGER NOT NULL, failed INTEGER NOT NULL, cancelled INTEGER NOT NULL, seconds REAL NOT NULL) "
    "STRICT",
    "INSERT INTO job_total SELECT job, sum(state = 'waiting'), sum(state = 'running'), sum(state = 'done'), "
    "sum(state = 'failed'), sum(state = 'cancelled'), sum(seconds) FROM item GROUP BY job",
    "CREATE INDEX temp.job_waiting ON job_total(job) WHERE waiting > 0",
    "CREATE TEMP TRIGGER job_added AFTER INSERT ON main.job BEGIN "
    "INSERT INTO job_total VALUES (new.id, 0, 0, 0, 0, 0, 0.0); END",
    "CREATE TEMP TRIGGER job_dropped AFTER DELETE ON main.job BEGIN "
    "DELETE FROM job_total WHERE job = old.id; END",
    // New items wait.
    "CREATE TEMP TRIGGER item_added AFTER INSERT ON main.item BEGIN "
    "UPDATE total SET items = items + 1 WHERE state = new.state; "
    "UPDATE job_total SET waiting = waiting + 1 WHERE job = new.job; END",
    "CREATE TEMP TRIGGER item_changed AFTER UPDATE OF state ON main.item WHEN old.state <> new.state BEGIN "
    "UPDATE total SET items = items - 1 WHERE state = old.state; "
    "UPDATE total SET items = items + 1 WHERE state = new.state; "
    "UPDATE job_total SET " MOVED("waiting") ", " MOVED("running") ", " MOVED("done") ", " MOVED(
        "failed") ", " MOVED("cancelled") " WHERE job = new.job; END",
    "CREATE TEMP TRIGGER seconds_changed AFTER UPDATE OF seconds ON main.item BEGIN "
    "UPDATE job_total SET seconds = seconds + new.seconds - old.seconds WHERE job = new.job; END",
    "CREATE TEMP TRIGGER item_dropped AFTER DELETE ON main.item BEGIN "
    "UPDATE total SET items = items - 1 WHERE state = old.state; END"};
#undef MOVED

constexpr std::array<std::pair<ItemState, const char*>, 5> states = {{{ItemState::waiting, "waiting"},
                                                                      {ItemState::running, "running"},
                                                                      {ItemState::done, "done"},
                                                                      {ItemState::failed, "failed"},
                                                                      {ItemState::cancelled, "cancelled"}}};

ItemState state_named(const std::string& text) {
  for (const auto& [state, name] : states)
    if (text == name) return state;
  SCHAAS_CHECK(false, "an item's state without a name");
}

/// Prints seconds with six decimals, and in full where these do not tell them apart from others. (Digests of
/// stored jobs have the former.)
std::string exact(double seconds) {
  const std::string text = std::to_string(seconds);
  if (std::strtod(text.c_str(), nullptr) == seconds) return text;
  char shortest[32];
  return {shortest, std::to_chars(shortest, shortest + sizeof shortest, seconds).ptr};
}

/// Parses the number of "j17"; 0 when the text is not a job's id.
std::int64_t number_of(const std::string& id) {
  std::int64_t number = 0;
  if (id.size() < 2 || id[0] != 'j') return 0;
  const char* end = id.data() + id.size();
  const auto read = std::from_chars(id.data() + 1, end, number);
  return read.ec == std::errc() && read.ptr == end && number > 0 && id == "j" + std::to_string(number)
             ? number
             : 0;
}

constexpr const char* job_columns =
    "SELECT job.id, client.name, label, job.created, priority, budget, waiting, running, done, failed, "
    "cancelled, seconds FROM job JOIN client ON client.id = job.client JOIN job_total ON job_total.job = "
    "job.id ";

JobRow job_row(const Statement& row) {
  return {"j" + row.text(0), row.text(1),  row.text(2),  row.text(3),  static_cast<int>(row.integer(4)),
          row.real(5),       row.count(6), row.count(7), row.count(8), row.count(9),
          row.count(10),     row.real(11)};
}

/// Returns an UPDATE that ends items. Their end numbers follow all earlier ones of the job, retries included.
std::string ending(const std::string& changes, const std::string& which) {
  return "UPDATE item SET " + changes +
         ", ended = number + 1 + (SELECT max(ended_before, (SELECT max(ended) FROM item AS other WHERE "
         "other.job = job.id)) FROM job WHERE job.id = item.job) WHERE " +
         which;
}

// Condition on a job: none of its items waits or runs.
constexpr const char* has_ended =
    "NOT EXISTS (SELECT 1 FROM item WHERE item.job = job.id AND state IN ('waiting', 'running'))";

/// Estimates the bytes of a job in the database.
std::uint64_t bytes_of(const NewJob& job) {
  // Everything of a row but its request, roughly.
  constexpr std::uint64_t of_a_row = 200;
  std::uint64_t bytes = of_a_row;
  for (const auto& request : job.requests) bytes += request.size() + of_a_row;
  return bytes;
}

class SqliteJobStore final : public JobStore {
 public:
  SqliteJobStore(Database database, std::string path, std::shared_ptr<const Clock> clock, JobLimits limits)
      : database_(std::move(database)),
        path_(std::move(path)),
        attached_({path_, path_ + "-wal"}),
        clock_(std::move(clock)),
        limits_(limits) {}

  Result<std::string> submit(const NewJob& job) override {
    SCHAAS_CHECK(!job.idempotency_key.empty() && !job.requests.empty(), "a job without key or requests");
    const std::lock_guard lock(mutex_);
    const std::string doing = "store a job";
    Transaction transaction(database_);
    SCHAAS_RETURN_IF_ERROR(transaction.begin(doing));
    SCHAAS_ASSIGN_OR_RETURN(const std::int64_t client, client_named(database_, job.client, doing));
    Statement known(database_, "SELECT id, digest FROM job WHERE client = ? AND key = ?");
    SCHAAS_ASSIGN_OR_RETURN(const bool found, known.bind(client).bind(job.idempotency_key).step(doing));
    // Known jobs are answered before any limit is checked: a limit must not make an accepted job look
    // refused.
    if (found) {
      if (is_digest_of(known.text(1), job)) {
        SCHAAS_RETURN_IF_ERROR(flushed(doing));
        return "j" + known.text(0);
      }
      return support::noting(
          support::invalid("idempotency-key", "the key `" + job.idempotency_key +
                                                  "` was used for another job, j" + known.text(0)),
          "a job that is sent again must be the same; give a new one a new key");
    }
    SCHAAS_RETURN_IF_ERROR(check_queue_limits(client, job.requests.size(), job.queued, doing));
    // Inside the transaction, so that a job that cannot be stored evicts nothing.
    SCHAAS_RETURN_IF_ERROR(evict_ended_jobs(bytes_of(job), doing));
    Statement insert(database_,
                     "INSERT INTO job(key, digest, client, label, priority, budget, created, changed) "
                     "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7) RETURNING id");
    insert.bind(job.idempotency_key).bind(digest_of(job)).bind(client).bind(job.label);
    insert.bind(std::int64_t{job.priority}).bind(job.budget_seconds).bind(print(clock_->now()));
    SCHAAS_RETURN_IF_ERROR(insert.step(doing));
    const std::int64_t id = insert.integer(0);
    for (std::size_t n = 0; n < job.requests.size(); ++n) {
      Statement item(database_, "INSERT INTO item(job, number, request) VALUES (?, ?, ?)");
      item.bind(id).bind(static_cast<std::int64_t>(n)).bind(job.requests[n]);
      SCHAAS_RETURN_IF_ERROR(item.run(doing));
    }
    SCHAAS_RETURN_IF_ERROR(insert.run(doing));  // finishes the statement
    SCHAAS_RETURN_IF_ERROR(transaction.commit(doing));
    SCHAAS_RETURN_IF_ERROR(flushed(doing));
    return "j" + std::to_string(id);
  }

  /// Chooses and marks in one transaction. The query is finished before the updates, which change its rows.
  Result<std::optional<ClaimedItem>> claim() override {
    const std::lock_guard lock(mutex_);
    const std::string doing = "claim an item of a job";
    Transaction transaction(database_);
    SCHAAS_RETURN_IF_ERROR(transaction.begin(doing));
    std::optional<ClaimedItem> claimed;
    std::int64_t item = 0, client = 0;
    {
      Statement next(database_,
                     // Work on earlier tries (spent_before) does not count against the budget.
                     "SELECT job.id, client, budget, budget + spent_before - seconds FROM job_total "
                     "JOIN job ON job.id = job_total.job JOIN client ON client.id = job.client "
                     "WHERE waiting > 0 ORDER BY priority DESC, served, job.id LIMIT 1");
      SCHAAS_ASSIGN_OR_RETURN(const bool found, next.step(doing));
      if (!found) return claimed;
      // Items of a job were stored in their order.
      Statement first(database_,
                      "SELECT id, number, request, attempts FROM item WHERE state = 'waiting' AND job = ? "
                      "ORDER BY id LIMIT 1");
      SCHAAS_ASSIGN_OR_RETURN(const bool waits, first.bind(next.integer(0)).step(doing));
      SCHAAS_CHECK(waits, "a job is counted as waiting without an item that waits");
      item = first.integer(0);
      client = next.integer(1);
      claimed = ClaimedItem{"j" + next.text(0), first.count(1), first.text(2),
                            static_cast<int>(first.integer(3)) + 1, std::nullopt};
      if (next.real(2) > 0) claimed->seconds_left = next.real(3);
    }
    Statement take(database_, "UPDATE item SET state = 'running', attempts = attempts + 1 WHERE id = ?");
    SCHAAS_RETURN_IF_ERROR(take.bind(item).run(doing));
    // Moves the client behind all others.
    Statement served(database_,
                     "UPDATE client SET served = (SELECT max(served) FROM client) + 1 WHERE id = ?");
    SCHAAS_RETURN_IF_ERROR(served.bind(client).run(doing));
    SCHAAS_RETURN_IF_ERROR(transaction.commit(doing));
    changes_.note(claimed->job);
    return claimed;
  }

  Result<bool> any_waiting() override {
    const std::lock_guard lock(mutex_);
    Statement query(database_, "SELECT 1 FROM item WHERE state = 'waiting' LIMIT 1");
    return query.step("look for an item of a job");
  }

  Result<void> finish(const std::string& job, std::uint64_t number, ItemState state, const std::string& error,
                      double seconds) override {
    const std::lock_guard lock(mutex_);
    const std::string doing = "end an item of a job";
    Transaction transaction(database_);
    SCHAAS_RETURN_IF_ERROR(transaction.begin(doing));
    // Matches only a running item: one that was cancelled meanwhile keeps its end.
    Statement end(database_, ending("state = ?, error = ?, seconds = seconds + ?",
                                    "job = ? AND number = ? AND state = 'running'")
                                 .c_str());
    end.bind(name(state))
        .bind(error)
        .bind(seconds)
        .bind(number_of(job))
        .bind(static_cast<std::int64_t>(number));
    SCHAAS_RETURN_IF_ERROR(end.run(doing));
    SCHAAS_RETURN_IF_ERROR(end_when_spent(number_of(job), doing));
    SCHAAS_RETURN_IF_ERROR(note_change(number_of(job), doing));
    SCHAAS_RETURN_IF_ERROR(transaction.commit(doing));
    changes_.note(job);
    return {};
  }

  /// Notes the time of change as well: jobs whose last items fail here have ended now.
  Result<void> recover() override {
    const std::lock_guard lock(mutex_);
    const std::string doing = "resume the jobs";
    Transaction transaction(database_);
    SCHAAS_RETURN_IF_ERROR(transaction.begin(doing));
    Statement changed(
        database_, "UPDATE job SET changed = ? WHERE id IN (SELECT job FROM item WHERE state = 'running')");
    SCHAAS_RETURN_IF_ERROR(changed.bind(print(clock_->now())).run(doing));
    // An item during which the server ended several times may be the reason, so it is not tried for ever.
    Statement fail(database_, ending("state = 'failed', error = 'the server ended while it worked on this, ' "
                                     "|| attempts || ' times'",
                                     "state = 'running' AND attempts >= ?")
                                  .c_str());
    SCHAAS_RETURN_IF_ERROR(fail.bind(std::int64_t{max_attempts}).run(doing));
    Statement again(database_, "UPDATE item SET state = 'waiting' WHERE state = 'running'");
    SCHAAS_RETURN_IF_ERROR(again.run(doing));
    SCHAAS_RETURN_IF_ERROR(fail_changed(doing));
    SCHAAS_RETURN_IF_ERROR(transaction.commit(doing));
    changes_.note_all();
    return {};
  }

  Result<void> requeue(const std::string& job, std::uint64_t number) override {
    const std::lock_guard lock(mutex_);
    Statement back(database_,
                   "UPDATE item SET state = 'waiting', attempts = attempts - 1 "
                   "WHERE job = ? AND number = ? AND state = 'running'");
    back.bind(number_of(job)).bind(static_cast<std::int64_t>(number));
    SCHAAS_RETURN_IF_ERROR(back.run("requeue an item of a job"));
    changes_.note(job);
    return {};
  }

  /// Deletes in batches, and clients without jobs at the end.
  Result<std::uint64_t> purge() override {
    const std::string doing = "purge ended jobs";
    if (limits_.retention.count() == 0) return 0;
    const std::string before = print(clock_->now() - limits_.retention);
    const std::string sql =
        std::string("DELETE FROM job WHERE id IN (SELECT id FROM job WHERE changed < ? AND ") + has_ended +
        " ORDER BY changed LIMIT 10)";  // a small batch: the mutex is released between batches
    for (std::uint64_t purged = 0;;) {
      const std::lock_guard lock(mutex_);
      Statement some(database_, sql.c_str());
      SCHAAS_RETURN_IF_ERROR(some.bind(before).run(doing));
      purged += kernels_cache::changes(database_);
      if (kernels_cache::changes(database_) > 0) continue;
      Statement clients(
          database_, "DELETE FROM client WHERE NOT EXISTS (SELECT 1 FROM job WHERE job.client = client.id)");
      SCHAAS_RETURN_IF_ERROR(clients.run(doing));
      return purged;
    }
  }

  Result<void> back_up(const std::string& path) override {
    return kernels_cache::back_up(database_, mutex_, path);
  }

  Result<std::vector<JobRow>> jobs(std::size_t limit) override {
    const std::lock_guard lock(mutex_);
    const std::string sql = std::string(job_columns) + "ORDER BY job.id DESC LIMIT ?";
    Statement query(database_, sql.c_str());
    query.bind(static_cast<std::int64_t>(limit));
    return all_rows(query, "list the jobs", job_row);
  }

  Result<std::map<ItemState, std::uint64_t>> counts() override {
    const std::lock_guard lock(mutex_);
    std::map<ItemState, std::uint64_t> out;
    Statement query(database_, "SELECT state, items FROM total");
    for (;;) {
      SCHAAS_ASSIGN_OR_RETURN(const bool more, query.step("count the items of jobs"));
      if (!more) return out;
      out[state_named(query.text(0))] = query.count(1);
    }
  }

  Result<JobRow> job(const std::string& id) override {
    const std::lock_guard lock(mutex_);
    return row_of(id);
  }

  Result<std::vector<ItemRow>> ended(const std::string& id, std::uint64_t after, std::size_t limit) override {
    const std::lock_guard lock(mutex_);
    SCHAAS_RETURN_IF_ERROR(row_of(id));
    Statement query(database_,
                    "SELECT number, request, state, error, seconds, ended FROM item "
                    "WHERE job = ? AND ended > ? ORDER BY ended LIMIT ?");
    query.bind(number_of(id)).bind(static_cast<std::int64_t>(after)).bind(static_cast<std::int64_t>(limit));
    return all_rows(query, "list the items of a job", [](const Statement& row) {
      return ItemRow{row.count(0), row.text(1), state_named(row.text(2)),
                     row.text(3),  row.real(4), row.count(5)};
    });
  }

  Result<void> cancel(const std::string& id) override {
    const std::lock_guard lock(mutex_);
    const std::string doing = "cancel a job";
    Transaction transaction(database_);
    SCHAAS_RETURN_IF_ERROR(transaction.begin(doing));
    SCHAAS_ASSIGN_OR_RETURN(const JobRow row, row_of(id));
    if (row.finished()) return flushed(doing);
    Statement update(database_,
                     ending("state = 'cancelled'", "job = ? AND state IN ('waiting', 'running')").c_str());
    SCHAAS_RETURN_IF_ERROR(update.bind(number_of(id)).run(doing));
    SCHAAS_RETURN_IF_ERROR(note_change(number_of(id), doing));
    SCHAAS_RETURN_IF_ERROR(transaction.commit(doing));
    changes_.note(id);
    return flushed(doing);
  }

  Result<void> retry(const std::string& id, std::uint64_t queued) override {
    const std::lock_guard lock(mutex_);
    const std::string doing = "retry a job";
    Transaction transaction(database_);
    SCHAAS_RETURN_IF_ERROR(transaction.begin(doing));
    SCHAAS_ASSIGN_OR_RETURN(const JobRow row, row_of(id));
    SCHAAS_ASSIGN_OR_RETURN(const std::int64_t client, client_named(database_, row.client, doing));
    SCHAAS_RETURN_IF_ERROR(check_queue_limits(client, row.failed + row.cancelled, queued, doing));
    // Notes seconds and end numbers so far: a retry has the whole budget, and its end numbers go on from
    // there.
    Statement before(database_,
                     "UPDATE job SET spent_before = (SELECT seconds FROM job_total WHERE job_total.job = "
                     "job.id), ended_before = "
                     "max(ended_before, (SELECT max(ended) FROM item WHERE item.job = job.id)) WHERE id = ?");
    SCHAAS_RETURN_IF_ERROR(before.bind(number_of(id)).run(doing));
    Statement again(database_,
                    "UPDATE item SET state = 'waiting', attempts = 0, error = '', ended = 0 "
                    "WHERE job = ? AND state IN ('failed', 'cancelled')");
    SCHAAS_RETURN_IF_ERROR(again.bind(number_of(id)).run(doing));
    SCHAAS_RETURN_IF_ERROR(transaction.commit(doing));
    changes_.note(id);
    return flushed(doing);
  }

 private:
  // Fails what waits of jobs whose rows no longer have the digest of what was submitted. Another problem
  // would be worked on than the client asked for.
  Result<void> fail_changed(const std::string& doing) {
    Statement waiting(database_, "SELECT DISTINCT job FROM item WHERE state = 'waiting'");
    SCHAAS_ASSIGN_OR_RETURN(const auto ids,
                            all_rows(waiting, doing, [](const Statement& row) { return row.integer(0); }));
    for (const std::int64_t id : ids) {
      SCHAAS_ASSIGN_OR_RETURN(const bool sound, has_its_digest(id, doing));
      if (sound) continue;
      Statement fail(database_,
                     ending("state = 'failed', error = 'its rows in the database were changed; submit "
                            "the job again'",
                            "job = ? AND state = 'waiting'")
                         .c_str());
      SCHAAS_RETURN_IF_ERROR(fail.bind(id).run(doing));
      SCHAAS_RETURN_IF_ERROR(note_change(id, doing));
    }
    return {};
  }

  Result<bool> has_its_digest(std::int64_t id, const std::string& doing) {
    Statement row(database_,
                  "SELECT key, name, label, priority, budget, digest FROM job JOIN client ON client.id = "
                  "job.client WHERE job.id = ?");
    SCHAAS_ASSIGN_OR_RETURN(const bool found, row.bind(id).step(doing));
    if (!found) return false;
    NewJob job{row.text(0), row.text(1), row.text(2), static_cast<int>(row.integer(3)), row.real(4), {}};
    Statement items(database_, "SELECT request FROM item WHERE job = ? ORDER BY number");
    SCHAAS_ASSIGN_OR_RETURN(
        job.requests, all_rows(items.bind(id), doing, [](const Statement& item) { return item.text(0); }));
    return is_digest_of(row.text(5), job);
  }

  // Verifies a commit before it is acknowledged. After an error the outcome is unknown.
  Result<void> flushed(const std::string& doing) {
    SCHAAS_RETURN_IF_ERROR(attached_.check(doing));
    return check_flushed(path_, doing);
  }

  /// Notes that an item ended: retention counts from the last one.
  Result<void> note_change(std::int64_t job, const std::string& doing) {
    Statement update(database_, "UPDATE job SET changed = ? WHERE id = ?");
    return update.bind(print(clock_->now())).bind(job).run(doing);
  }

  // Deletes ended jobs, oldest first, until `bytes` more fit. Runs inside the caller's transaction.
  Result<void> evict_ended_jobs(std::uint64_t bytes, const std::string& doing) {
    if (limits_.bytes == 0) return {};
    const std::string sql = std::string("DELETE FROM job WHERE id = (SELECT id FROM job WHERE ") + has_ended +
                            " ORDER BY changed LIMIT 1)";
    for (;;) {
      Statement used(database_,
                     "SELECT (page_count - freelist_count) * page_size "
                     "FROM pragma_page_count, pragma_freelist_count, pragma_page_size");
      SCHAAS_RETURN_IF_ERROR(used.step(doing));
      if (used.count(0) + bytes <= limits_.bytes) return {};
      Statement oldest(database_, sql.c_str());
      SCHAAS_RETURN_IF_ERROR(oldest.run(doing));
      if (kernels_cache::changes(database_) > 0) continue;
      return support::noting(
          support::exhausted("jobs-full", "the jobs that this server has accepted fill the " +
                                              std::to_string(limits_.bytes) + " bytes there are for them"),
          "submit it when some are done");
    }
  }

  // Checks the limits on waiting items, of all clients and of this one. Runs inside the caller's transaction.
  Result<void> check_queue_limits(std::int64_t client, std::uint64_t more, std::uint64_t queued,
                                  const std::string& doing) {
    if (more == 0) return {};
    Statement query(
        database_,
        "SELECT name, (SELECT coalesce(sum(waiting), 0) FROM job_total JOIN job ON job.id = job_total.job "
        "WHERE waiting > 0 AND client = client.id), "
        "(SELECT items FROM total WHERE state = 'waiting') FROM client WHERE id = ?");
    SCHAAS_RETURN_IF_ERROR(query.bind(client).step(doing));
    const std::uint64_t waiting = query.count(1), of_all = query.count(2);
    if (limits_.waiting != 0 && of_all + more > limits_.waiting) {
      return support::noting(
          support::exhausted("jobs-full",
                             std::to_string(limits_.waiting) + " requests of jobs may wait on this server; " +
                                 std::to_string(of_all) + " wait, this job has " + std::to_string(more)),
          "submit it when some are done");
    }
    if (queued == 0 || waiting + more <= queued) return {};
    return support::noting(
        support::exhausted("quota-queued", "`" + query.text(0) + "` may have " + std::to_string(queued) +
                                               " requests of jobs waiting; " + std::to_string(waiting) +
                                               " wait, this job has " + std::to_string(more)),
        "submit it when some are done, or cancel a job");
  }

  // Fails the waiting items of a job whose budget is spent. Runs inside the caller's transaction.
  Result<void> end_when_spent(std::int64_t job, const std::string& doing) {
    Statement end(
        database_,
        ending(
            "state = 'failed', error = (SELECT printf('the budget of %g s is spent', budget) "
            "FROM job WHERE id = ?1)",
            "job = ?1 AND state = 'waiting' AND EXISTS (SELECT 1 FROM job WHERE id = ?1 AND budget > 0 AND "
            "budget <= (SELECT seconds FROM job_total WHERE job_total.job = ?1) - spent_before)")
            .c_str());
    return end.bind(job).run(doing);
  }

  Result<JobRow> row_of(const std::string& id) {
    const std::string sql = std::string(job_columns) + "WHERE job.id = ?";
    Statement query(database_, sql.c_str());
    SCHAAS_ASSIGN_OR_RETURN(const bool found, query.bind(number_of(id)).step("read a job"));
    if (!found) return support::invalid("unknown-job", "there is no job `" + id.substr(0, 40) + "`");
    return job_row(query);
  }

  Database database_;
  const std::string path_;
  const FilesInPlace attached_;
  std::shared_ptr<const Clock> clock_;
  const JobLimits limits_;
  std::mutex mutex_;  // one connection, one statement at a time
};

/// Returns the digest of a job behind the text `all`, which is empty for rows of earlier versions.
std::string digest_after(std::string all, const NewJob& job) {
  const auto add = [&](const std::string& part) { all += std::to_string(part.size()) + ":" + part; };
  add(job.client);
  add(job.label);
  add(std::to_string(job.priority));
  add(exact(job.budget_seconds));
  for (const auto& request : job.requests) add(request);
  return support::digest_of(all).sha256;
}

}  // namespace

std::string digest_of(const NewJob& job) {
  const std::string& key = job.idempotency_key;
  return digest_after(std::to_string(key.size()) + ":" + key, job);
}

bool is_digest_of(const std::string& stored, const NewJob& job) {
  return stored == digest_of(job) || stored == digest_after("", job);
}

Result<std::int64_t> client_named(const Database& database, const std::string& name,
                                  const std::string& doing) {
  Statement insert(database, "INSERT INTO client(name) VALUES (?) ON CONFLICT(name) DO NOTHING");
  SCHAAS_RETURN_IF_ERROR(insert.bind(name).run(doing));
  Statement query(database, "SELECT id FROM client WHERE name = ?");
  SCHAAS_RETURN_IF_ERROR(query.bind(name).step(doing));
  return query.integer(0);
}

std::string name(ItemState state) {
  for (const auto& [known, name] : states)
    if (state == known) return name;
  SCHAAS_CHECK(false, "an item's state without a name");
}

Result<std::unique_ptr<JobStore>> open_job_store(const std::string& path, std::shared_ptr<const Clock> clock,
                                                 const JobLimits& limits) {
  SCHAAS_ASSIGN_OR_RETURN(Database database, open_database(path, job_schema()));
  SCHAAS_RETURN_IF_ERROR(run_all(database, item_totals, "count the items of jobs"));
  return std::unique_ptr<JobStore>(
      std::make_unique<SqliteJobStore>(std::move(database), path, std::move(clock), limits));
}

}  // namespace schaas::kernels_cache
