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
/// Items are looked for this often also without a sign of them, and those of ended servers given back.
constexpr std::chrono::seconds look_interval{60}, recover_interval{5};
/// The longest that a stop waits for threads that wait; whether running items are wanted is asked this often.
constexpr std::chrono::milliseconds stop_interval{200}, supervision_interval{1000};
/// Retries of one item after disk errors, for an hour. An item that never fits must not block the rest for
/// ever.
constexpr int max_retries = 720;

}  // namespace

bool is_storage_failure(const support::Diagnostic& error) {
  return error.code.starts_with("disk-") || error.code == "descriptors" || error.code == "file-replaced" ||
         error.code == "database-unreachable";
}

JobRunner::JobRunner(std::shared_ptr<kernels_cache::JobStore> store, Options options, Log log)
    : store_(std::move(store)), options_(std::move(options)), log_(std::move(log)) {
  if (const auto recovered = store_->recover(); !recovered.ok())
    log_->error("cannot resume jobs: {}", support::render(recovered.error()));
  busy_ = options_.items;
  for (int n = 0; n < options_.items; ++n) threads_.emplace_back([this] { run(); });
  supervisor_ = std::thread([this] { supervise(); });
}

JobRunner::~JobRunner() { stop(); }

bool JobRunner::has_work() const {
  const std::lock_guard lock(mutex_);
  return busy_ > 0 && !stopping_;
}

Steady::duration JobRunner::idle() const {
  const std::lock_guard lock(mutex_);
  return busy_ > 0 && !stopping_ ? Steady::duration::zero() : Steady::now() - last_busy_;
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
  if (supervisor_.joinable()) supervisor_.join();
}

void JobRunner::run() {
  while (!stopping()) {
    purge_when_due();
    const auto seen = store_->arrivals();  // later ones are claimed, or end the wait
    if (!yield_to_interactive()) return;
    auto claimed = store_->claim(options_.takes);
    if (!claimed.ok()) {
      log_->error("cannot claim an item: {}", support::render(claimed.error()));
      if (!back_off()) return;
    } else if (claimed->has_value()) {
      work_on(**std::move(claimed));
    } else {
      wait_for_items(seen);
    }
  }
}

// Waits until items may wait, or the time has come to look.
void JobRunner::wait_for_items(kernels_cache::JobChanges::Number seen) {
  {
    const std::lock_guard lock(mutex_);
    --busy_;
    last_busy_ = Steady::now();
  }
  const auto end = Steady::now() + look_interval;
  while (!stopping() && Steady::now() < end && !store_->wait(seen, stop_interval)) {
  }
  const std::lock_guard lock(mutex_);
  ++busy_;
}

// Looks after items beside the threads that work on them.
void JobRunner::supervise() {
  for (auto next = Steady::now() + recover_interval;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, supervision_interval, [this] { return stopping_; });
      if (stopping_) return;
    }
    cancel_lost_items();
    if (Steady::now() < next) continue;
    next = Steady::now() + recover_interval;
    if (const auto recovered = store_->recover(); !recovered.ok())
      log_->warn("cannot resume jobs: {}", support::render(recovered.error()));
  }
}

// Cancels items that were cancelled, here or at another server, and those whose claim is lost.
void JobRunner::cancel_lost_items() {
  std::vector<kernels_cache::Attempt> attempts;
  {
    const std::lock_guard lock(mutex_);
    for (Running* running : running_) {
      if (running->item.claim != nullptr && running->item.claim->lost()) {
        running->cancellation.cancel();
      } else {
        attempts.push_back(running->item);
      }
    }
  }
  for (const auto& attempt : attempts) {
    const auto wanted = store_->is_wanted(attempt);
    if (!wanted.ok() || *wanted) continue;
    const std::lock_guard lock(mutex_);
    for (Running* running : running_) {
      if (running->item.job == attempt.job && running->item.number == attempt.number)
        running->cancellation.cancel();
    }
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

void JobRunner::work_on(ClaimedItem claimed) {
  const auto start = Steady::now();
  const std::chrono::duration<double> time = time_for(claimed);
  Running running{std::move(claimed),
                  support::Cancellation(start + std::chrono::duration_cast<Steady::duration>(time))};
  const ClaimedItem& item = running.item;
  support::Cancellation& cancellation = running.cancellation;
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
  // An error after the claim was lost is that of the cancellation, and the loss was no attempt.
  const bool lost = item.claim != nullptr && item.claim->lost();
  store_end(item, error, seconds, retry || ((stopped || lost) && error));
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
    if (requeued) {
      const auto kept = store_->requeue(item);
      if (kept.ok()) return;
      log_->error("cannot give back an item of {}: {}", item.job, support::render(kept.error()));
    } else {
      const auto kept = store_->finish(item, error ? ItemState::failed : ItemState::done,
                                       error ? support::render(*error) : "", seconds);
      if (kept.ok() && !*kept) log_->info("job={} item={} had ended before", item.job, item.number);
      if (kept.ok()) return;
      log_->error("cannot store the end of an item of {}: {}", item.job, support::render(kept.error()));
    }
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
  if (error && is_storage_failure(*error) && ++retries_[which] <= max_retries) return true;
  retries_.erase(which);
  return false;
}

}  // namespace schaas::server
