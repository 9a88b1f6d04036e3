#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace schaas::client {

/// Number of calls of fork() between the process that loaded this library and this one. An object made under
/// another number belongs to a process whose threads and file descriptors are not this one's.
std::uint64_t process_generation();

/// A mutex for a library whose process may fork at any time. fork() waits while another thread holds it, for
/// one second at most: a child finds complete what the mutex guards. The mutex is free in the child, also
/// where the second was not enough.
class ProcessMutex {
 public:
  enum class Held {
    briefly,   ///< for less than a second
    at_length  ///< fork() does not wait; must guard no data
  };

  explicit ProcessMutex(Held held = Held::briefly);
  ProcessMutex(const ProcessMutex&) = delete;
  ProcessMutex& operator=(const ProcessMutex&) = delete;
  ~ProcessMutex();

  void lock();
  void unlock() { own().mutex.unlock(); }
  bool try_lock() { return own().mutex.try_lock(); }

 private:
  struct Slot {
    const std::uint64_t generation = process_generation();
    std::mutex mutex;
  };
  Slot& own();

  std::atomic<Slot*> slot_;
  const Held held_;
};

}  // namespace schaas::client
