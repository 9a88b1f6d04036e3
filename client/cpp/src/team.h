#pragma once
#include <omp.h>

#include <atomic>
#include <cstdint>

namespace schaas::client {

/// Threads that a run may use for as long as this lives. Callers side by side share the processors: where
/// nobody has named a number, a run takes those that no other run of this process has taken, at least one; a
/// number that the caller has named is kept to. Thread-safe.
class Team {
 public:
  Team(int threads, bool named);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int threads() const { return threads_; }

 private:
  int threads_;
};

/// Where the threads of a team wait for each other: each returns from wait() when all have called it, and
/// sees what all had stored. OpenMP's barrier takes 1.4 microseconds of two threads where a line of memory
/// takes 0.25 from one core to the other, this one 0.4 (docs/notes/performance.md, section 45). Threads that
/// have to wait for long, as when there are more of them than processors, sleep.
class Meeting {
 public:
  void wait(int team);

 private:
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<std::uint32_t> held_{0};  // meetings so far
};

/// One of the threads of in_team.
struct Member {
  int thread;  ///< from 0
  int team;    ///< how many there are
  Meeting& meeting;

  /// Until all of the team are here.
  void wait() const {
    if (team > 1) meeting.wait(team);
  }
};

/// `work(member)` by so many threads at once. One thread is the calling one: entering and leaving a
/// region of its own costs 2 microseconds, half of what a small kernel takes (docs/notes/performance.md,
/// section 42).
template <class Work>
void in_team(int threads, const Work& work) {
  Meeting meeting;
  if (threads == 1) return work(Member{0, 1, meeting});
#pragma omp parallel num_threads(threads)
  work(Member{omp_get_thread_num(), omp_get_num_threads(), meeting});
}

}  // namespace schaas::client
