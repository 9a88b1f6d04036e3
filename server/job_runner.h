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
#include "server/log.h"

namespace schaas::server {

/// Whether the disk had no room, or could not be written to: the same work will do once that has changed.
bool is_disk_trouble(const support::Diagnostic& error);

/// Works on the items of accepted jobs, one at a time, on a thread of its own. Between items it lets those go
/// first who wait for an answer; an item in work goes behind them wherever there is a line (slots.h).
/// What a disk ends that is full or broken (is_disk_trouble) is put off by some seconds and done again, for
/// an hour: it says nothing of the item. An item ends when the budget of its job is spent, and when it takes
/// too long: there is one thread for all. Once an hour it has the store forget what ended long ago.
/// Thread-safe.
class JobRunner {
 public:
  /// Works on one request (the text that was submitted): its answer is stored by the way.
  using Work =
      std::function<support::Result<void>(const std::string& request, support::Cancellation& cancellation)>;
  /// Whether somebody waits for an answer.
  using Busy = std::function<bool()>;
  struct Options {
    Work work;
    Busy busy;
    std::chrono::seconds longest{3600};  ///< of one item
  };
  /// Takes up what an earlier server left running.
  JobRunner(std::shared_ptr<kernels_cache::JobStore> store, Options options, Log log);
  /// Stops; an item in work is given back.
  ~JobRunner();
  JobRunner(const JobRunner&) = delete;
  JobRunner& operator=(const JobRunner&) = delete;

  /// There may be something new to do.
  void wake();
  /// Stops the item in work if it is of this job: after JobStore::cancel.
  void stop_item_of(const std::string& job);
  /// Whether an item is in work or waits.
  bool has_work() const;
  bool stopping() const;
  /// Begins nothing more, stops what is in work and gives it back. Returns when that is done.
  void stop();

 private:
  void run();
  bool wait_for_items();
  bool wait_for_quiet();
  bool rest();
  void forget_when_due();
  void work_on(const kernels_cache::ClaimedItem& item);
  std::chrono::duration<double> time_for(const kernels_cache::ClaimedItem& item) const;
  bool puts_off(const kernels_cache::ClaimedItem& item, const support::Diagnostic& error);

  const std::shared_ptr<kernels_cache::JobStore> store_;
  const Options options_;
  const Log log_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  bool something_new_ = true;
  bool working_ = true;  ///< not asleep: an item is in work, or is being looked for
  std::string job_;      ///< of the item in work
  support::Cancellation* cancellation_ = nullptr;
  std::map<std::pair<std::string, std::uint64_t>, int>
      put_off_;  ///< how often, by job and item; on its thread alone
  std::chrono::steady_clock::time_point next_forgetting_{};  ///< on its thread alone
  std::thread thread_;
};

}  // namespace schaas::server
