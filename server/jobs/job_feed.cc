#include "server/jobs/job_feed.h"

#include <algorithm>
#include <thread>
#include <utility>

// The last ends of a job's items, kept while it is watched. A watcher that is further behind reads the store
// by itself until it has caught up. Watchers that come after a change find it read by the first of them.
namespace schaas::server {

using support::Result;

namespace {

constexpr std::size_t items_at_once = 256;
/// Ends kept of one job.
constexpr std::size_t max_kept_items = 2048;

}  // namespace

struct JobFeed::Watch::Shared {
  std::mutex mutex;
  bool is_read = false;
  kernels_cache::JobChanges::Number seen = 0;  ///< changes of the job when it was read
  std::int64_t interval = 0;                   ///< the one in which it was read
  kernels_cache::JobRow job;
  std::uint64_t from = 0;  ///< all ends after this one are in `items`
  std::deque<std::shared_ptr<const EndedItem>> items;
};

JobFeed::Watch JobFeed::watch(const std::string& id) {
  const std::lock_guard lock(mutex_);
  std::erase_if(watched_, [](const auto& entry) { return entry.second.expired(); });
  auto shared = watched_[id].lock();
  if (shared == nullptr) watched_[id] = shared = std::make_shared<Watch::Shared>();
  return Watch(*this, id, std::move(shared));
}

Result<std::vector<std::shared_ptr<const EndedItem>>> JobFeed::read(const std::string& id,
                                                                    std::uint64_t after) const {
  SCHAAS_ASSIGN_OR_RETURN(const auto rows, store_->ended(id, after, items_at_once));
  std::vector<std::shared_ptr<const EndedItem>> items;
  for (const auto& row : rows) {
    items.push_back(std::make_shared<const EndedItem>(
        EndedItem{row.number, expression_of_(row.request), row.state, row.error, row.seconds, row.ended}));
  }
  return items;
}

std::int64_t JobFeed::current_interval() const {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return interval_.count() == 0 ? 0 : now / interval_;
}

void JobFeed::Watch::wait_for_next_interval() const {
  const auto next = (feed_.current_interval() + 1) * feed_.interval_;
  std::this_thread::sleep_until(std::chrono::steady_clock::time_point(next));
}

// Reads the job and the ends that are new, where the job changed since and was not read in this interval.
Result<void> JobFeed::Watch::refresh(std::uint64_t after) {
  const auto changes = feed_.store_->changes().of(id_);
  const auto interval = feed_.current_interval();
  const bool told_all = !std::exchange(is_first_, false);
  if (shared_->is_read && changes == shared_->seen) return {};
  const bool read_just_now = feed_.interval_.count() != 0 && interval == shared_->interval;
  if (shared_->is_read && read_just_now && told_all) return {};
  // The job is read first, so that every item it counts as ended is listed below.
  SCHAAS_ASSIGN_OR_RETURN(auto job, feed_.store_->job(id_));
  const std::uint64_t given_up = job.failed + job.cancelled;
  // A retry takes ends back: those that are kept may be among them.
  if (given_up < shared_->job.failed + shared_->job.cancelled) {
    if (!shared_->items.empty()) shared_->from = shared_->items.back()->ended;
    shared_->items.clear();
  }
  if (!shared_->is_read) shared_->from = after;
  for (;;) {
    const std::uint64_t last = shared_->items.empty() ? shared_->from : shared_->items.back()->ended;
    SCHAAS_ASSIGN_OR_RETURN(const auto items, feed_.read(id_, last));
    for (const auto& item : items) shared_->items.push_back(item);
    while (shared_->items.size() > max_kept_items) {
      shared_->from = shared_->items.front()->ended;
      shared_->items.pop_front();
    }
    if (items.size() < items_at_once) break;
  }
  shared_->job = std::move(job);
  shared_->seen = changes;
  shared_->interval = interval;
  shared_->is_read = true;
  return {};
}

Result<JobFeed::News> JobFeed::Watch::news(std::uint64_t after) {
  News out;
  {
    const std::lock_guard lock(shared_->mutex);
    SCHAAS_RETURN_IF_ERROR(refresh(after));
    out.job = shared_->job;
    out.seen = shared_->seen;
    if (after >= shared_->from) {
      const auto& items = shared_->items;
      const auto first = std::upper_bound(
          items.begin(), items.end(), after,
          [](std::uint64_t end, const std::shared_ptr<const EndedItem>& item) { return end < item->ended; });
      out.items.assign(first, items.end());
      return out;
    }
  }
  SCHAAS_ASSIGN_OR_RETURN(out.items, feed_.read(id_, after));
  out.more = out.items.size() == items_at_once;
  return out;
}

}  // namespace schaas::server
