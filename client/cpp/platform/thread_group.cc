#include "client/cpp/platform/thread_group.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "compiler/support/signals_blocked.h"

// Work stealing over lists of tasks (R. D. Blumofe, C. E. Leiserson, Scheduling multithreaded computations by
// work stealing, 1999), with counters instead of queues. A share is one word: the number of the list in the
// upper half, the count of tasks left in the lower. Tasks are taken by compare-and-swap of that word. A late
// worker that holds a word of an older list can so take nothing of a newer one.
// Waiting is awake for 50 us where each thread has a processor, then asleep on a futex. Rejected: OpenMP's
// regions, which end when each thread has come, whether or not anything was left to do (docs/decisions/0003).
namespace schaas::client {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

/// As long as a small kernel takes, or a caller between two; longer than it takes to wake a thread.
constexpr std::chrono::microseconds awake_for{50};

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Looks until `done()`, for about `limit`. Returns what it saw last.
template <class Done>
bool spin(nanoseconds limit, const Done& done) {
  constexpr int looks = 64;  // polls, 20 to 50 ns each, between two readings of the clock
  if (limit == limit.zero()) return done();
  const auto end = Clock::now() + limit;
  do {
    for (int look = 0; look < looks; ++look) {
      if (done()) return true;
      pause();
    }
  } while (Clock::now() < end);
  return done();
}

/// Sleeps until the word is woken, unless it holds something else than `value`.
void sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}
void wake(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

// The count is below 2^31 and is decremented where it is positive alone, so the number in the upper half
// stays.
constexpr std::uint64_t share_word(std::uint32_t list, std::int64_t tasks) {
  return (std::uint64_t{list} << 32) + static_cast<std::uint32_t>(tasks);
}
constexpr std::uint32_t list_of(std::uint64_t share) { return static_cast<std::uint32_t>(share >> 32); }
constexpr std::uint32_t tasks_of(std::uint64_t share) { return static_cast<std::uint32_t>(share); }

}  // namespace

// Members are made once: workers keep pointers to theirs.
ThreadGroup::ThreadGroup(int capacity, int processors, std::atomic<int>& awake)
    : processors_(processors), awake_(awake), members_(static_cast<std::size_t>(capacity)) {
  for (int n = 0; n < capacity; ++n) {
    members_[static_cast<std::size_t>(n)].group = this;
    members_[static_cast<std::size_t>(n)].number = n;
  }
}

// With more threads than processors a thread that waits awake takes the time of one that works.
nanoseconds ThreadGroup::spin_time() const {
  return threads_.load(std::memory_order_relaxed) <= processors_ ? awake_for : nanoseconds::zero();
}

// Starts the workers that are missing. Signals are for the program's own threads. Fewer workers than wanted
// do all tasks: each takes what is left.
void ThreadGroup::start_workers(int threads) {
  if (started_ >= threads) return;
  const support::SignalsBlocked blocked;
  while (started_ < threads) {
    Member& member = members_[static_cast<std::size_t>(started_)];
    pthread_t worker{};
    if (pthread_create(&worker, nullptr, &serve, &member) != 0) break;
    pthread_getcpuclockid(worker, &member.clock);
    pthread_setname_np(worker, "schaas-worker");
    pthread_detach(worker);
    ++started_;
  }
}

void* ThreadGroup::serve(void* argument) {
  Member& member = *static_cast<Member*>(argument);
  ThreadGroup& group = *member.group;
  // A worker counts as awake until it sleeps: the load's reading subtracts those of this process.
  group.awake_.fetch_add(1, std::memory_order_relaxed);
  for (std::uint32_t number = 0;;) {
    number = group.next_list(member, number);
    const std::uint32_t taken = group.take_tasks(number, member.number);
    // Without a task nothing was read of the list, which may have changed meanwhile.
    if (taken == 0) continue;
    group.done_.fetch_add(taken);
    if (group.caller_asleep_.load() != 0) wake(group.done_);
  }
}

std::uint32_t ThreadGroup::next_list(Member& member, std::uint32_t before) const {
  const auto is_new = [&] { return number_.load(std::memory_order_acquire) != before; };
  if (!spin(spin_time(), is_new)) {
    // `asleep` is set before the number is looked at again, and run() sets the number before it looks at
    // `asleep`. One of both sees the other's store, so no wake is lost.
    awake_.fetch_sub(1, std::memory_order_relaxed);
    member.asleep.store(1);
    while (number_.load() == before && member.asleep.load() != 0) sleep_on(member.asleep, 1);
    member.asleep.store(0);
    awake_.fetch_add(1, std::memory_order_relaxed);
  }
  return number_.load(std::memory_order_acquire);
}

void ThreadGroup::wake_workers(int threads) {
  for (int n = 1; n < threads; ++n) {
    Member& member = members_[static_cast<std::size_t>(n)];
    // Workers that are awake cost no system call; the exchange tells whether one still sleeps.
    if (member.asleep.load() != 0 && member.asleep.exchange(0) != 0) wake(member.asleep);
  }
}

// Publishes a list and takes part in it. Shares and list are written before the number and read after it; a
// share of another list is left alone.
void ThreadGroup::run(const TaskList& list) {
  start_workers(list.threads);
  const int threads = std::min(list.threads, capacity());
  const std::uint32_t number = number_.load(std::memory_order_relaxed) + 1;
  list_ = list;
  list_.threads = threads;
  threads_.store(threads, std::memory_order_relaxed);
  done_.store(0, std::memory_order_relaxed);
  for (int n = 0; n < threads; ++n) {
    // Shares are ranges of tasks whose lengths differ by 1 at most; task numbers follow from what is left.
    const std::int64_t tasks = list.count * (n + 1) / threads - list.count * n / threads;
    members_[static_cast<std::size_t>(n)].share.store(share_word(number, tasks), std::memory_order_release);
  }
  number_.store(number);
  wake_workers(std::min(threads, started_));
  const std::uint32_t own = take_tasks(number, 0);
  // The caller waits for tasks that others have taken alone, not for threads.
  finish(static_cast<std::uint32_t>(list.count) - own);
}

// Begins with the thread's own share, then goes around: neighbours begin at different shares.
std::uint32_t ThreadGroup::take_tasks(std::uint32_t number, int thread) {
  const int threads = threads_.load(std::memory_order_relaxed);
  if (thread >= threads) return 0;
  std::uint32_t taken = 0;
  for (int turn = 0; turn < threads; ++turn) {
    const int owner = (thread + turn) % threads;
    std::atomic<std::uint64_t>& share = members_[static_cast<std::size_t>(owner)].share;
    std::uint64_t left = share.load(std::memory_order_acquire);
    while (list_of(left) == number && tasks_of(left) > 0) {
      if (!share.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel)) continue;
      ++taken;
      // The end of the owner's range minus what was left: tasks are taken from the first one on.
      const std::int64_t end = list_.count * (owner + 1) / list_.threads;
      list_.call(list_.context, end - tasks_of(left), thread);
      left = share.load(std::memory_order_acquire);
    }
  }
  return taken;
}

// Waits for the tasks of others, first awake, then asleep. The time asleep that no worker computed counts as
// a stall.
void ThreadGroup::finish(std::uint32_t goal) {
  const auto is_done = [&] { return done_.load(std::memory_order_acquire) == goal; };
  if (is_done() || spin(spin_time(), is_done)) return;
  // Sets the reference of each worker's clock.
  max_run();
  const auto start = Clock::now();
  caller_asleep_.store(1);
  // The futex compares the word again: a task that ends in between wakes nobody, and the wait does not begin.
  for (std::uint32_t done = done_.load(); done != goal; done = done_.load()) sleep_on(done_, done);
  caller_asleep_.store(0);
  stalled_ += std::max(nanoseconds(Clock::now() - start) - max_run(), nanoseconds::zero());
}

// Returns the largest processor time that a worker took since the last call. A worker that stands still in
// the middle of a task, as it has no processor, takes none.
nanoseconds ThreadGroup::max_run() {
  nanoseconds longest{};
  for (int n = 1; n < started_; ++n) {
    Member& member = members_[static_cast<std::size_t>(n)];
    timespec now{};
    clock_gettime(member.clock, &now);
    const nanoseconds ran = std::chrono::seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
    longest = std::max(longest, ran - std::exchange(member.ran, ran));
  }
  return longest;
}

}  // namespace schaas::client
