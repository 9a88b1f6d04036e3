#include "server/providers/admission_queue.h"

#include <algorithm>
#include <tuple>

// Fair queueing by client with longest queue drop (stochastic fairness queueing, McKenney, 1990). When the
// queue is full, the client that has the most waiting loses its latest arrival. The permit beyond the number
// is for a client that would wait for the end of another's searches, which take minutes. A first kernel takes
// a tenth of a second. It would wait for seconds of its own client's other work, so it has permits of its
// own. First kernels do not pass a client that holds fewer permits. Else a client that asks for a hundred new
// problems at once would keep all others waiting.
namespace schaas::server {

using support::Diagnostic;
using support::Result;

Result<AdmissionQueue::Permit> AdmissionQueue::acquire(Priority priority, const std::string& client,
                                                       const support::Cancellation& cancellation) {
  std::unique_lock lock(mutex_);
  const Position own =
      queue_.insert(queue_.end(), {priority, client, ++arrivals_, priority != Priority::batch});
  const auto leave = [&] {
    queue_.erase(own);
    changed_.notify_all();
  };
  if (own->refusable && in_queue() > max_waiting_ && !is_next(*own) && !make_room(client)) {
    leave();
    return overloaded();
  }
  const auto starved = Clock::now() + starvation_bound_;
  while (!is_next(*own)) {
    if (const auto state = cancellation.check("waiting in the admission queue"); !state.ok()) {
      leave();
      return state.error();
    }
    if (own->displaced) {
      leave();
      return overloaded();
    }
    if (Clock::now() >= starved) own->priority = Priority::interactive;
    changed_.wait_for(lock, std::chrono::milliseconds(20));  // a Cancellation cannot wake a waiting thread
  }
  const bool first = own->priority == Priority::first;
  ++held_[client];
  ++(first ? firsts_ : running_);
  leave();
  return Permit(*this, client, first);
}

std::size_t AdmissionQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return in_queue();
}

std::size_t AdmissionQueue::waiting_of(Priority priority, const std::string& client) const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::count_if(queue_.begin(), queue_.end(), [&](const Waiting& one) {
    return !one.displaced && one.priority == priority && one.client == client;
  }));
}

std::size_t AdmissionQueue::running() const {
  const std::lock_guard lock(mutex_);
  return running_ + firsts_;
}

std::size_t AdmissionQueue::in_queue() const {
  return static_cast<std::size_t>(
      std::count_if(queue_.begin(), queue_.end(), [](const Waiting& one) { return !one.displaced; }));
}

std::size_t AdmissionQueue::held_by(const std::string& client) const {
  const auto found = held_.find(client);
  return found == held_.end() ? 0 : found->second;
}

// Returns true when a permit is free, or the work gets one beyond the number.
bool AdmissionQueue::has_room(const Waiting& work) const {
  if (running_ + firsts_ < 2 * count_ && (work.priority == Priority::first || running_ < count_)) return true;
  return work.priority == Priority::interactive && running_ == count_ && held_.size() == 1 &&
         held_by(work.client) == 0;
}

// Returns true when no other work may begin before this one.
bool AdmissionQueue::is_next(const Waiting& own) const {
  const auto rank = [&](const Waiting& one) {
    return std::tuple(one.priority == Priority::batch, held_by(one.client), one.priority, one.arrival);
  };
  if (own.displaced || !has_room(own)) return false;
  return std::none_of(queue_.begin(), queue_.end(), [&](const Waiting& other) {
    return !other.displaced && rank(other) < rank(own) && has_room(other);
  });
}

// Displaces the latest interactive arrival of the client that has the most waiting, if it has more than this
// one, whose arrival is counted.
bool AdmissionQueue::make_room(const std::string& client) {
  std::map<std::string, std::size_t> waiting;
  for (const Waiting& one : queue_) waiting[one.client] += one.displaced ? 0 : 1;
  Position latest = queue_.end();
  for (auto one = queue_.begin(); one != queue_.end(); ++one) {
    if (one->displaced || !one->refusable) continue;
    if (latest == queue_.end() || waiting[one->client] >= waiting[latest->client]) latest = one;
  }
  if (latest == queue_.end() || waiting[latest->client] <= waiting[client]) return false;
  latest->displaced = true;
  changed_.notify_all();
  return true;
}

Diagnostic AdmissionQueue::overloaded() const {
  return support::noting(
      support::exhausted("overloaded", "the server is overloaded: " + std::to_string(in_queue()) + " " +
                                           what_ + " are waiting"),
      "stored answers are still served; retry in a moment");
}

void AdmissionQueue::release(const std::string& client, bool first) {
  const std::lock_guard lock(mutex_);
  if (--held_[client] == 0) held_.erase(client);
  --(first ? firsts_ : running_);
  changed_.notify_all();
}

}  // namespace schaas::server
