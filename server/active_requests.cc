#include "server/active_requests.h"

namespace schaas::server {

using Steady = std::chrono::steady_clock;

ActiveRequests::ActiveRequests(std::chrono::nanoseconds transfer)
    : transfer_(transfer), watcher_([this] { watch(); }) {}

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
  entry_ = all_.entries_.insert(all_.entries_.end(), request);
  if (all_.asleep_) all_.began_.notify_all();
}

ActiveRequests::Registration::~Registration() {
  const std::lock_guard lock(all_.mutex_);
  all_.entries_.erase(entry_);
  all_.last_end_ = Steady::now();
  if (all_.entries_.empty()) all_.ended_.notify_all();
}

Steady::duration ActiveRequests::idle() const {
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
  forced_ = true;
  for (const Request& request : entries_) request.cancellation->cancel();
}

// gRPC's synchronous interface tells of a cancelled call only when asked. A request that takes microseconds
// is not worth waking a thread for: it looks around every 10 ms, and sleeps only when there has been nothing
// to do for long.
void ActiveRequests::watch() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (entries_.empty() && Steady::now() - last_end_ > std::chrono::seconds(1)) {
      asleep_ = true;
      began_.wait(lock);
      asleep_ = false;
    }
    for (const Request& request : entries_) {
      const bool alone = request.outlives_client != nullptr && *request.outlives_client && !forced_;
      if (request.transfer->waited() > transfer_) request.context->TryCancel();
      if (!alone && request.context->IsCancelled()) request.cancellation->cancel();
    }
    began_.wait_for(lock, std::chrono::milliseconds(10));
  }
}

}  // namespace schaas::server
