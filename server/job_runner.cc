#include "server/job_runner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace schaas::server {
namespace {

using kernels_cache::ClaimedItem;
using kernels_cache::ItemState;
using Steady = std::chrono::steady_clock;

/// How long at most an item waits for those who wait for an answer.
constexpr std::chrono::seconds longest_courtesy{30};
constexpr std::chrono::milliseconds glance{20};
/// After an error of the store: it may be a full disk.
constexpr std::chrono::seconds pause{5};
constexpr std::chrono::hours between_forgetting{1};
/// Of one item for want of room: an hour. What never has room must not keep the rest waiting for ever.
constexpr int most_put_off = 720;

}  // namespace

bool is_disk_trouble(const support::Diagnostic& error) {
  return error.code == "disk-full" || error.code == "disk-read-only" || error.code == "disk-failing";
}

JobRunner::JobRunner(std::shared_ptr<kernels_cache::JobStore> store, Options options, Log log)
    : store_(std::move(store)), options_(std::move(options)), log_(std::move(log)) {
  if (const auto recovered = store_->recover(); !recovered.ok())
    log_->error("jobs of before cannot be taken up: {}", support::render(recovered.error()));
  thread_ = std::thread([this] { run(); });
}

JobRunner::~JobRunner() { stop(); }

void JobRunner::wake() {
  const std::lock_guard lock(mutex_);
  something_new_ = true;
  working_ = true;
  changed_.notify_all();
}

void JobRunner::stop_item_of(const std::string& job) {
  const std::lock_guard lock(mutex_);
  if (cancellation_ != nullptr && job_ == job) cancellation_->cancel();
}

bool JobRunner::has_work() const {
  const std::lock_guard lock(mutex_);
  return working_ && !stopping_;
}

bool JobRunner::stopping() const {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void JobRunner::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    if (cancellation_ != nullptr) cancellation_->cancel();
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void JobRunner::run() {
  while (wait_for_items()) {
    if (!wait_for_quiet()) return;
    const auto claimed = store_->claim();
    if (!claimed.ok()) {
      log_->error("no job can be taken up: {}", support::render(claimed.error()));
      if (!rest()) return;
    } else if (claimed->has_value()) {
      work_on(**claimed);
    }
  }
}

// False: the runner stops.
bool JobRunner::wait_for_items() {
  for (;;) {
    forget_when_due();
    {
      const std::lock_guard lock(mutex_);
      something_new_ = false;  // what comes after this is seen by the next look, or wakes
      if (stopping_) return false;
    }
    const auto waiting = store_->any_waiting();
    if (waiting.ok() && *waiting) return true;
    if (!waiting.ok()) {
      log_->error("no job can be looked for: {}", support::render(waiting.error()));
      if (!rest()) return false;
      continue;
    }
    std::unique_lock lock(mutex_);
    working_ = something_new_;
    changed_.wait_for(lock, between_forgetting, [this] { return stopping_ || something_new_; });
  }
}

void JobRunner::forget_when_due() {
  if (Steady::now() < next_forgetting_) return;
  next_forgetting_ = Steady::now() + between_forgetting;
  const auto forgotten = store_->forget();
  if (!forgotten.ok()) {
    log_->error("jobs of long ago cannot be forgotten: {}", support::render(forgotten.error()));
  } else if (*forgotten > 0) {
    log_->info("forgot {} jobs that ended long ago", *forgotten);
  }
}

bool JobRunner::rest() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, pause, [this] { return stopping_; });
  return !stopping_;
}

// False: the runner stops.
bool JobRunner::wait_for_quiet() {
  const auto end = Steady::now() + longest_courtesy;
  std::unique_lock lock(mutex_);
  while (!stopping_ && Steady::now() < end && options_.busy()) changed_.wait_for(lock, glance);
  return !stopping_;
}

void JobRunner::work_on(const ClaimedItem& item) {
  const auto start = Steady::now();
  const std::chrono::duration<double> time = time_for(item);
  support::Cancellation cancellation(start + std::chrono::duration_cast<Steady::duration>(time));
  {
    const std::lock_guard lock(mutex_);
    job_ = item.job;
    cancellation_ = &cancellation;
    if (stopping_) cancellation.cancel();
  }
  std::optional<support::Diagnostic> error;
  try {
    if (const auto worked = options_.work(item.request, cancellation); !worked.ok()) error = worked.error();
  } catch (const std::exception& broken) {
    log_->error("internal error in job={} item={}: {}", item.job, item.number, broken.what());
    error = support::internal("internal", "an error inside the server; its log has the facts");
  }
  const double seconds = std::chrono::duration<double>(Steady::now() - start).count();
  bool stopped = false;
  {
    const std::lock_guard lock(mutex_);
    cancellation_ = nullptr;
    stopped = stopping_;
  }
  const auto ended = cancellation.check("a job");
  const bool later = error && !stopped && ended.ok() && puts_off(item, *error);
  if (error && !ended.ok() && ended.error().code == "deadline") {
    error = support::exhausted("deadline", time < options_.longest ? "the budget of its job is spent"
                                                                   : fmt::format("it took more than {} s",
                                                                                 options_.longest.count()));
  }
  log_->info("job={} item={} attempt={} seconds={:.3f} outcome={}", item.job, item.number, item.attempt,
             seconds, error ? error->code : "ok");
  // An item whose end is not stored would run for ever: a full disk is waited for.
  for (;;) {
    const auto kept = later || (stopped && error)
                          ? store_->give_back(item.job, item.number)
                          : store_->finish(item.job, item.number, error ? ItemState::failed : ItemState::done,
                                           error ? support::render(*error) : "", seconds);
    if (kept.ok()) {
      if (later) rest();
      return;
    }
    log_->error("the end of an item of {} cannot be stored: {}", item.job, support::render(kept.error()));
    if (!rest()) return;  // the next server takes it up again
  }
}

std::chrono::duration<double> JobRunner::time_for(const ClaimedItem& item) const {
  return std::clamp(std::chrono::duration<double>(item.seconds_left.value_or(HUGE_VAL)),
                    std::chrono::duration<double>(0), std::chrono::duration<double>(options_.longest));
}

bool JobRunner::puts_off(const ClaimedItem& item, const support::Diagnostic& error) {
  const std::pair which(item.job, item.number);
  if (is_disk_trouble(error) && ++put_off_[which] <= most_put_off) return true;
  put_off_.erase(which);
  return false;
}

}  // namespace schaas::server
