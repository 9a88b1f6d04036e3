#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/support/diagnostic.h"

/// Offline precomputation: many requests in one job that the server keeps and works on, whether anybody waits
/// or not (Connection::submit and what follows it).
namespace schaas::client {

struct ScheduleRequest;

struct NewJob {
  std::string
      idempotency_key;  ///< sent again with the same one it is the same job; 1 to 200 printable characters
  std::string client;   ///< principal that shares the server fairly with others: user_text()
  std::string label;    ///< for people
  int priority = 0;     ///< -100 to 100: higher ones first; above 0 takes the scope `admin`
  double budget_seconds = 0;              ///< limit of work; remaining items then fail; 0: none
  std::vector<ScheduleRequest> requests;  ///< at most 10,000
};

struct Job {
  std::string id;  ///< "j1", "j2", ...
  std::string client, label, created;
  int priority = 0;
  double budget_seconds = 0;
  std::uint64_t waiting = 0, running = 0, done = 0, failed = 0, cancelled = 0;  ///< requests
  double seconds = 0;                                                           ///< work so far
  std::uint64_t requests() const { return waiting + running + done + failed + cancelled; }
  bool finished() const { return waiting + running == 0; }
};

/// A request of a job that has ended.
struct JobItem {
  std::uint64_t number = 0;  ///< in the job, from 0
  std::string expression;
  std::string state;  ///< "done", "failed", "cancelled"
  std::string error;  ///< error of a failed item
  double seconds = 0;
  std::uint64_t ended = 0;  ///< grows with each one that ends: where a watch that was cut off goes on
};

/// Sees what ends, then how the job stands. False: enough.
struct JobListener {
  std::function<bool(const JobItem&)> item;
  std::function<bool(const Job&)> job;
  /// The watch was cut off, or cannot begin yet; it goes on after so many seconds.
  std::function<void(const support::Diagnostic& why, double seconds)> away;
};

/// "user@host" of this process.
std::string user_text();

}  // namespace schaas::client
