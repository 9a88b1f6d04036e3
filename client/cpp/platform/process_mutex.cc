#include "client/cpp/platform/process_mutex.h"

#include <pthread.h>

#include <chrono>
#include <set>
#include <thread>
#include <vector>

// Mutexes for libraries whose process may fork at any time. A child has one thread. What another thread of
// the parent was changing stays half changed there for ever. So fork() takes all mutexes first, as malloc
// does with its own. It takes all or none, as std::lock does: another thread may hold one and want the next.
// While it tries, threads that come to lock one pause: else they might always be first. Each process has
// mutexes of its own: the first use after a fork makes one. The parent's is left as it was. A mutex that
// another thread holds can be neither unlocked by a child nor destroyed.
namespace schaas::client {
namespace {

std::atomic<std::uint64_t> generation{0};
std::atomic<bool> fork_waits{false};

/// The mutexes that fork() waits for.
class Registry {
 public:
  /// Is never destroyed: programs fork until their end.
  static Registry& instance() {
    static Registry& made = *new Registry;
    return made;
  }

  void add(ProcessMutex& one) {
    const std::lock_guard lock(mutex_);
    all_.insert(&one);
  }
  void remove(ProcessMutex& one) {
    const std::lock_guard lock(mutex_);
    all_.erase(&one);
  }

  /// Takes all, and this registry; after `longest` the registry alone.
  void lock_all() {
    constexpr std::chrono::seconds longest{1};
    constexpr std::chrono::microseconds pause{50};
    const auto limit = std::chrono::steady_clock::now() + longest;
    for (mutex_.lock(); !try_all() && std::chrono::steady_clock::now() < limit; mutex_.lock()) {
      mutex_.unlock();
      fork_waits = true;
      std::this_thread::sleep_for(pause);
    }
    fork_waits = false;
  }
  /// Called by the thread that called lock_all, in the parent and in the child.
  void unlock_all() {
    release();
    mutex_.unlock();
  }

 private:
  bool try_all() {
    for (ProcessMutex* const one : all_) {
      if (!one->try_lock()) return release(), false;
      taken_.push_back(one);
    }
    return true;
  }
  void release() {
    for (ProcessMutex* const one : taken_) one->unlock();
    taken_.clear();
  }

  std::mutex mutex_;  ///< guards all members below
  std::set<ProcessMutex*> all_;
  std::vector<ProcessMutex*> taken_;
};

[[maybe_unused]] const int fork_handlers =
    pthread_atfork([] { Registry::instance().lock_all(); }, [] { Registry::instance().unlock_all(); },
                   [] {
                     Registry::instance().unlock_all();
                     generation.fetch_add(1);
                   });

}  // namespace

std::uint64_t process_generation() { return generation.load(std::memory_order_relaxed); }

ProcessMutex::ProcessMutex(Held held) : slot_(new Slot), held_(held) {
  if (held_ == Held::briefly) Registry::instance().add(*this);
}

// The parent's is left, here and below: a mutex that somebody holds may not be destroyed.
ProcessMutex::~ProcessMutex() {
  if (held_ == Held::briefly) Registry::instance().remove(*this);
  const Slot* const last = slot_.load();
  if (last->generation == process_generation()) delete last;
}

// A thread that holds another mutex pauses, too: fork() waits the longer, but not for ever.
void ProcessMutex::lock() {
  if (fork_waits.load(std::memory_order_relaxed)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  own().mutex.lock();
}

// Two threads of the child may come first; the one whose exchange fails uses the other's.
ProcessMutex::Slot& ProcessMutex::own() {
  Slot* known = slot_.load(std::memory_order_acquire);
  if (known->generation == process_generation()) return *known;
  auto made = std::make_unique<Slot>();
  if (slot_.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) return *made.release();
  return *known;
}

}  // namespace schaas::client
