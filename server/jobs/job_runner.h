#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "compiler/support/cancellation.h"
#include "kernels_cache/job_store.h"
#include "server/telemetry/log.h"

namespace schaas::server {

/// Returns true for a full or failing disk, or a database out of reach: the same work may succeed later.
bool is_storage_failure(const support::Diagnostic& error);

/// Runs the items of accepted jobs on threads of its own, one item at a time on each. Between items they
/// yield to interactive requests; inside one, searches and compilations queue as batch work
/// (admission_queue.h). After such a failure (is_storage_failure) it backs off for seconds and retries the
/// item, for an hour: such an error says nothing about the item. An item fails when its job's budget is spent
/// or its time limit passes. Once an hour old jobs are purged. Thread-safe.
class JobRunner {
 public:
  /// Processes one request (its submitted text) and stores the answer.
  using Work =
      std::function<support::Result<void>(const std::string& request, support::Cancellation& cancellation)>;
  /// Returns true while an interactive request waits.
  using HasInteractiveRequests = std::function<bool()>;
  struct Options {
    Work work;
    HasInteractiveRequests has_interactive_requests;
    std::chrono::seconds max_item_time{3600};  ///< time limit of one item
    /// The longest time an item yields to interactive requests.
    std::chrono::milliseconds starvation_bound = std::chrono::seconds(30);
    int items = 1;                 ///< run at once
    kernels_cache::Takes takes{};  ///< instruction sets of the items that are claimed
  };
  /// Gives back the items that ended servers left running, now and every few seconds.
  JobRunner(std::shared_ptr<kernels_cache::JobStore> store, Options options, Log log);
  /// Stops; running items wait again.
  ~JobRunner();
  JobRunner(const JobRunner&) = delete;
  JobRunner& operator=(const JobRunner&) = delete;

  /// Returns true while an item runs or waits.
  bool has_work() const;
  /// Returns the time since an item ran or waited here.
  std::chrono::steady_clock::duration idle() const;
  bool stopping() const;
  /// Stops: starts no further item, cancels those that run and returns them to the queue. Blocks until done.
  void stop();

 private:
  /// The item of a thread, for as long as the thread works on it.
  struct Running {
    kernels_cache::ClaimedItem item;
    support::Cancellation cancellation;
  };
  void run();
  void wait_for_items(kernels_cache::JobChanges::Number seen);
  bool yield_to_interactive();
  bool back_off();
  void purge_when_due();
  bool is_purge_due();
  void supervise();
  void cancel_lost_items();
  void work_on(kernels_cache::ClaimedItem claimed);
  std::optional<support::Diagnostic> result_of(const kernels_cache::ClaimedItem& item,
                                               support::Cancellation& cancellation) const;
  void store_end(const kernels_cache::ClaimedItem& item, const std::optional<support::Diagnostic>& error,
                 double seconds, bool requeued);
  std::chrono::duration<double> time_for(const kernels_cache::ClaimedItem& item) const;
  bool should_retry(const kernels_cache::ClaimedItem& item, const std::optional<support::Diagnostic>& error);

  const std::shared_ptr<kernels_cache::JobStore> store_;
  const Options options_;
  const Log log_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  int busy_ = 0;  ///< threads that work on an item or look for one
  std::chrono::steady_clock::time_point last_busy_ = std::chrono::steady_clock::now();
  std::set<Running*> running_;                                    ///< each on the stack of its thread
  std::map<std::pair<std::string, std::uint64_t>, int> retries_;  ///< by job and item
  std::chrono::steady_clock::time_point next_purge_{};
  std::vector<std::thread> threads_;
  std::thread supervisor_;
};

}  // namespace schaas::server
