#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace schaas::client {

/// Number of calls of fork() between the process that loaded this library and this one. An object made under
/// another number belongs to a process whose threads and file descriptors are not this one's.
std::uint64_t process_generation();

/// A mutex that is free in a child after fork(), also where another thread of the parent held it then.
class ProcessMutex {
 public:
  ProcessMutex() : slot_(new Slot) {}
  ProcessMutex(const ProcessMutex&) = delete;
  ProcessMutex& operator=(const ProcessMutex&) = delete;
  ~ProcessMutex();

  void lock() { own().mutex.lock(); }
  void unlock() { own().mutex.unlock(); }
  bool try_lock() { return own().mutex.try_lock(); }

 private:
  struct Slot {
    const std::uint64_t generation = process_generation();
    std::mutex mutex;
  };
  Slot& own();

  std::atomic<Slot*> slot_;
};

}  // namespace schaas::client
