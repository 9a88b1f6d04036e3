#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace schaas::kernels_cache {

/// Version stamps for caches of what was derived from stored rows. A reader takes a stamp before reading; the
/// result is valid while `since` is false for that stamp. False positives are possible, because problems
/// share slots. Thread-safe.
class Changes {
 public:
  using Stamp = std::uint64_t;

  Stamp now() const { return clock_; }
  bool since(Stamp stamp, const std::string& problem_key) const {
    return !hearing_ || all_ > stamp || slot_of(problem_key) > stamp;
  }
  /// Sets whether changes by other processes are heard. While they are not, everything may have changed; then
  /// it has.
  void set_hearing(bool all) {
    if (all) of_all();
    hearing_ = all;
  }

  /// Records a change of one problem. Called after the commit and before the writer returns, so nobody who
  /// knows of a change gets older data.
  void of_problem(const std::string& problem_key) { raise(slot_of(problem_key)); }
  void of_all() { raise(all_); }

 private:
  using Slot = std::atomic<Stamp>;
  static constexpr std::size_t slot_count = 4096;

  Slot& slot_of(const std::string& problem_key) {
    return slots_[std::hash<std::string>()(problem_key) % slot_count];
  }
  const Slot& slot_of(const std::string& problem_key) const {
    return slots_[std::hash<std::string>()(problem_key) % slot_count];
  }
  void raise(Slot& slot) {
    const Stamp now = ++clock_;
    for (Stamp was = slot; was < now && !slot.compare_exchange_weak(was, now);) {
    }
  }

  std::atomic<bool> hearing_{true};
  std::atomic<Stamp> clock_{0};
  Slot all_{0};
  std::array<Slot, slot_count> slots_{};
};

}  // namespace schaas::kernels_cache
