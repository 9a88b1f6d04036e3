#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace schaas::kernels_cache {

/// When what is stored of a problem last changed, for those who keep what they made of it: take a stamp
/// before reading; what was read is as good as new for as long as nothing changed since. May say "changed" of
/// a problem that did not: problems share places. Thread-safe.
class Changes {
 public:
  using Stamp = std::uint64_t;

  Stamp now() const { return clock_; }
  bool since(Stamp stamp, const std::string& problem_key) const {
    return all_ > stamp || place_of(problem_key) > stamp;
  }

  /// After the rows of a problem were changed for good, and before whoever changed them is told: so nobody
  /// who knows of a change gets what was read before it.
  void of_problem(const std::string& problem_key) { raise(place_of(problem_key)); }
  void of_all() { raise(all_); }

 private:
  using Place = std::atomic<Stamp>;
  static constexpr std::size_t places = 4096;

  Place& place_of(const std::string& problem_key) {
    return places_[std::hash<std::string>()(problem_key) % places];
  }
  const Place& place_of(const std::string& problem_key) const {
    return places_[std::hash<std::string>()(problem_key) % places];
  }
  void raise(Place& place) {
    const Stamp now = ++clock_;
    for (Stamp was = place; was < now && !place.compare_exchange_weak(was, now);) {
    }
  }

  std::atomic<Stamp> clock_{0};
  Place all_{0};
  std::array<Place, places> places_{};
};

}  // namespace schaas::kernels_cache
