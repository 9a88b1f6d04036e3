#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "compiler/support/cancellation.h"
#include "kernels_cache/job_store.h"
#include "server/telemetry/log.h"

namespace schaas::server {

/// Returns true for a full or failing disk: the same work may succeed later.
bool is_disk_error(const support::Diagnostic& error);

/// Runs the items of accepted jobs, one at a time, on a thread of its own. Between items it yields to
/// interactive requests; inside one, its searches and compilations queue as batch work (admission_queue.h).
/// After a disk error (is_disk_error) it backs off for seconds and retries the item, for an hour: such an
/// error says nothing about the item. An item fails when its job's budget is spent or its time limit passes.
/// Once an hour old jobs are purged. Thread-safe.
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
  };
  /// Resumes the items that an earlier server left running.
  JobRunner(std::shared_ptr<kernels_cache::JobStore> store, Options options, Log log);
  /// Stops; a running item waits again.
  ~JobRunner();
  JobRunner(const JobRunner&) = delete;
  JobRunner& operator=(const JobRunner&) = delete;

  /// Signals that items may have arrived.
  void wake();
  /// Cancels the running item if it belongs to this job; called after JobStore::cancel.
  void cancel_item_of(const std::string& job);
  /// Returns true while an item runs or waits.
  bool has_work() const;
  bool stopping() const;
  /// Stops: starts no further item, cancels the running one and returns it to the queue. Blocks until done.
  void stop();

 private:
  void run();
  bool wait_for_items();
  bool yield_to_interactive();
  bool back_off();
  void purge_when_due();
  void work_on(const kernels_cache::ClaimedItem& item);
  std::chrono::duration<double> time_for(const kernels_cache::ClaimedItem& item) const;
  bool should_retry(const kernels_cache::ClaimedItem& item, const support::Diagnostic& error);

  const std::shared_ptr<kernels_cache::JobStore> store_;
  const Options options_;
  const Log log_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  bool has_new_items_ = true;
  bool working_ = true;  ///< not idle: an item runs, or is being looked for
  std::string job_;      ///< job of the running item
  support::Cancellation* cancellation_ = nullptr;
  std::map<std::pair<std::string, std::uint64_t>, int>
      retries_;  ///< retries by job and item; used by the worker thread alone
  std::chrono::steady_clock::time_point next_purge_{};  ///< used by the worker thread alone
  std::thread thread_;
};

}  // namespace schaas::server
