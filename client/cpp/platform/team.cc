#include "client/cpp/platform/team.h"

#include "client/cpp/platform/thread_pool.h"

// A team reserves its threads in the pool's count first, so that teams made meanwhile see them, then leases a
// group. One thread needs no group: tasks are then a loop in the caller. The destructor reports stalls to the
// load before the group is another team's.
namespace schaas::client {

Team Team::exactly(int threads) {
  ThreadPool& pool = ThreadPool::current();
  return {pool, pool.enter(threads)};
}

Team Team::at_most(int threads) {
  ThreadPool& pool = ThreadPool::current();
  return {pool, pool.enter_at_most(threads)};
}

Team::Team(ThreadPool& pool, int threads)
    : pool_(pool), threads_(threads), group_(threads > 1 ? &pool.lease(threads) : nullptr) {}

Team::~Team() {
  pool_.leave(threads_);
  if (group_ == nullptr) return;
  pool_.load().note_stall(group_->take_stalled());
  pool_.give_back(*group_);
}

}  // namespace schaas::client
