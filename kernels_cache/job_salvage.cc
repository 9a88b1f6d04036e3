#include "kernels_cache/job_salvage.h"

#include <set>
#include <utility>
#include <vector>

#include "kernels_cache/job_rows.h"
#include "kernels_cache/job_schema.h"
#include "kernels_cache/sqlite.h"

// Rows are read one job at a time: a damaged page ends the statement that meets it and no other. Ids are
// listed from both ends, so that a damaged page in the middle hides only its own. A job is kept only as a
// whole. The digest of what was submitted decides, so no request is lost or changed unseen. States and times
// are not in the digest: an item whose state cannot be read waits again, which costs work at most. The old
// file is set aside before the new one is written, and never changed.
namespace schaas::kernels_cache {
namespace {

using support::Result;

const std::string doing = "salvage jobs";

struct Item {
  std::string state, error;
  std::int64_t attempts = 0, ended = 0;
  double seconds = 0;
};

struct Job {
  NewJob content;
  std::string digest, created, changed;
  double spent_before = 0;
  std::int64_t ended_before = 0;
  std::vector<Item> items;
};

/// Returns the item with a state that there is: one that cannot be read waits again.
Item with_known_state(Item item) {
  for (const ItemState known :
       {ItemState::waiting, ItemState::running, ItemState::done, ItemState::failed, ItemState::cancelled}) {
    if (item.state == name(known)) return item;
  }
  item.state = name(ItemState::waiting);
  item.ended = 0;
  return item;
}

/// Returns every id that some statement still reaches; items tell of jobs whose own rows are hidden.
std::set<std::int64_t> ids_in(Connection& database) {
  std::set<std::int64_t> ids;
  for (const char* sql : {"SELECT id FROM job ORDER BY id", "SELECT id FROM job ORDER BY id DESC",
                          "SELECT DISTINCT job FROM item"}) {
    Statement query(database, sql);
    // An error ends this list; the others still have their part of the ids.
    for (auto more = query.step(doing); more.ok() && *more; more = query.step(doing))
      ids.insert(query.integer(0));
  }
  return ids;
}

/// Reads a job; an error, or none of this id, when its rows cannot be read.
Result<Job> read_job(Connection& database, std::int64_t id) {
  Statement query(database,
                  "SELECT key, name, label, priority, budget, digest, spent_before, ended_before, created, "
                  "changed FROM job JOIN client ON client.id = job.client WHERE job.id = $1");
  SCHAAS_ASSIGN_OR_RETURN(const bool found, query.bind(id).step(doing));
  if (!found) return support::invalid("unknown-job", "there is no such job");
  Job job;
  job.content = {
      query.text(0), query.text(1), query.text(2), static_cast<int>(query.integer(3)), query.real(4), {}};
  job.digest = query.text(5);
  job.spent_before = query.real(6);
  job.ended_before = query.integer(7);
  job.created = query.text(8);
  job.changed = query.text(9);
  Statement items(database,
                  "SELECT request, state, attempts, error, seconds, ended, number FROM item WHERE job = $1 "
                  "ORDER BY number");
  items.bind(id);
  for (;;) {
    SCHAAS_ASSIGN_OR_RETURN(const bool more, items.step(doing));
    if (!more) return job;
    // Numbers of items are consecutive from 0, so a gap is a lost item.
    if (items.count(6) != job.items.size()) return support::invalid("unknown-job", "an item is missing");
    job.content.requests.push_back(items.text(0));
    job.items.push_back(
        with_known_state({items.text(1), items.text(3), items.integer(2), items.integer(5), items.real(4)}));
  }
}

/// Writes a job with its id, states and end numbers into the new database.
Result<void> write_job(Connection& database, std::int64_t id, const Job& job) {
  SCHAAS_ASSIGN_OR_RETURN(const std::int64_t client, client_named(database, job.content.client, doing));
  Statement insert(
      database,
      "INSERT INTO job(id, key, digest, client, label, priority, budget, spent_before, "
      "ended_before, created, changed, bytes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)");
  insert.bind(id).bind(job.content.idempotency_key).bind(job.digest).bind(client).bind(job.content.label);
  insert.bind(std::int64_t{job.content.priority}).bind(job.content.budget_seconds).bind(job.spent_before);
  insert.bind(job.ended_before).bind(job.created).bind(job.changed);
  insert.bind(static_cast<std::int64_t>(bytes_of(job.content)));
  SCHAAS_RETURN_IF_ERROR(insert.run(doing));
  for (std::size_t n = 0; n < job.items.size(); ++n) {
    const Item& item = job.items[n];
    Statement add(database,
                  "INSERT INTO item(job, number, request, state, attempts, error, seconds, ended) "
                  "VALUES ($1, $2, $3, $4, $5, $6, $7, $8)");
    add.bind(id).bind(static_cast<std::int64_t>(n)).bind(job.content.requests[n]).bind(item.state);
    add.bind(item.attempts).bind(item.error).bind(item.seconds).bind(item.ended);
    SCHAAS_RETURN_IF_ERROR(add.run(doing));
  }
  return {};
}

}  // namespace

Result<SalvagedJobs> salvage_jobs(const std::string& path) {
  std::vector<std::pair<std::int64_t, Job>> whole;
  SalvagedJobs out;
  {
    // Closed before the file is renamed below.
    SCHAAS_ASSIGN_OR_RETURN(const auto damaged, open_unchecked(path, doing));
    for (const std::int64_t id : ids_in(*damaged)) {
      auto job = read_job(*damaged, id);
      if (job.ok() && is_digest_of(job->digest, job->content)) {
        whole.emplace_back(id, std::move(job).value());
      } else {
        ++out.lost;
      }
    }
  }
  if (whole.empty()) return support::invalid("damaged-database", "no job in `" + path + "` is whole");
  SCHAAS_RETURN_IF_ERROR(set_aside(path));
  SCHAAS_ASSIGN_OR_RETURN(const auto database, open_connection(path, job_schema()));
  Transaction transaction(*database);
  SCHAAS_RETURN_IF_ERROR(transaction.begin(doing));
  for (const auto& [id, job] : whole) {
    if (write_job(*database, id, job).ok()) {
      ++out.kept;
      continue;
    }
    ++out.lost;  // a key that is there twice
    Statement undo(*database, "DELETE FROM job WHERE id = $1");
    SCHAAS_RETURN_IF_ERROR(undo.bind(id).run(doing));
  }
  SCHAAS_RETURN_IF_ERROR(transaction.commit(doing));
  return out;
}

}  // namespace schaas::kernels_cache
