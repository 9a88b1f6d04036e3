#include "kernels_cache/job_store.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "kernels_cache/job_rows.h"
#include "kernels_cache/job_schema.h"
#include "kernels_cache/process_name.h"
#include "kernels_cache/sqlite.h"

// Accepted jobs in a database: one transaction for each change, so a crash leaves every item in exactly one
// state. A job is accepted once. Key, client and content tell whether it is the same job, so a request may be
// sent again after a lost answer. The content is compared by a digest of length-prefixed fields.
// Fair sharing is a counter: `client.served` is a logical time, the greatest of all clients plus one whenever
// one of its items is claimed. The client with the least is next among equal priorities.
// Items get end numbers that only grow, retries included, so that a watcher can ask for whatever ended after
// the last number it saw. What clients are told is checked after the commit (check_durable), because a flush
// may succeed on a disk that fails (docs/storage.md).
namespace schaas::kernels_cache {
namespace {

using support::Result;

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

// Notifications: a job's id when it changed; nothing when items wait.
constexpr const char* changed_job = "schaas_job";
constexpr const char* waiting_items = "schaas_items";

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
         ", ended = number + 1 + (SELECT greatest(ended_before, (SELECT max(ended) FROM item AS other WHERE "
         "other.job = job.id)) FROM job WHERE job.id = item.job) WHERE " +
         which;
}

// Condition on a job: none of its items waits or runs.
constexpr const char* has_ended =
    "NOT EXISTS (SELECT 1 FROM item WHERE item.job = job.id AND state IN ('waiting', 'running'))";

class DatabaseJobStore final : public JobStore, private Listener {
 public:
  DatabaseJobStore(std::shared_ptr<Database> database, std::shared_ptr<const Clock> clock, JobLimits limits)
      : database_(std::move(database)), clock_(std::move(clock)), limits_(limits) {
    database_->add(*this);
  }
  ~DatabaseJobStore() override { database_->remove(*this); }

  Result<std::string> submit(const NewJob& job) override {
    SCHAAS_CHECK(!job.idempotency_key.empty() && !job.requests.empty(), "a job without key or requests");
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    const std::string doing = "store a job";
    Transaction transaction(*session);
    SCHAAS_RETURN_IF_ERROR(transaction.begin(doing));
    SCHAAS_ASSIGN_OR_RETURN(const std::int64_t client, client_named(*session, job.client, doing));
    // Equal submissions at a time wait here for the first.
    Statement alone(*session, "UPDATE client SET served = served WHERE id = $1");
    SCHAAS_RETURN_IF_ERROR(alone.bind(client).run(doing));
    Statement known(*session, "SELECT id, digest FROM job WHERE client = $1 AND key = $2");
    SCHAAS_ASSIGN_OR_RETURN(const bool found, known.bind(client).bind(job.idempotency_key).step(doing));
    // Known jobs are answered before any limit is checked: a limit must not make an accepted job look
    // refused.
    if (found) {
      if (is_digest_of(known.text(1), job)) {
        SCHAAS_RETURN_IF_ERROR(database_->check_durable(doing));
        return "j" + known.text(0);
      }
      return support::noting(
          support::invalid("idempotency-key", "the key `" + job.idempotency_key +
                                                  "` was used for another job, j" + known.text(0)),
          "a job that is sent again must be the same; give a new one a new key");
    }
    SCHAAS_RETURN_IF_ERROR(check_queue_limits(*session, client, job.requests.size(), job.queued));
    // Inside the transaction, so that a job that cannot be stored evicts nothing.
    SCHAAS_RETURN_IF_ERROR(evict_ended_jobs(*session, bytes_of(job)));
    SCHAAS_ASSIGN_OR_RETURN(const std::int64_t id, insert_job(*session, client, job));
    SCHAAS_RETURN_IF_ERROR(session->notify(waiting_items, ""));
    SCHAAS_RETURN_IF_ERROR(transaction.commit(doing));
    SCHAAS_RETURN_IF_ERROR(database_->check_durable(doing));
    arrivals_.note("");
    return "j" + std::to_string(id);
  }

  /// Chooses and marks in one transaction. The query is finished before the updates, which change its rows.
  Result<std::optional<ClaimedItem>> claim(const Takes& takes) override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    const std::string doing = "claim an item of a job";
    constexpr std::int64_t jobs_at_once = 64;
    Transaction transaction(*session);
    SCHAAS_RETURN_IF_ERROR(transaction.begin(doing, Flush::later));
    for (std::int64_t passed = 0;; passed += jobs_at_once) {
      // Work on earlier tries (spent_before) does not count against the budget.
      Statement next(*session,
                     "SELECT job.id, client, budget, budget + spent_before - seconds FROM job_total "
                     "JOIN job ON job.id = job_total.job JOIN client ON client.id = job.client "
                     "WHERE waiting > 0 ORDER BY priority DESC, served, job.id LIMIT $1 OFFSET $2");
      struct Next {
        std::int64_t job, client;
        double budget, left;
      };
      next.bind(jobs_at_once).bind(passed);
      SCHAAS_ASSIGN_OR_RETURN(const auto jobs, all_rows(next, doing, [](const Statement& row) {
                                return Next{row.integer(0), row.integer(1), row.real(2), row.real(3)};
                              }));
      for (const Next& job : jobs) {
        SCHAAS_ASSIGN_OR_RETURN(auto claimed, claim_of(*session, job.job, takes));
        if (!claimed) continue;  // others claim the last ones, or they are for other processors
        if (job.budget > 0) claimed->seconds_left = job.left;
        // Moves the client behind all others.
        Statement served(*session,
                         "UPDATE client SET served = (SELECT max(served) FROM client) + 1 WHERE id = $1");
        SCHAAS_RETURN_IF_ERROR(served.bind(job.client).run(doing));
        SCHAAS_RETURN_IF_ERROR(commit_change(*session, transaction, claimed->job, doing));
        return std::optional(std::move(claimed));
      }
      if (jobs.size() < jobs_at_once) return std::optional<ClaimedItem>();
    }
  }

  bool wait(JobChanges::Number since, std::chrono::milliseconds time) override {
    return arrivals_.wait("", since, time);
  }
  JobChanges::Number arrivals() const override { return arrivals_.of(""); }

  Result<bool> finish(const Attempt& item, ItemState state, const std::string& error,
                      double seconds) override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    const std::string doing = "end an item of a job";
    const std::int64_t job = number_of(item.job);
    Transaction transaction(*session);
    SCHAAS_RETURN_IF_ERROR(transaction.begin(doing));
    // Locks the job: end numbers become visible in their order.
    SCHAAS_RETURN_IF_ERROR(note_change(*session, job, doing));
    // Matches only this attempt: one that was cancelled or given back meanwhile keeps its state.
    Statement end(*session, ending("state = $1, error = $2, seconds = seconds + $3, finished = $4",
                                   "job = $5 AND number = $6 AND state = 'running' AND run = $7"));
    end.bind(name(state)).bind(error).bind(seconds).bind(print(clock_->now())).bind(job);
    end.bind(static_cast<std::int64_t>(item.number)).bind(static_cast<std::int64_t>(item.run));
    SCHAAS_RETURN_IF_ERROR(end.run(doing));
    const bool ended = end.changed() > 0;
    SCHAAS_RETURN_IF_ERROR(end_when_spent(*session, job, doing));
    SCHAAS_RETURN_IF_ERROR(commit_change(*session, transaction, item.job, doing));
    return ended;
  }

  Result<bool> is_wanted(const Attempt& item) override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    Statement query(*session,
                    "SELECT 1 FROM item WHERE job = $1 AND number = $2 AND state = 'running' AND "
                    "run = $3");
    query.bind(number_of(item.job)).bind(static_cast<std::int64_t>(item.number));
    return query.bind(static_cast<std::int64_t>(item.run)).step("look at an item of a job");
  }

  // Asks once who is held, since every process of a fleet does so. One transaction for each item that nobody
  // holds, so that two that give back the same ones cannot wait for each other.
  Result<void> recover() override {
    const std::string doing = "resume the jobs";
    std::vector<Attempt> running;
    {
      SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
      Statement query(*session, "SELECT job, number, run FROM item WHERE state = 'running' ORDER BY id");
      SCHAAS_ASSIGN_OR_RETURN(running, all_rows(query, doing, [](const Statement& row) {
                                return Attempt{"j" + row.text(0), row.count(1), row.count(2)};
                              }));
    }
    std::map<std::string, Attempt> by_key;
    std::vector<std::string> keys;
    for (const Attempt& attempt : running) by_key[keys.emplace_back(claim_key(attempt))] = attempt;
    SCHAAS_ASSIGN_OR_RETURN(const auto not_held, database_->claims().not_held(std::move(keys)));
    for (const std::string& key : not_held) {
      // Another process may give it back at this moment.
      SCHAAS_ASSIGN_OR_RETURN(const auto nobodys, database_->claims().try_take(key));
      if (nobodys != nullptr) SCHAAS_RETURN_IF_ERROR(give_back(by_key.at(key)));
    }
    return {};
  }

  Result<void> check_requests() override {
    const std::string doing = "check the jobs";
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    Statement waiting(*session, "SELECT job FROM job_total WHERE waiting > 0 ORDER BY job");
    SCHAAS_ASSIGN_OR_RETURN(const auto ids,
                            all_rows(waiting, doing, [](const Statement& row) { return row.integer(0); }));
    for (const std::int64_t id : ids) {
      SCHAAS_ASSIGN_OR_RETURN(const bool sound, has_its_digest(*session, id, doing));
      if (!sound) SCHAAS_RETURN_IF_ERROR(fail_changed(*session, id, doing));
    }
    return {};
  }

  Result<void> requeue(const Attempt& item) override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    const std::string doing = "requeue an item of a job";
    Transaction transaction(*session);
    SCHAAS_RETURN_IF_ERROR(transaction.begin(doing));
    Statement back(*session,
                   "UPDATE item SET state = 'waiting', attempts = attempts - 1 "
                   "WHERE job = $1 AND number = $2 AND state = 'running' AND run = $3");
    back.bind(number_of(item.job)).bind(static_cast<std::int64_t>(item.number));
    SCHAAS_RETURN_IF_ERROR(back.bind(static_cast<std::int64_t>(item.run)).run(doing));
    SCHAAS_RETURN_IF_ERROR(session->notify(waiting_items, ""));
    SCHAAS_RETURN_IF_ERROR(commit_change(*session, transaction, item.job, doing));
    arrivals_.note("");
    return {};
  }

  /// Deletes in batches, and clients without jobs at the end.
  Result<std::uint64_t> purge() override {
    const std::string doing = "purge ended jobs";
    if (limits_.retention.count() == 0) return 0;
    const std::string before = print(clock_->now() - limits_.retention);
    const std::string sql =
        std::string("DELETE FROM job WHERE id IN (SELECT id FROM job WHERE changed < $1 AND ") + has_ended +
        " ORDER BY changed LIMIT 10)";  // a small batch: the mutex is released between batches
    for (std::uint64_t purged = 0;;) {
      SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
      Statement some(*session, sql);
      SCHAAS_RETURN_IF_ERROR(some.bind(before).run(doing));
      purged += some.changed();
      if (some.changed() > 0) continue;
      Statement clients(
          *session, "DELETE FROM client WHERE NOT EXISTS (SELECT 1 FROM job WHERE job.client = client.id)");
      SCHAAS_RETURN_IF_ERROR(clients.run(doing));
      return purged;
    }
  }

  Result<void> back_up(const std::string& path) override { return database_->back_up(path); }

  Result<std::vector<JobRow>> jobs(std::size_t limit) override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    const std::string sql = std::string(job_columns) + "ORDER BY job.id DESC LIMIT $1";
    Statement query(*session, sql);
    query.bind(static_cast<std::int64_t>(limit));
    return all_rows(query, "list the jobs", job_row);
  }

  Result<std::map<ItemState, std::uint64_t>> counts() override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    Statement query(*session,
                    "SELECT coalesce(sum(waiting), 0), coalesce(sum(running), 0), coalesce(sum(done), 0), "
                    "coalesce(sum(failed), 0), coalesce(sum(cancelled), 0) FROM job_total");
    SCHAAS_RETURN_IF_ERROR(query.step("count the items of jobs"));
    std::map<ItemState, std::uint64_t> out;
    int column = 0;
    for (const auto& [state, name] : states) out[state] = query.count(column++);
    return out;
  }

  Result<JobRow> job(const std::string& id) override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    return row_of(*session, id);
  }

  Result<std::vector<FleetProcess>> processes(Clock::Time changed, Clock::Time recent) override {
    return fleet_processes(*database_, changed, recent);
  }

  Result<std::vector<ItemRow>> ended(const std::string& id, std::uint64_t after, std::size_t limit) override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    SCHAAS_RETURN_IF_ERROR(row_of(*session, id));
    Statement query(*session,
                    "SELECT number, request, state, error, seconds, ended FROM item "
                    "WHERE job = $1 AND ended > $2 ORDER BY ended LIMIT $3");
    query.bind(number_of(id)).bind(static_cast<std::int64_t>(after)).bind(static_cast<std::int64_t>(limit));
    return all_rows(query, "list the items of a job", [](const Statement& row) {
      return ItemRow{row.count(0), row.text(1), state_named(row.text(2)),
                     row.text(3),  row.real(4), row.count(5)};
    });
  }

  Result<void> cancel(const std::string& id) override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    const std::string doing = "cancel a job";
    Transaction transaction(*session);
    SCHAAS_RETURN_IF_ERROR(transaction.begin(doing));
    SCHAAS_ASSIGN_OR_RETURN(const JobRow row, row_of(*session, id));
    if (row.finished()) return database_->check_durable(doing);
    SCHAAS_RETURN_IF_ERROR(note_change(*session, number_of(id), doing));
    Statement update(*session, ending("state = 'cancelled'", "job = $1 AND state IN ('waiting', 'running')"));
    SCHAAS_RETURN_IF_ERROR(update.bind(number_of(id)).run(doing));
    SCHAAS_RETURN_IF_ERROR(commit_change(*session, transaction, id, doing));
    return database_->check_durable(doing);
  }

  Result<void> retry(const std::string& id, std::uint64_t queued) override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    const std::string doing = "retry a job";
    Transaction transaction(*session);
    SCHAAS_RETURN_IF_ERROR(transaction.begin(doing));
    SCHAAS_ASSIGN_OR_RETURN(const JobRow row, row_of(*session, id));
    SCHAAS_ASSIGN_OR_RETURN(const std::int64_t client, client_named(*session, row.client, doing));
    SCHAAS_RETURN_IF_ERROR(check_queue_limits(*session, client, row.failed + row.cancelled, queued));
    // Notes seconds and end numbers so far: a retry has the whole budget, and its end numbers go on from
    // there.
    Statement before(
        *session,
        "UPDATE job SET spent_before = (SELECT seconds FROM job_total WHERE job_total.job = "
        "job.id), ended_before = "
        "greatest(ended_before, (SELECT max(ended) FROM item WHERE item.job = job.id)) WHERE id = $1");
    SCHAAS_RETURN_IF_ERROR(before.bind(number_of(id)).run(doing));
    Statement again(*session,
                    "UPDATE item SET state = 'waiting', attempts = 0, error = '', ended = 0 "
                    "WHERE job = $1 AND state IN ('failed', 'cancelled')");
    SCHAAS_RETURN_IF_ERROR(again.bind(number_of(id)).run(doing));
    SCHAAS_RETURN_IF_ERROR(session->notify(waiting_items, ""));
    SCHAAS_RETURN_IF_ERROR(commit_change(*session, transaction, id, doing));
    arrivals_.note("");
    return database_->check_durable(doing);
  }

 private:
  void hear(std::string_view channel, std::string_view what) override {
    if (channel == waiting_items) arrivals_.note("");
    if (channel == changed_job) changes_.note(std::string(what));
  }
  void hearing(bool all) override {
    if (!all) return;
    changes_.note_all();
    arrivals_.note("");
  }

  static std::string claim_key(const Attempt& attempt) {
    return "item " + attempt.job + " " + std::to_string(attempt.number) + " " + std::to_string(attempt.run);
  }

  // Commits a change of a job and tells of it: other processes with the commit, this one after it.
  Result<void> commit_change(Connection& connection, Transaction& transaction, const std::string& job,
                             const std::string& doing) {
    SCHAAS_RETURN_IF_ERROR(connection.notify(changed_job, job));
    SCHAAS_RETURN_IF_ERROR(transaction.commit(doing));
    changes_.note(job);
    return {};
  }

  // Stores a job and its items, some hundreds with each statement. Runs inside the caller's transaction.
  Result<std::int64_t> insert_job(Connection& connection, std::int64_t client, const NewJob& job) {
    const std::string doing = "store a job";
    constexpr std::size_t rows_at_once = 500;
    Statement insert(connection,
                     "INSERT INTO job(key, digest, client, label, priority, budget, created, changed, bytes) "
                     "VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8) RETURNING id");
    insert.bind(job.idempotency_key).bind(digest_of(job)).bind(client).bind(job.label);
    insert.bind(std::int64_t{job.priority}).bind(job.budget_seconds).bind(print(clock_->now()));
    SCHAAS_RETURN_IF_ERROR(insert.bind(static_cast<std::int64_t>(bytes_of(job))).step(doing));
    const std::int64_t id = insert.integer(0);
    SCHAAS_RETURN_IF_ERROR(insert.run(doing));  // finishes the statement
    for (std::size_t begin = 0; begin < job.requests.size(); begin += rows_at_once) {
      const std::size_t count = std::min(rows_at_once, job.requests.size() - begin);
      std::string sql = "INSERT INTO item(job, number, request, isa) VALUES ";
      for (std::size_t n = 0; n < count; ++n) {
        sql += std::string(n == 0 ? "" : ", ") + "($1, $" + std::to_string(3 * n + 2) + ", $" +
               std::to_string(3 * n + 3) + ", $" + std::to_string(3 * n + 4) + ")";
      }
      Statement items(connection, sql);
      items.bind(id);
      for (std::size_t n = begin; n < begin + count; ++n) {
        items.bind(static_cast<std::int64_t>(n)).bind(job.requests[n]);
        items.bind(n < job.isas.size() ? job.isas[n] : std::string());
      }
      SCHAAS_RETURN_IF_ERROR(items.run(doing));
    }
    return id;
  }

  // Claims the first item of a job that waits and that nobody else claims at this time. The claim is taken
  // before the commit: whoever sees the item running sees it held.
  Result<std::optional<ClaimedItem>> claim_of(Connection& connection, std::int64_t job, const Takes& takes) {
    const std::string doing = "claim an item of a job";
    std::string isas;
    for (std::size_t n = 0; n < takes.size(); ++n) isas += ", $" + std::to_string(n + 3);
    // Items of a job were stored in their order.
    Statement take(
        connection,
        std::string("UPDATE item SET state = 'running', attempts = attempts + 1, run = run + 1, worker = $1, "
                    "lifetime = ") +
            connection.dialect().lifetime +
            " WHERE id = (SELECT id FROM item WHERE state = 'waiting' AND job = $2" +
            (takes.empty() ? "" : " AND isa IN (''" + isas + ")") + " ORDER BY id LIMIT 1" +
            connection.dialect().skip_locked + ") RETURNING number, request, attempts, run");
    take.bind(process_name()).bind(job);
    for (const std::string& isa : takes) take.bind(isa);
    SCHAAS_ASSIGN_OR_RETURN(const bool found, take.step(doing));
    if (!found) return std::optional<ClaimedItem>();
    ClaimedItem item;
    item.job = "j" + std::to_string(job);
    item.number = take.count(0);
    item.request = take.text(1);
    item.attempt = static_cast<int>(take.integer(2));
    item.run = take.count(3);
    SCHAAS_RETURN_IF_ERROR(take.run(doing));  // finishes the statement
    SCHAAS_ASSIGN_OR_RETURN(item.claim, database_->claims().try_take(claim_key(item)));
    if (item.claim == nullptr)
      return support::internal("storage", "a new attempt at an item is held already");
    return std::optional(std::move(item));
  }

  // Gives back an item that nobody works on. One during which servers ended several times may be the reason,
  // so it is not tried for ever. A restart of the database ended the claim of everybody: no attempt counts.
  Result<void> give_back(const Attempt& attempt) {
    const std::string doing = "resume the jobs";
    const std::int64_t job = number_of(attempt.job);
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    Transaction transaction(*session);
    SCHAAS_RETURN_IF_ERROR(transaction.begin(doing));
    // Notes the time of change as well: a job whose last item fails here has ended now.
    SCHAAS_RETURN_IF_ERROR(note_change(*session, job, doing));
    const std::string which = "job = $1 AND number = $2 AND state = 'running' AND run = $3";
    Statement uncount(*session, "UPDATE item SET attempts = attempts - 1 WHERE " + which +
                                    " AND lifetime <> " + session->dialect().lifetime);
    uncount.bind(job).bind(static_cast<std::int64_t>(attempt.number));
    SCHAAS_RETURN_IF_ERROR(uncount.bind(static_cast<std::int64_t>(attempt.run)).run(doing));
    Statement fail(*session, ending("state = 'failed', finished = $5, error = 'the server ended while it "
                                    "worked on this, ' || attempts || ' times'",
                                    which + " AND attempts >= $4"));
    fail.bind(job).bind(static_cast<std::int64_t>(attempt.number));
    fail.bind(static_cast<std::int64_t>(attempt.run)).bind(std::int64_t{max_attempts});
    SCHAAS_RETURN_IF_ERROR(fail.bind(print(clock_->now())).run(doing));
    Statement again(*session, "UPDATE item SET state = 'waiting' WHERE " + which);
    again.bind(job).bind(static_cast<std::int64_t>(attempt.number));
    SCHAAS_RETURN_IF_ERROR(again.bind(static_cast<std::int64_t>(attempt.run)).run(doing));
    SCHAAS_RETURN_IF_ERROR(session->notify(waiting_items, ""));
    SCHAAS_RETURN_IF_ERROR(commit_change(*session, transaction, attempt.job, doing));
    arrivals_.note("");
    return {};
  }

  // Fails what waits of a job whose rows no longer have the digest of what was submitted. Another problem
  // would be worked on than the client asked for.
  Result<void> fail_changed(Connection& connection, std::int64_t id, const std::string& doing) {
    Transaction transaction(connection);
    SCHAAS_RETURN_IF_ERROR(transaction.begin(doing));
    SCHAAS_RETURN_IF_ERROR(note_change(connection, id, doing));
    Statement fail(connection,
                   ending("state = 'failed', error = 'its rows in the database were changed; submit "
                          "the job again'",
                          "job = $1 AND state = 'waiting'"));
    SCHAAS_RETURN_IF_ERROR(fail.bind(id).run(doing));
    return commit_change(connection, transaction, "j" + std::to_string(id), doing);
  }

  Result<bool> has_its_digest(Connection& connection, std::int64_t id, const std::string& doing) {
    Statement row(connection,
                  "SELECT key, name, label, priority, budget, digest FROM job JOIN client ON client.id = "
                  "job.client WHERE job.id = $1");
    SCHAAS_ASSIGN_OR_RETURN(const bool found, row.bind(id).step(doing));
    if (!found) return false;
    NewJob job{row.text(0), row.text(1), row.text(2), static_cast<int>(row.integer(3)), row.real(4), {}};
    Statement items(connection, "SELECT request FROM item WHERE job = $1 ORDER BY number");
    SCHAAS_ASSIGN_OR_RETURN(
        job.requests, all_rows(items.bind(id), doing, [](const Statement& item) { return item.text(0); }));
    return is_digest_of(row.text(5), job);
  }

  /// Notes that an item ended: retention counts from the last one. Locks the job.
  Result<void> note_change(Connection& connection, std::int64_t job, const std::string& doing) {
    Statement update(connection, "UPDATE job SET changed = $1 WHERE id = $2");
    return update.bind(print(clock_->now())).bind(job).run(doing);
  }

  // Deletes ended jobs, oldest first, until `bytes` more fit. Runs inside the caller's transaction.
  Result<void> evict_ended_jobs(Connection& connection, std::uint64_t bytes) {
    const std::string doing = "store a job";
    if (limits_.bytes == 0) return {};
    for (;;) {
      Statement used(connection, "SELECT coalesce(sum(bytes), 0) FROM job");
      SCHAAS_RETURN_IF_ERROR(used.step(doing));
      if (used.count(0) + bytes <= limits_.bytes) return {};
      Statement oldest(connection, std::string("DELETE FROM job WHERE id = (SELECT id FROM job WHERE ") +
                                       has_ended + " ORDER BY changed LIMIT 1)");
      SCHAAS_RETURN_IF_ERROR(oldest.run(doing));
      if (oldest.changed() > 0) continue;
      return support::noting(
          support::exhausted("jobs-full", "the jobs that this server has accepted fill the " +
                                              std::to_string(limits_.bytes) + " bytes there are for them"),
          "submit it when some are done");
    }
  }

  // Checks the limits on waiting items, of all clients and of this one. Runs inside the caller's transaction.
  Result<void> check_queue_limits(Connection& connection, std::int64_t client, std::uint64_t more,
                                  std::uint64_t queued) {
    const std::string doing = "store a job";
    if (more == 0) return {};
    Statement query(
        connection,
        "SELECT name, (SELECT coalesce(sum(waiting), 0) FROM job_total JOIN job ON job.id = job_total.job "
        "WHERE waiting > 0 AND client = client.id), "
        "(SELECT coalesce(sum(waiting), 0) FROM job_total WHERE waiting > 0) FROM client WHERE id = $1");
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
  Result<void> end_when_spent(Connection& connection, std::int64_t job, const std::string& doing) {
    Statement query(connection,
                    "SELECT budget FROM job JOIN job_total ON job_total.job = job.id WHERE job.id = $1 AND "
                    "budget > 0 AND budget <= seconds - spent_before");
    SCHAAS_ASSIGN_OR_RETURN(const bool spent, query.bind(job).step(doing));
    if (!spent) return {};
    char error[64];
    std::snprintf(error, sizeof error, "the budget of %g s is spent", query.real(0));
    Statement end(connection, ending("state = 'failed', error = $1", "job = $2 AND state = 'waiting'"));
    return end.bind(error).bind(job).run(doing);
  }

  Result<JobRow> row_of(Connection& connection, const std::string& id) {
    const std::string sql = std::string(job_columns) + "WHERE job.id = $1";
    Statement query(connection, sql);
    SCHAAS_ASSIGN_OR_RETURN(const bool found, query.bind(number_of(id)).step("read a job"));
    if (!found) return support::invalid("unknown-job", "there is no job `" + id.substr(0, 40) + "`");
    return job_row(query);
  }

  const std::shared_ptr<Database> database_;
  const std::shared_ptr<const Clock> clock_;
  const JobLimits limits_;
  JobChanges arrivals_;  ///< counts when items begin to wait
};

}  // namespace

std::string name(ItemState state) {
  for (const auto& [known, name] : states)
    if (state == known) return name;
  SCHAAS_CHECK(false, "an item's state without a name");
}

std::unique_ptr<JobStore> make_job_store(std::shared_ptr<Database> database,
                                         std::shared_ptr<const Clock> clock, const JobLimits& limits) {
  return std::make_unique<DatabaseJobStore>(std::move(database), std::move(clock), limits);
}

Result<std::unique_ptr<JobStore>> open_job_store(const std::string& path, std::shared_ptr<const Clock> clock,
                                                 const JobLimits& limits) {
  SCHAAS_ASSIGN_OR_RETURN(auto database, open_sqlite(path, job_schema()));
  return make_job_store(std::move(database), std::move(clock), limits);
}

}  // namespace schaas::kernels_cache
