#pragma once
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

namespace schaas::kernels_cache {

/// Numbers of changes of jobs, for those who wait for the next one. Jobs share slots, so a change of another
/// job may end a wait. Thread-safe.
class JobChanges {
 public:
  using Number = std::uint64_t;

  /// Returns the number of changes so far; take it before reading the job.
  Number of(const std::string& job) const {
    const Slot& slot = slot_of(job);
    const std::lock_guard lock(slot.mutex);
    return slot.changes;
  }
  /// Waits until the job has changed since, at most for `time`; returns false when it has not.
  bool wait(const std::string& job, Number since, std::chrono::milliseconds time) const {
    const Slot& slot = slot_of(job);
    std::unique_lock lock(slot.mutex);
    return slot.changed.wait_for(lock, time, [&] { return slot.changes != since; });
  }
  /// Records a change. Called after the commit.
  void note(const std::string& job) { note(slot_of(job)); }
  /// Records a change of every job.
  void note_all() {
    for (Slot& slot : slots_) note(slot);
  }

 private:
  struct Slot {
    mutable std::mutex mutex;
    mutable std::condition_variable changed;
    Number changes = 0;
  };
  static void note(Slot& slot) {
    {
      const std::lock_guard lock(slot.mutex);
      ++slot.changes;
    }
    slot.changed.notify_all();
  }
  static std::size_t index_of(const std::string& job) { return std::hash<std::string>()(job) % slot_count; }
  Slot& slot_of(const std::string& job) { return slots_[index_of(job)]; }
  const Slot& slot_of(const std::string& job) const { return slots_[index_of(job)]; }

  static constexpr std::size_t slot_count = 64;
  std::array<Slot, slot_count> slots_;
};

}  // namespace schaas::kernels_cache
