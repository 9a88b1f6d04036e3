#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "kernels_cache/claims.h"
#include "kernels_cache/clock.h"
#include "kernels_cache/database.h"
#include "kernels_cache/fleet_processes.h"
#include "kernels_cache/job_changes.h"

/// Jobs of offline precomputation: an accepted job is never lost. A database of its own, because the schedule
/// database is a cache and may be deleted. Requests are opaque here. Schema and reasons: docs/storage.md.
namespace schaas::kernels_cache {

struct NewJob {
  std::string idempotency_key;  ///< identifies the job among those of its client; not empty
  std::string client;           ///< unit of fair sharing
  std::string label;            ///< shown to people
  int priority = 0;             ///< higher is served first
  double budget_seconds = 0;    ///< work allowed; items left over then fail. 0: unlimited
  std::vector<std::string> requests;
  std::uint64_t queued = 0;  ///< limit on waiting items of this client; 0: none
  /// Instruction sets of the requests, for those who claim (Takes). "", or none: anybody's.
  std::vector<std::string> isas{};
};

enum class ItemState { waiting, running, done, failed, cancelled };
/// Returns "waiting", "running", ...
std::string name(ItemState state);

struct JobRow {
  std::string id;  ///< "j1", "j2", ...
  std::string client, label, created;
  int priority = 0;
  double budget_seconds = 0;
  std::uint64_t waiting = 0, running = 0, done = 0, failed = 0, cancelled = 0;  ///< items
  double seconds = 0;                                                           ///< work so far
  bool finished() const { return waiting + running == 0; }
};

struct ItemRow {
  std::uint64_t number = 0;  ///< index in the job, from 0
  std::string request;
  ItemState state = ItemState::waiting;
  std::string error;  ///< message of a failed item
  double seconds = 0;
  /// Order in which items of the job ended, increasing across retries; 0: not ended.
  std::uint64_t ended = 0;
};

/// One attempt at an item: work of an earlier one that goes on somewhere ends nothing.
struct Attempt {
  std::string job;
  std::uint64_t number = 0;  ///< the item's
  std::uint64_t run = 0;     ///< counts all attempts at the item; never used twice
};

struct ClaimedItem : Attempt {
  std::string request;
  int attempt = 1;                     ///< since the job was submitted or retried
  std::optional<double> seconds_left;  ///< remaining budget of the job; none: unlimited
  std::unique_ptr<Claim> claim;        ///< tells other processes that somebody works on the item
};

/// Instruction sets whose items a process takes; empty: all items.
using Takes = std::vector<std::string>;

/// Capacity; 0: no limit.
struct JobLimits {
  std::uint64_t waiting = 100'000;  ///< waiting items of all clients; more are refused
  /// Approximate size of the database. New jobs evict ended ones, the longest ended first.
  std::uint64_t bytes = std::uint64_t{1} << 30;
  std::chrono::hours retention{90 * 24};  ///< age at which ended jobs are purged
};

/// Thread-safe. Every change is one transaction that is on disk when the call returns. Acknowledgements to
/// clients (submit, cancel, retry) hold even when the file system breaks meanwhile (check_flushed,
/// file_system.h). Errors of every method: exhausted [disk-full], [disk-read-only], [disk-failing]; internal
/// [storage], [damaged-database]; with a job's id: invalid [unknown-job].
class JobStore {
 public:
  virtual ~JobStore() = default;

  /// Stores a job and returns its id; returns the existing id when the key was used for the same job. Errors:
  /// invalid [idempotency-key] when the key names another job; exhausted [quota-queued], [jobs-full], neither
  /// for a job accepted before.
  virtual support::Result<std::string> submit(const NewJob& job) = 0;
  /// Claims the next waiting item of those that `takes` names and marks it running: highest priority, then
  /// least recently served client, then oldest job.
  virtual support::Result<std::optional<ClaimedItem>> claim(const Takes& takes) = 0;
  support::Result<std::optional<ClaimedItem>> claim() { return claim({}); }
  /// Returns the number of times that items began to wait; take it before claiming.
  virtual JobChanges::Number arrivals() const = 0;
  /// Waits until items began to wait since, at most for `time`; returns false when none did.
  virtual bool wait(JobChanges::Number since, std::chrono::milliseconds time) = 0;
  /// Ends a running item; one that was cancelled or given back meanwhile keeps its state, which returns
  /// false. When the job's budget is spent, its waiting items fail: "the budget of 5 s is spent".
  virtual support::Result<bool> finish(const Attempt& item, ItemState state, const std::string& error,
                                       double seconds) = 0;
  /// Returns false when the item was cancelled, or taken away: its work is in vain.
  virtual support::Result<bool> is_wanted(const Attempt& item) = 0;
  /// Gives back running items that nobody holds: their processes are gone. Items that ran `max_attempts`
  /// times fail.
  virtual support::Result<void> recover() = 0;
  static constexpr int max_attempts = 3;
  /// Fails what waits of jobs whose rows were changed. Reads all requests that wait.
  virtual support::Result<void> check_requests() = 0;
  /// Returns a running item to the waiting ones without counting the attempt: the server stops.
  virtual support::Result<void> requeue(const Attempt& item) = 0;

  /// Purges jobs that ended longer ago than the retention time, with their keys; returns their number.
  virtual support::Result<std::uint64_t> purge() = 0;

  /// Copies the database, as ScheduleStore::back_up does.
  virtual support::Result<void> back_up(const std::string& path) = 0;

  virtual support::Result<std::vector<JobRow>> jobs(std::size_t limit) = 0;  ///< newest first
  /// Counts the items of all jobs by state.
  virtual support::Result<std::map<ItemState, std::uint64_t>> counts() = 0;
  virtual support::Result<JobRow> job(const std::string& id) = 0;
  /// Lists the processes that are connected, and those that took items of jobs that changed since `changed`,
  /// by name. `recent` counts ends since then. Reads all items of those jobs.
  virtual support::Result<std::vector<FleetProcess>> processes(Clock::Time changed, Clock::Time recent) = 0;
  /// Lists up to `limit` items of a job that ended after end number `after`, in order.
  virtual support::Result<std::vector<ItemRow>> ended(const std::string& id, std::uint64_t after,
                                                      std::size_t limit) = 0;
  /// Cancels the waiting and running items of a job.
  virtual support::Result<void> cancel(const std::string& id) = 0;
  /// Makes failed and cancelled items wait again, with all attempts and the whole budget. `queued` as in
  /// NewJob. Errors: exhausted [quota-queued], [jobs-full].
  virtual support::Result<void> retry(const std::string& id, std::uint64_t queued) = 0;

  /// Returns the numbers of changes to jobs, those of their items included.
  const JobChanges& changes() const { return changes_; }

 protected:
  JobChanges changes_;
};

/// Returns the store in a database with the tables of job_schema.h.
std::unique_ptr<JobStore> make_job_store(std::shared_ptr<Database> database,
                                         std::shared_ptr<const Clock> clock, const JobLimits& limits = {});

/// Opens or creates the SQLite database at `path`. Errors: those of open_sqlite.
support::Result<std::unique_ptr<JobStore>> open_job_store(const std::string& path,
                                                          std::shared_ptr<const Clock> clock,
                                                          const JobLimits& limits = {});

}  // namespace schaas::kernels_cache
