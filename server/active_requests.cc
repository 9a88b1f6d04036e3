#include "server/active_requests.h"

namespace schaas::server {

using Steady = std::chrono::steady_clock;

ActiveRequests::ActiveRequests(std::chrono::nanoseconds transfer)
    : transfer_(transfer), watcher_([this] { watch(); }) {}

ActiveRequests::~ActiveRequests() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  watcher_.join();
}

ActiveRequests::Registration::Registration(ActiveRequests& all, const Request& request) : all_(all) {
  const std::lock_guard lock(all_.mutex_);
  entry_ = all_.entries_.insert(all_.entries_.end(), request);
  all_.changed_.notify_all();
}

ActiveRequests::Registration::~Registration() {
  const std::lock_guard lock(all_.mutex_);
  all_.entries_.erase(entry_);
  all_.last_end_ = Steady::now();
  all_.changed_.notify_all();
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
  changed_.wait_for(lock, longest, [this] { return entries_.empty(); });
}

void ActiveRequests::cancel_all() {
  const std::lock_guard lock(mutex_);
  forced_ = true;
  for (const Request& request : entries_) request.cancellation->cancel();
}

// gRPC's synchronous interface tells of a cancelled call only when asked.
void ActiveRequests::watch() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (entries_.empty()) {
      changed_.wait(lock);
      continue;
    }
    for (const Request& request : entries_) {
      const bool alone = request.outlives_client != nullptr && *request.outlives_client && !forced_;
      if (request.transfer->waited() > transfer_) request.context->TryCancel();
      if (!alone && request.context->IsCancelled()) request.cancellation->cancel();
    }
    changed_.wait_for(lock, std::chrono::milliseconds(10));
  }
}

}  // namespace schaas::server
