#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/cpp/platform/background_tasks.h"
#include "client/cpp/platform/process_mutex.h"
#include "schaas/choose.h"
#include "schaas/session.h"
#include "schaas/waiting.h"

namespace schaas::client {

struct Pick;

/// The kernel for a call, among those at hand.
struct Preference {
  std::optional<KernelInfo> kernel;    ///< none: nothing that can run is at hand
  std::vector<std::string> arguments;  ///< arguments of the kernel, in order
  std::string reason;                  ///< one sentence
  bool is_final = false;               ///< no better one is on its way
  bool is_acceptable = true;           ///< false: waiting for the best one costs less than it does
  bool is_best = false;                ///< best of the whole frontier
  std::uint64_t frontier_version = 0;  ///< version of the pool at the decision
};

/// Request of a call to a pool.
struct Wish {
  ChoiceRequest request;
  bool only_best = false;            ///< deterministic: no other kernel will do
  std::set<std::string> excluded{};  ///< digests of kernels that turned out not to run for it
};

/// The kernels of one kind of request (instruction set, GPU, determinism) as they come. The server is asked,
/// and kernels are loaded, by threads of the pool while calls run what is at hand; no lock is held meanwhile.
/// A kernel is at hand once it is loaded. The whole frontier decides which kernel is best at some sizes; one
/// that the search does not bring by itself is asked for by its name. Thread-safe.
class KernelPool {
 public:
  /// `request`: problem, search, instruction set, GPU, determinism.
  KernelPool(Session session, ScheduleRequest request);
  KernelPool(const KernelPool&) = delete;
  KernelPool& operator=(const KernelPool&) = delete;
  ~KernelPool();

  /// Raised whenever something came that may change a decision.
  std::uint64_t version() const { return version_; }
  /// Raised when the whole frontier, or measurements of its schedules, came: the best kernel may be another.
  std::uint64_t frontier_version() const { return frontier_version_; }

  /// Begins the search, unless it runs or has ended.
  void begin();
  /// Decides, waiting as `wait` says; begins the search. Errors: those of KernelSource::schedule,
  /// Session::load and check_bounds; exhausted [wait-limit], [cancelled], [gpu-memory].
  support::Result<Preference> prefer(const Wish& wish, const WaitOptions& wait);
  /// Decides among the kernels at hand, in microseconds, and has better ones asked for.
  support::Result<Preference> at_hand(const Wish& wish);
  /// The kernel that the request names. Errors: as of prefer; invalid [deterministic].
  support::Result<Preference> named(const ChoiceRequest& request, const WaitOptions& wait);

  /// The whole frontier, when it has come.
  std::optional<Frontier> frontier() const;
  /// Takes over what was measured; decisions change with it.
  void set_measurements(std::vector<Measurement> measurements);

 private:
  using Clock = std::chrono::steady_clock;
  enum class Search { none, running, ended };
  struct Named {
    std::optional<KernelInfo> kernel{};
    Frontier frontier{};  ///< with arguments and constraints alone
    std::optional<support::Diagnostic> failure{};
  };
  struct Failure {
    support::Diagnostic diagnostic;
    Clock::time_point again;  ///< when it may be tried again
  };

  template <class Attempt>
  support::Result<Preference> wait_for(const WaitOptions& wait, const Attempt& attempt);
  WaitProgress progress(Clock::time_point start) const;
  support::Result<Preference> decide(const Wish& wish);
  support::Result<Pick> best_pick(const ChoiceRequest& request);
  support::Diagnostic why_none(const Wish& wish) const;

  void begin_search();
  void search(const std::stop_token& stop);
  void take(const ScheduleEvent& event);
  void take_frontier(Frontier frontier);
  void take_kernel(const KernelInfo& kernel);
  bool begin_request(const std::string& name);
  void request(const std::string& name, const std::stop_token& stop);
  bool begin_load(const KernelInfo& kernel);
  support::Result<void> load(const KernelInfo& kernel, const std::stop_token& stop);
  void begin_named(const std::string& name, const std::shared_ptr<Named>& named);

  bool is_loaded(const KernelInfo& kernel) const { return loaded_.count(kernel.digest.sha256) > 0; }
  bool has_failed(const std::string& name) const;
  void fail(const std::string& name, const support::Diagnostic& why);
  void changed();
  void after_fork();

  const Session session_;
  const ScheduleRequest request_;
  std::atomic<std::uint64_t> version_{0};
  std::atomic<std::uint64_t> frontier_version_{0};

  mutable ProcessMutex mutex_;          ///< guards all members below; held for microseconds
  Frontier frontier_;                   ///< the last one, perhaps of a part of the space
  std::optional<Selectors> selectors_;  ///< selectors of the whole frontier
  std::vector<KernelInfo> kernels_;     ///< a baseline kernel until the full kernel of its schedule is loaded
  std::vector<KernelFailure> failures_;
  std::set<std::string> loaded_;                         ///< digests
  std::set<std::string> pending_;                        ///< names and digests on their way
  int requested_ = 0;                                    ///< requests by name on their way
  std::map<std::string, Failure> failed_;                ///< by name or digest
  std::map<std::string, std::shared_ptr<Named>> named_;  ///< by what the user named
  Search search_ = Search::none;
  Clock::time_point search_began_{}, search_ended_{};
  std::optional<support::Diagnostic> search_failure_;
  Progress stage_;

  /// State that belongs to one process. A child after fork() has a new one, and leaves its parent's as it is.
  struct Threads {
    std::uint64_t generation = process_generation();
    std::condition_variable_any changed;
    BackgroundTasks loads{1};
    BackgroundTasks requests{3};
  };
  std::unique_ptr<Threads> threads_;  // joined before all above goes
};

}  // namespace schaas::client
