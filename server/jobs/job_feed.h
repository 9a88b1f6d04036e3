#pragma once
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

/// News of jobs, read once for all who watch the same job. A change costs two queries, and each item's
/// request is read once, however many watch. Thread-safe.
class JobFeed {
 public:
  using ExpressionOf = std::function<std::string(const std::string& request)>;
  JobFeed(std::shared_ptr<kernels_cache::JobStore> store, ExpressionOf expression_of)
      : store_(std::move(store)), expression_of_(std::move(expression_of)) {}

  struct News {
    std::vector<std::shared_ptr<const EndedItem>> items;  ///< in the order in which they ended
    kernels_cache::JobRow job;                            ///< read before the items
    bool more = false;                                    ///< further items ended already
  };
  /// Watch of one job; the feed keeps what it read for as long as somebody watches.
  class Watch {
   public:
    /// Returns the items that ended after end number `after`. Errors: those of the store.
    support::Result<News> news(std::uint64_t after);

   private:
    friend class JobFeed;
    struct Shared;
    Watch(JobFeed& feed, std::string id, std::shared_ptr<Shared> shared)
        : feed_(feed), id_(std::move(id)), shared_(std::move(shared)) {}
    support::Result<void> refresh(std::uint64_t after);
    JobFeed& feed_;
    const std::string id_;
    const std::shared_ptr<Shared> shared_;
  };
  Watch watch(const std::string& id);

 private:
  support::Result<std::vector<std::shared_ptr<const EndedItem>>> read(const std::string& id,
                                                                      std::uint64_t after) const;

  const std::shared_ptr<kernels_cache::JobStore> store_;
  const ExpressionOf expression_of_;
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<Watch::Shared>> watched_;  ///< by job
};

}  // namespace schaas::server
