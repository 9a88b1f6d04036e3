#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "kernels_cache/clock.h"

/// Jobs of offline precomputation: what was accepted is never lost. A file of its own beside the schedule
/// database, which is a cache and may be deleted. Nothing here reads a request. Schema and reasons:
/// docs/storage.md.
namespace schaas::kernels_cache {

struct NewJob {
  std::string idempotency_key;  ///< the same key of the same client is the same job; not empty
  std::string client;           ///< who shares the server fairly with others
  std::string label;            ///< for people
  int priority = 0;             ///< higher ones first
  double budget_seconds = 0;    ///< of work; what is left then fails. 0: none
  std::vector<std::string> requests;
  std::uint64_t queued = 0;  ///< items of this client that may wait; 0: no limit
};

enum class ItemState { waiting, running, done, failed, cancelled };
/// "waiting", "running", ...
std::string name(ItemState state);

struct JobRow {
  std::string id;  ///< "j1", "j2", ...
  std::string client, label, created;
  int priority = 0;
  double budget_seconds = 0;
  std::uint64_t waiting = 0, running = 0, done = 0, failed = 0, cancelled = 0;  ///< items
  double seconds = 0;                                                           ///< of work so far
  bool finished() const { return waiting + running == 0; }
};

struct ItemRow {
  std::uint64_t number = 0;  ///< in the job, from 0
  std::string request;
  ItemState state = ItemState::waiting;
  std::string error;  ///< of a failed one
  double seconds = 0;
  /// Grows with each item of the job that ends, also when it is tried again; 0: it has not ended.
  std::uint64_t ended = 0;
};

struct ClaimedItem {
  std::string job;
  std::uint64_t number = 0;
  std::string request;
  int attempt = 1;
  std::optional<double> seconds_left;  ///< of the job's budget; none: it has none
};

/// What there is room for; 0: no limit.
struct JobLimits {
  std::uint64_t waiting = 100'000;  ///< items of all clients that wait; more are refused
  /// Of the database, about. Jobs that have ended make room for new ones, those that ended longest ago first.
  std::uint64_t bytes = std::uint64_t{1} << 30;
  std::chrono::hours kept{90 * 24};  ///< what ended so long ago is forgotten
};

/// Thread-safe. Every change is one transaction that is on disk when the call returns; of what a client has
/// acknowledged (submit, cancel, retry) also when the file system breaks meanwhile (check_flushed,
/// file_system.h). Errors of every method: exhausted [disk-full], [disk-read-only], [disk-failing]; internal
/// [storage], [damaged-database]; those that take a job: invalid [unknown-job].
class JobStore {
 public:
  virtual ~JobStore() = default;

  /// The id of the job, a new one or the one that had this key. Errors: invalid [idempotency-key] when that
  /// one was another; exhausted [quota-queued], and [jobs-full] when others have taken all the room; neither
  /// of a job that was accepted before.
  virtual support::Result<std::string> submit(const NewJob& job) = 0;
  /// Takes the next waiting item, which is running then: of the highest priority, of the client that was
  /// served longest ago, of the oldest job.
  virtual support::Result<std::optional<ClaimedItem>> claim() = 0;
  /// Whether an item waits.
  virtual support::Result<bool> any_waiting() = 0;
  /// Ends a running item; one that was cancelled meanwhile stays cancelled. When the job's budget is spent,
  /// what waits fails: "the budget of 5 s is spent".
  virtual support::Result<void> finish(const std::string& job, std::uint64_t number, ItemState state,
                                       const std::string& error, double seconds) = 0;
  /// Running items wait again: nobody works on them, or the work is given back. For the start of a server:
  /// all of them; those that a server died with `most_attempts` times fail.
  virtual support::Result<void> recover() = 0;
  static constexpr int most_attempts = 3;
  /// A running item waits again, as if it had not been taken: the server stops.
  virtual support::Result<void> give_back(const std::string& job, std::uint64_t number) = 0;

  /// Forgets the jobs that ended longer ago than they are kept, with their keys; tells how many.
  virtual support::Result<std::uint64_t> forget() = 0;

  /// As ScheduleStore::back_up.
  virtual support::Result<void> back_up(const std::string& path) = 0;

  virtual support::Result<std::vector<JobRow>> jobs(std::size_t limit) = 0;  ///< newest first
  /// How many items of all jobs there are in each state.
  virtual support::Result<std::map<ItemState, std::uint64_t>> counts() = 0;
  virtual support::Result<JobRow> job(const std::string& id) = 0;
  /// Items of a job that ended after the item with `ended` == after, in that order, at most `limit`.
  virtual support::Result<std::vector<ItemRow>> ended(const std::string& id, std::uint64_t after,
                                                      std::size_t limit) = 0;
  /// Waiting and running items become cancelled.
  virtual support::Result<void> cancel(const std::string& id) = 0;
  /// Failed and cancelled items wait again, with all attempts before them and the budget anew. `queued` as in
  /// NewJob. Errors: exhausted [quota-queued], [jobs-full].
  virtual support::Result<void> retry(const std::string& id, std::uint64_t queued) = 0;
};

/// Opens or creates the database at `path`. Errors: those of open_database (sqlite.h).
support::Result<std::unique_ptr<JobStore>> open_job_store(const std::string& path,
                                                          std::shared_ptr<const Clock> clock,
                                                          const JobLimits& limits = {});
/// For tests of older versions.
struct Schema;
const Schema& job_schema();

}  // namespace schaas::kernels_cache
