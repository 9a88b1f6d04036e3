#pragma once

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

}  // namespace schaas::client
