#pragma once
#include <omp.h>

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

/// `work(thread, team)` by so many threads at once. One thread is the calling one: entering and leaving a
/// region of its own costs 2 microseconds, half of what a small kernel takes (docs/notes/performance.md,
/// section 42).
template <class Work>
void in_team(int threads, const Work& work) {
  if (threads == 1) return work(0, 1);
#pragma omp parallel num_threads(threads)
  work(omp_get_thread_num(), omp_get_num_threads());
}

/// Inside of in_team: until all of the team are here.
inline void wait_for_team(int team) {
  if (team == 1) return;  // there may be another team around, whose barrier it would be
#pragma omp barrier
}

}  // namespace schaas::client
