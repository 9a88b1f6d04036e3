#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kernels_cache/job_store.h"

namespace schaas::server {

/// An item that ended, as watchers are told of it.
struct EndedItem {
  std::uint64_t number = 0;
  std::string expression;
  kernels_cache::ItemState state = kernels_cache::ItemState::done;
  std::string error;
  double seconds = 0;
  std::uint64_t ended = 0;  ///< ItemRow::ended
};

/// News of jobs, read once for all who watch the same job. Time is divided into intervals. In each of them a
/// job is read at most once, with two queries, however many watch. Each item's request is read once.
/// Thread-safe.
class JobFeed {
 public:
  using ExpressionOf = std::function<std::string(const std::string& request)>;
  /// With an interval of zero every change is read.
  JobFeed(std::shared_ptr<kernels_cache::JobStore> store, ExpressionOf expression_of,
          std::chrono::milliseconds interval)
      : store_(std::move(store)), expression_of_(std::move(expression_of)), interval_(interval) {}

  struct News {
    std::vector<std::shared_ptr<const EndedItem>> items;  ///< in the order in which they ended
    kernels_cache::JobRow job;                            ///< read before the items
    kernels_cache::JobChanges::Number seen = 0;           ///< changes of the job that this includes
    bool more = false;                                    ///< further items ended already
  };
  /// Watch of one job; the feed keeps what it read for as long as somebody watches.
  class Watch {
   public:
    /// Returns the items that ended after end number `after`. The first call of a watch includes every change
    /// so far, later ones those before this interval's reading. Errors: those of the store.
    support::Result<News> news(std::uint64_t after);
    /// Sleeps until the next interval, in which changes are read again.
    void wait_for_next_interval() const;

   private:
    friend class JobFeed;
    struct Shared;
    Watch(JobFeed& feed, std::string id, std::shared_ptr<Shared> shared)
        : feed_(feed), id_(std::move(id)), shared_(std::move(shared)) {}
    support::Result<void> refresh(std::uint64_t after);
    JobFeed& feed_;
    const std::string id_;
    const std::shared_ptr<Shared> shared_;
    bool is_first_ = true;  ///< nothing was told yet
  };
  Watch watch(const std::string& id);

 private:
  support::Result<std::vector<std::shared_ptr<const EndedItem>>> read(const std::string& id,
                                                                      std::uint64_t after) const;
  std::int64_t current_interval() const;

  const std::shared_ptr<kernels_cache::JobStore> store_;
  const ExpressionOf expression_of_;
  const std::chrono::milliseconds interval_;
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<Watch::Shared>> watched_;  ///< by job
};

}  // namespace schaas::server
