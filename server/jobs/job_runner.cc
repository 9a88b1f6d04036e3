#include "server/jobs/job_runner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

// Threads that take items of accepted jobs one at a time: claim, work, store the end. Everything that
// must survive is in the store, so a crash at any point leaves an item that the next start resumes. Between
// items they yield to interactive requests, at most for the starvation bound.
// Ends of an item are told apart by cause. Its own error is final. A full or failing disk says nothing about
// it, so it goes back and is tried again. A stopping server gives it back without counting the attempt. A
// deadline means its budget or its time limit. The mutex guards the fields that other threads touch; it is
// never held while the store or the work runs.
namespace schaas::server {
namespace {

using kernels_cache::ClaimedItem;
using kernels_cache::ItemState;
using Steady = std::chrono::steady_clock;

// Interactive requests cannot wake the runner, so it looks for their end.
constexpr std::chrono::milliseconds poll_interval{20};
/// Delay after an error of the store, such as a full disk.
constexpr std::chrono::seconds store_retry_interval{5};
constexpr std::chrono::hours purge_interval{1};
/// Retries of one item after disk errors, for an hour. An item that never fits must not block the rest for
/// ever.
constexpr int max_retries = 720;

}  // namespace

bool is_disk_error(const support::Diagnostic& error) {
  return error.code.starts_with("disk-") || error.code == "descriptors" || error.code == "file-replaced";
}

JobRunner::JobRunner(std::shared_ptr<kernels_cache::JobStore> store, Options options, Log log)
    : store_(std::move(store)), options_(std::move(options)), log_(std::move(log)) {
  if (const auto recovered = store_->recover(); !recovered.ok())
    log_->error("cannot resume jobs: {}", support::render(recovered.error()));
  busy_ = options_.items;
  for (int n = 0; n < options_.items; ++n) threads_.emplace_back([this] { run(); });
}

JobRunner::~JobRunner() { stop(); }

void JobRunner::wake() {
  const std::lock_guard lock(mutex_);
  ++wakes_;
  changed_.notify_all();
}

void JobRunner::cancel_items_of(const std::string& job) {
  const std::lock_guard lock(mutex_);
  for (Running* running : running_)
    if (running->job == job) running->cancellation.cancel();
}

bool JobRunner::has_work() const {
  const std::lock_guard lock(mutex_);
  return busy_ > 0 && !stopping_;
}

bool JobRunner::stopping() const {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void JobRunner::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (Running* running : running_) running->cancellation.cancel();
    changed_.notify_all();
  }
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

void JobRunner::run() {
  while (wait_for_items()) {
    if (!yield_to_interactive()) return;
    const auto claimed = store_->claim();
    if (!claimed.ok()) {
      log_->error("cannot claim an item: {}", support::render(claimed.error()));
      if (!back_off()) return;
    } else if (claimed->has_value()) {
      work_on(**claimed);
    }
  }
}

// Waits for an item; returns false when the runner stops.
bool JobRunner::wait_for_items() {
  for (;;) {
    purge_when_due();
    std::uint64_t seen = 0;
    {
      const std::lock_guard lock(mutex_);
      seen = wakes_;  // later submissions are seen by the next query, or wake the thread
      if (stopping_) return false;
    }
    const auto waiting = store_->any_waiting();
    if (waiting.ok() && *waiting) return true;
    if (!waiting.ok()) {
      log_->error("cannot query jobs: {}", support::render(waiting.error()));
      if (!back_off()) return false;
      continue;
    }
    std::unique_lock lock(mutex_);
    --busy_;
    changed_.wait_for(lock, purge_interval, [&] { return stopping_ || wakes_ != seen; });
    ++busy_;
  }
}

bool JobRunner::is_purge_due() {
  const std::lock_guard lock(mutex_);
  if (Steady::now() < next_purge_) return false;
  next_purge_ = Steady::now() + purge_interval;
  return true;
}

void JobRunner::purge_when_due() {
  if (!is_purge_due()) return;
  const auto purged = store_->purge();
  if (!purged.ok()) {
    log_->error("cannot purge ended jobs: {}", support::render(purged.error()));
  } else if (*purged > 0) {
    log_->info("purged {} ended jobs", *purged);
  }
}

bool JobRunner::back_off() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, store_retry_interval, [this] { return stopping_; });
  return !stopping_;
}

// Yields to interactive requests, up to the starvation bound; returns false when the runner stops.
bool JobRunner::yield_to_interactive() {
  const auto end = Steady::now() + options_.starvation_bound;
  std::unique_lock lock(mutex_);
  while (!stopping_ && Steady::now() < end && options_.has_interactive_requests())
    changed_.wait_for(lock, poll_interval);
  return !stopping_;
}

void JobRunner::work_on(const ClaimedItem& item) {
  const auto start = Steady::now();
  const std::chrono::duration<double> time = time_for(item);
  support::Cancellation cancellation(start + std::chrono::duration_cast<Steady::duration>(time));
  Running running{item.job, cancellation};
  {
    const std::lock_guard lock(mutex_);
    running_.insert(&running);
    // stop() may have come before there was something to cancel.
    if (stopping_) cancellation.cancel();
  }
  std::optional<support::Diagnostic> error = result_of(item, cancellation);
  const double seconds = std::chrono::duration<double>(Steady::now() - start).count();
  bool stopped = false;
  {
    const std::lock_guard lock(mutex_);
    running_.erase(&running);
    stopped = stopping_;
  }
  // Tells whether the error is the work's own or that of its cancellation.
  const auto ended = cancellation.check("a job");
  const bool retry = !stopped && ended.ok() && should_retry(item, error);
  if (error && !ended.ok() && ended.error().code == "deadline") {
    error = support::exhausted("deadline",
                               time < options_.max_item_time
                                   ? "the budget of its job is spent"
                                   : fmt::format("it took more than {} s", options_.max_item_time.count()));
  }
  log_->info("job={} item={} attempt={} seconds={:.3f} outcome={}", item.job, item.number, item.attempt,
             seconds, error ? error->code : "ok");
  store_end(item, error, seconds, retry || (stopped && error));
  if (retry) back_off();
}

// Does the work; an exception becomes an error.
std::optional<support::Diagnostic> JobRunner::result_of(const ClaimedItem& item,
                                                        support::Cancellation& cancellation) const {
  try {
    if (const auto worked = options_.work(item.request, cancellation); !worked.ok()) return worked.error();
    return std::nullopt;
  } catch (const std::exception& broken) {
    log_->error("internal error in job={} item={}: {}", item.job, item.number, broken.what());
    return support::internal("internal", "an error inside the server; its log has the facts");
  }
}

// Stores the end of an item, or gives it back. An item whose end is not stored would count as running for
// ever, so a full disk is waited for.
void JobRunner::store_end(const ClaimedItem& item, const std::optional<support::Diagnostic>& error,
                          double seconds, bool requeued) {
  for (;;) {
    const auto kept = requeued
                          ? store_->requeue(item.job, item.number)
                          : store_->finish(item.job, item.number, error ? ItemState::failed : ItemState::done,
                                           error ? support::render(*error) : "", seconds);
    if (kept.ok()) return;
    log_->error("cannot store the end of an item of {}: {}", item.job, support::render(kept.error()));
    if (!back_off()) return;  // the next server resumes it
  }
}

std::chrono::duration<double> JobRunner::time_for(const ClaimedItem& item) const {
  // The rest of the budget, within the time limit; a spent budget leaves nothing.
  return std::clamp(std::chrono::duration<double>(item.seconds_left.value_or(HUGE_VAL)),
                    std::chrono::duration<double>(0), std::chrono::duration<double>(options_.max_item_time));
}

// Counts the attempts after errors of the disk; another end resets the count.
bool JobRunner::should_retry(const ClaimedItem& item, const std::optional<support::Diagnostic>& error) {
  const std::pair which(item.job, item.number);
  const std::lock_guard lock(mutex_);
  if (error && is_disk_error(*error) && ++retries_[which] <= max_retries) return true;
  retries_.erase(which);
  return false;
}

}  // namespace schaas::server
