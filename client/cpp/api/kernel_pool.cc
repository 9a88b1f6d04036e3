#include "client/cpp/api/kernel_pool.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "client/cpp/platform/cancelled.h"
#include "client/cpp/platform/seconds_since.h"
#include "client/cpp/selection/pick.h"
#include "compiler/support/instruction_set.h"
#include "compiler/support/schedule_id.h"
#include "schaas/bounds.h"

// State machine of the requests of one kind. Calls add tasks to background threads and wait on a condition
// variable; a task takes the mutex only to store what it received. Each change of the state raises a version,
// by which callers notice that a decision may have changed.
//
// Invariants: no lock is held during a request or while a kernel is loaded. A failure that may pass is
// retried after a delay, another one never. After fork() the child leaves the parent's threads and begins
// their requests anew.
namespace schaas::client {
namespace {

/// A search that failed, or brought a part of the space alone, is begun again no more often.
constexpr std::chrono::milliseconds search_again_after{500};
/// Delay before a request is retried that failed for want of the server, or of its time.
constexpr std::chrono::seconds try_again_after{2};
/// A kernel that loses less than this to the best schedule runs at once.
constexpr double negligible_loss_seconds = 1;
/// The longest time between two looks at whether the caller has had enough.
constexpr std::chrono::milliseconds slice{20};

/// Runs a task of a pool; an exception becomes a diagnostic.
template <class Body>
auto without_exceptions(const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return support::exhausted("memory", "the client ran out of memory");
  } catch (const std::exception& exception) {
    return support::internal("client-internal", exception.what());
  }
}

bool may_pass(const support::Diagnostic& why) {
  return why.family == support::Family::unreachable || why.family == support::Family::exhausted;
}

}  // namespace

KernelPool::KernelPool(Session session, ScheduleRequest request)
    : session_(std::move(session)),
      request_([&] {
        request.keep_working = true;
        request.first_kernel_only = true;
        return std::move(request);
      }()),
      threads_(std::make_unique<Threads>()) {}

KernelPool::~KernelPool() {
  if (threads_->generation != process_generation()) (void)threads_.release();
}

/// Begins anew the requests of the parent's threads; with the mutex held.
void KernelPool::after_fork() {
  if (threads_->generation == process_generation()) return;
  (void)threads_.release();
  threads_ = std::make_unique<Threads>();
  pending_.clear();
  requested_ = 0;
  std::erase_if(named_, [](const auto& one) { return !one.second->kernel; });
  if (search_ == Search::running) search_ = Search::none;
}

void KernelPool::changed() {
  ++version_;
  threads_->changed.notify_all();
}

bool KernelPool::has_failed(const std::string& name) const {
  const auto known = failed_.find(name);
  return known != failed_.end() && Clock::now() < known->second.again;
}

void KernelPool::fail(const std::string& name, const support::Diagnostic& why) {
  failed_.insert_or_assign(
      name, Failure{why, may_pass(why) ? Clock::now() + try_again_after : Clock::time_point::max()});
}

std::optional<Frontier> KernelPool::frontier() const {
  const std::lock_guard lock(mutex_);
  return selectors_ ? std::optional(frontier_) : std::nullopt;
}

void KernelPool::set_measurements(std::vector<Measurement> measurements) {
  const std::lock_guard lock(mutex_);
  after_fork();
  frontier_.measurements = std::move(measurements);
  ++frontier_version_;
  changed();
}

/// Asks the server for the frontier and its kernels, unless it does or has; with the mutex held.
void KernelPool::begin_search() {
  if (search_ == Search::running) return;
  const bool is_complete = search_ == Search::ended && !search_failure_ && selectors_;
  if (is_complete) return;
  if (search_ == Search::ended && !loaded_.empty() && Clock::now() - search_ended_ < search_again_after)
    return;
  search_failure_.reset();
  if (search_ == Search::none) search_began_ = Clock::now();
  if (threads_->requests.add([this](const std::stop_token& stop) { search(stop); }))
    search_ = Search::running;
}

// Runs on a thread of the pool; events come one by one while the server searches.
void KernelPool::search(const std::stop_token& stop) {
  ScheduleRequest asked = request_;
  asked.stop = stop;
  const auto answer = without_exceptions([&] {
    return session_.source().schedule(asked, [this](const ScheduleEvent& event) {
      take(event);
      return true;
    });
  });
  // The end of a search is a change: callers may wait for nothing else.
  const std::lock_guard lock(mutex_);
  search_ = Search::ended;
  search_ended_ = Clock::now();
  if (!answer.ok()) search_failure_ = answer.error();
  changed();
}

/// On the thread of the search.
void KernelPool::take(const ScheduleEvent& event) {
  if (const auto* frontier = std::get_if<Frontier>(&event)) return take_frontier(*frontier);
  const std::lock_guard lock(mutex_);
  if (const auto* stage = std::get_if<Progress>(&event)) {
    stage_ = *stage;
  } else if (const auto* failure = std::get_if<KernelFailure>(&event)) {
    failures_.push_back(*failure);
    fail(failure->id, failure->diagnostic);
    changed();
  } else if (const auto* kernel = std::get_if<KernelInfo>(&event)) {
    take_kernel(*kernel);
  }
}

/// Prepares it before the mutex is taken: milliseconds, in which calls would wait.
void KernelPool::take_frontier(Frontier frontier) {
  std::optional<Selectors> selectors;
  if (!frontier.partial) selectors.emplace(frontier);
  const std::lock_guard lock(mutex_);
  if (frontier.partial && selectors_) return;
  std::swap(frontier_, frontier);
  if (selectors) {
    std::swap(selectors_, selectors);
    ++frontier_version_;
  }
  changed();
}

/// Adds a kernel, and has it loaded: a call that will want it finds it at hand. With the mutex held.
void KernelPool::take_kernel(const KernelInfo& kernel) {
  const auto same = std::find_if(kernels_.begin(), kernels_.end(), [&](const KernelInfo& known) {
    return known.id == kernel.id && known.baseline == kernel.baseline;
  });
  if (same == kernels_.end()) {
    kernels_.push_back(kernel);
  } else {
    *same = kernel;
  }
  if (!support::is_for_gpu(kernel.isa)) begin_load(kernel);
  changed();
}

// Has a kernel loaded; true: it is on its way. With the mutex held. The set of pending digests keeps two
// calls from loading one kernel.
bool KernelPool::begin_load(const KernelInfo& kernel) {
  const std::string& digest = kernel.digest.sha256;
  if (is_loaded(kernel) || has_failed(digest)) return false;
  if (!pending_.insert(digest).second) return true;
  const bool added = threads_->loads.add([this, kernel](const std::stop_token& stop) {
    const auto done = without_exceptions([&] { return load(kernel, stop); });
    const std::lock_guard lock(mutex_);
    pending_.erase(kernel.digest.sha256);
    if (done.ok()) {
      loaded_.insert(kernel.digest.sha256);
      // The full kernel replaces its baseline kernel only once it is loaded.
      std::erase_if(kernels_, [&](const KernelInfo& old) {
        return old.baseline && !kernel.baseline && old.id == kernel.id;
      });
    } else {
      fail(kernel.digest.sha256, done.error());
    }
    changed();
  });
  if (!added) pending_.erase(digest);
  return added;
}

support::Result<void> KernelPool::load(const KernelInfo& kernel, const std::stop_token& stop) {
  if (support::is_for_gpu(kernel.isa)) {
    SCHAAS_RETURN_IF_ERROR(session_.load_for_gpu(kernel, stop));
  } else {
    SCHAAS_RETURN_IF_ERROR(session_.load(kernel, stop));
  }
  return {};
}

// Requests a kernel that the search does not bring, or not soon; true: it is on its way. With the mutex held.
// The request runs beside the search.
bool KernelPool::begin_request(const std::string& name) {
  if (has_failed(name)) return false;
  if (!pending_.insert(name).second) return true;
  const bool added =
      threads_->requests.add([this, name](const std::stop_token& stop) { request(name, stop); });
  if (added) {
    ++requested_;
  } else {
    pending_.erase(name);
  }
  return added;
}

void KernelPool::request(const std::string& name, const std::stop_token& stop) {
  ScheduleRequest asked = request_;
  asked.stop = stop;
  asked.traces = {name};
  asked.traces_only = true;
  // A baseline kernel of this schedule comes first, and may be better than the kernels at hand.
  const auto is_full = [](const KernelInfo& kernel) { return !kernel.baseline; };
  const auto answer = without_exceptions([&] {
    return session_.source().schedule(asked, [&](const ScheduleEvent& event) {
      if (const auto* kernel = std::get_if<KernelInfo>(&event); kernel && !is_full(*kernel)) {
        const std::lock_guard lock(mutex_);
        take_kernel(*kernel);
      }
      return true;
    });
  });
  const std::lock_guard lock(mutex_);
  pending_.erase(name);
  --requested_;
  if (answer.ok()) {
    const auto full = std::find_if(answer->kernels.begin(), answer->kernels.end(), is_full);
    if (full != answer->kernels.end()) return take_kernel(*full);
  }
  if (answer.ok()) {
    failures_.insert(failures_.end(), answer->failures.begin(), answer->failures.end());
    fail(name, no_kernel(name));
  } else {
    const std::string isa = support::is_gpu_id(name) ? support::gpu_isa : request_.isa;
    failures_.push_back({name, "", answer.error(), isa});
    fail(name, answer.error());
  }
  changed();
}

/// The best of the whole frontier; on the processor where no kernel for the GPU can be made. With the mutex
/// held.
support::Result<Pick> KernelPool::best_pick(const ChoiceRequest& request) {
  SCHAAS_ASSIGN_OR_RETURN(Pick best, pick(frontier_, *selectors_, request));
  const bool is_for_gpu = request.gpu && !request.gpu->alone && best.for_gpu;
  if (!is_for_gpu || !has_failed(best.name)) return best;
  SCHAAS_ASSIGN_OR_RETURN(best, pick_for_cpu(frontier_, selectors_->cpu, request));
  best.reason += "; not on " + request.gpu->device.name + ": " + why_no_gpu_kernel(failures_);
  return best;
}

// Decides among the kernels at hand, and begins whatever may bring a better one. With the mutex held. The
// best of the whole frontier is taken when it is loaded. Until then it is on its way, and the best of those
// at hand serves.
support::Result<Preference> KernelPool::decide(const Wish& wish) {
  const ChoiceRequest& request = wish.request;
  if (!frontier_.arguments.empty()) SCHAAS_RETURN_IF_ERROR(check_bounds(frontier_, request.sizes));
  Preference found;
  found.arguments = frontier_.arguments;
  found.frontier_version = frontier_version_;
  bool is_better_coming = search_ == Search::running;
  double acceptable_seconds = std::numeric_limits<double>::infinity();
  const auto may_run = [&](const KernelInfo& kernel) {
    return wish.excluded.count(kernel.digest.sha256) == 0;
  };
  if (selectors_) {
    SCHAAS_ASSIGN_OR_RETURN(const Pick best, best_pick(request));
    const KernelInfo* kernel = find_kernel(kernels_, best.name);
    if (kernel != nullptr && is_loaded(*kernel) && may_run(*kernel)) {
      found.kernel = *kernel;
      found.kernel->id = best.id;
      found.reason = best.reason;
      found.is_final = true;
      found.is_best = true;
      return found;
    }
    // A loss is avoided by waiting, but not for longer than it is itself.
    const double waited = seconds_since(search_began_);
    if (!has_failed(best.name)) acceptable_seconds = best.seconds + std::max(waited, negligible_loss_seconds);
    // Named beside the search it would delay the first kernel.
    const bool may_request = search_ != Search::running || !loaded_.empty();
    if (kernel != nullptr) {
      is_better_coming = begin_load(*kernel) || is_better_coming;
    } else if (may_request) {
      is_better_coming = begin_request(best.name) || is_better_coming;
    }
  }
  // Kernels that have come, with baseline kernels where the full one has not; and those that are loaded.
  std::vector<const KernelInfo*> come, at_hand;
  for (const KernelInfo& kernel : kernels_) {
    if (!may_run(kernel) || has_failed(kernel.digest.sha256)) continue;
    if (is_loaded(kernel)) at_hand.push_back(&kernel);
    if (!kernel.baseline || find_kernel(kernels_, kernel.id) == nullptr) come.push_back(&kernel);
  }
  SCHAAS_ASSIGN_OR_RETURN(const KernelPick next, pick_kernel(frontier_, come, request));
  if (next.kernel != nullptr && !is_loaded(*next.kernel))
    is_better_coming = begin_load(*next.kernel) || is_better_coming;
  SCHAAS_ASSIGN_OR_RETURN(const KernelPick best, pick_kernel(frontier_, at_hand, request));
  // Nothing better comes: the best of the frontier has no kernel.
  if (best.kernel != nullptr && best.kernel->baseline && !is_better_coming)
    is_better_coming = begin_request(best.kernel->id);
  // A kernel whose temporaries hardly fit waits for one that is on its way.
  if (best.kernel != nullptr && (best.has_room || !is_better_coming)) {
    found.kernel = *best.kernel;
    found.reason = best.reason;
  }
  found.is_final = !is_better_coming;
  found.is_acceptable = found.is_final || best.seconds <= acceptable_seconds;
  return found;
}

support::Diagnostic KernelPool::why_none(const Wish& wish) const {
  if (search_failure_) return *search_failure_;
  if (!failed_.empty()) return failed_.begin()->second.diagnostic;
  if (wish.request.gpu && wish.request.gpu->alone) return nothing_for_gpu("no kernel for it has come");
  return no_kernel("auto");
}

WaitProgress KernelPool::progress(Clock::time_point start) const {
  WaitProgress now;
  now.stage = selectors_ ? "compiling" : "searching";
  for (const KernelInfo& kernel : kernels_) now.kernels += kernel.baseline ? 0 : 1;
  if (!selectors_) {
    now.done = stage_.done;
    now.of = stage_.of;
  } else {
    now.kernels_of = now.kernels + requested_;
  }
  now.seconds = seconds_since(start);
  return now;
}

/// `attempt(is_over)`, with the mutex held, gives the answer or nothing yet; something when the time is over.
template <class Attempt>
support::Result<Preference> KernelPool::wait_for(const WaitOptions& wait, const Attempt& attempt) {
  const auto start = Clock::now();
  std::unique_lock lock(mutex_);
  after_fork();
  for (;;) {
    const auto now = Clock::now();
    const bool is_over = wait.limit && now - start >= *wait.limit;
    const std::uint64_t seen = version_;
    if (std::optional<support::Result<Preference>> found = attempt(is_over)) return *std::move(found);
    // The caller's function runs without the mutex: it may take its time, or call the library.
    const WaitProgress waited = progress(start);
    lock.unlock();
    if (wait.stop.stop_requested() || (wait.progress && !wait.progress(waited))) return cancelled();
    lock.lock();
    auto until = now + slice;
    // Callers wake up when something changes, when a time is over, and each 20 ms to ask their callback.
    if (now < search_began_ + wait.leave_after) until = std::min(until, search_began_ + wait.leave_after);
    if (wait.limit) until = std::min(until, start + std::chrono::duration_cast<Clock::duration>(*wait.limit));
    threads_->changed.wait_until(lock, until, [&] { return version_ != seen; });
  }
}

support::Result<Preference> KernelPool::prefer(const Wish& wish, const WaitOptions& wait) {
  bool begun = false;
  return wait_for(wait, [&](bool is_over) -> std::optional<support::Result<Preference>> {
    if (!std::exchange(begun, true)) begin_search();
    support::Result<Preference> found = decide(wish);
    if (!found.ok()) return found;
    // With a wait limit, or before this time is over, only a final kernel will do; later any that can run.
    const bool for_best = wait.limit || wish.only_best || Clock::now() - search_began_ < wait.leave_after;
    if (found->kernel && (found->is_final || (!for_best && found->is_acceptable))) return found;
    if (found->is_final) return why_none(wish);
    if (!is_over) return std::nullopt;
    if (found->kernel && !wish.only_best) return found;
    return wait_limit_over(request_.problem.expression, *wait.limit);
  });
}

void KernelPool::begin() {
  const std::lock_guard lock(mutex_);
  after_fork();
  begin_search();
}

support::Result<Preference> KernelPool::at_hand(const Wish& wish) {
  const std::lock_guard lock(mutex_);
  after_fork();
  begin_search();
  return decide(wish);
}

/// With the mutex held.
void KernelPool::begin_named(const std::string& name, const std::shared_ptr<Named>& named) {
  const bool added = threads_->requests.add([this, name, named](const std::stop_token& stop) {
    ScheduleRequest asked = request_;
    asked.stop = stop;
    asked.traces = {name};
    asked.traces_only = true;
    asked.gpu = false;  // the server knows the schedule by its name
    asked.keep_working = false;
    const auto answer = without_exceptions([&]() -> support::Result<ScheduleAnswer> {
      SCHAAS_ASSIGN_OR_RETURN(ScheduleAnswer got, session_.source().schedule(asked, {}));
      if (got.kernels.empty()) return no_kernel(name);
      SCHAAS_RETURN_IF_ERROR(load(got.kernels.front(), stop));
      return got;
    });
    const std::lock_guard lock(mutex_);
    if (answer.ok()) {
      named->frontier = answer->frontier;
      named->kernel = answer->kernels.front();
    } else {
      named->failure = answer.error();
    }
    changed();
  });
  if (!added) named->failure = cancelled();
}

support::Result<Preference> KernelPool::named(const ChoiceRequest& request, const WaitOptions& wait) {
  std::shared_ptr<Named> mine;
  return wait_for(wait, [&](bool is_over) -> std::optional<support::Result<Preference>> {
    if (!mine) {
      std::shared_ptr<Named>& known = named_[request.wanted];
      // A request that failed is begun again by the next call.
      if (!known || known->failure) {
        known = std::make_shared<Named>();
        begin_named(request.wanted, known);
      }
      mine = known;
    }
    if (mine->failure) return *mine->failure;
    if (!mine->kernel) {
      if (!is_over) return std::nullopt;
      return wait_limit_over(request_.problem.expression + "`, schedule `" + request.wanted, *wait.limit);
    }
    if (auto checked = check_bounds(mine->frontier, request.sizes); !checked.ok()) return checked.error();
    if (auto checked = check_order(request, *mine->kernel); !checked.ok()) return checked.error();
    return Preference{mine->kernel, mine->frontier.arguments, "asked for with --schedule", true, true};
  });
}

}  // namespace schaas::client
