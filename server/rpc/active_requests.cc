#include "server/rpc/active_requests.h"

#include <algorithm>

// Registry of running requests, and one thread that watches them for all: a client that left, a deadline, a
// write that blocks. Handlers are plain functions; they learn of it by their Cancellation. One mutex guards
// everything. A registration is removed before its request ends, so the watcher never touches a dead one.
namespace schaas::server {

namespace {

constexpr std::chrono::milliseconds min_look_interval{10}, max_look_interval{250};

}  // namespace

ActiveRequests::ActiveRequests(std::chrono::nanoseconds write_timeout)
    : write_timeout_(write_timeout), watcher_([this] { watch(); }) {}

ActiveRequests::~ActiveRequests() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    began_.notify_all();
  }
  watcher_.join();
}

ActiveRequests::Registration::Registration(ActiveRequests& all, const Request& request) : all_(all) {
  const std::lock_guard lock(all_.mutex_);
  const auto now = Steady::now();
  entry_ = all_.entries_.insert(all_.entries_.end(), {request, now, now});
  // A wake-up is needed only when the watcher sleeps without a limit.
  if (all_.asleep_) all_.began_.notify_all();
}

ActiveRequests::Registration::~Registration() {
  const std::lock_guard lock(all_.mutex_);
  all_.entries_.erase(entry_);
  all_.last_end_ = Steady::now();
  if (all_.entries_.empty()) all_.ended_.notify_all();
}

ActiveRequests::Steady::duration ActiveRequests::idle() const {
  const std::lock_guard lock(mutex_);
  return entries_.empty() ? Steady::now() - last_end_ : Steady::duration::zero();
}

std::size_t ActiveRequests::count() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

void ActiveRequests::wait_until_idle(Steady::duration longest) {
  std::unique_lock lock(mutex_);
  ended_.wait_for(lock, longest, [this] { return entries_.empty(); });
}

void ActiveRequests::cancel_all() {
  const std::lock_guard lock(mutex_);
  // Stays set: requests that outlive their clients are cancelled from now on, too.
  forced_ = true;
  for (const Entry& entry : entries_) entry.request.cancellation->cancel();
}

// gRPC's synchronous interface reports a cancelled call only when polled, which takes system calls. The
// longer a request has run, the less often it is polled. So little is worked in vain for a client that left:
// an eighth of what was worked for it.
void ActiveRequests::look_at(Entry& entry, Steady::time_point now) const {
  if (now < entry.next_look) return;
  entry.next_look =
      now + std::clamp<Steady::duration>((now - entry.began) / 8, min_look_interval, max_look_interval);
  const Request& request = entry.request;
  // The request goes on without its client, except at a forced shutdown.
  const bool alone = request.outlives_client != nullptr && *request.outlives_client && !forced_;
  if (request.pending_write->elapsed() > write_timeout_) request.context->TryCancel();
  if (!alone && request.context->IsCancelled()) request.cancellation->cancel();
}

// Watches the requests. It sleeps only after a second without requests: waking a thread would cost more than
// a request of microseconds.
void ActiveRequests::watch() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (entries_.empty() && Steady::now() - last_end_ > std::chrono::seconds(1)) {
      asleep_ = true;
      began_.wait(lock);
      asleep_ = false;
    }
    const auto now = Steady::now();
    for (Entry& entry : entries_) look_at(entry, now);
    began_.wait_for(lock, min_look_interval);
  }
}

}  // namespace schaas::server
