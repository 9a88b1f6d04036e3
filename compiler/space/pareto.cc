#include "compiler/space/pareto.h"

#include <algorithm>
#include <barrier>
#include <bit>
#include <exception>
#include <thread>

#include "compiler/cost/tie_order.h"
#include "compiler/space/comparison.h"

// The Pareto fold, level by level on several threads; pareto.h argues why dropping is exact. All states are
// expanded before, since expanding is not thread-safe. While a level runs, threads take states from a counter
// and keep fronts in memory of their own. They write nothing shared but that counter and a number of bytes;
// findings of proofs have a mutex. At the barrier the last thread to arrive publishes the fronts. Proofs and
// samples are remembered by each thread for itself. A thread that fails or is stopped arrives, too, so that
// none waits forever; its error is raised after all have ended.
namespace schaas::space {
namespace {

/// Fewer states than this are folded by one thread.
constexpr std::size_t worth_threads = 512;
/// States a thread takes at a time.
constexpr std::size_t share = 16;

std::size_t number_of_threads(int asked) {
  if (asked > 0) return static_cast<std::size_t>(asked);
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 8);
}

using Terms = ClassList::Terms;

/// Merges two sorted sums.
void merge(Terms a, Terms b, std::vector<cost::Term>& sum) {
  sum.resize(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), sum.begin());
}

}  // namespace

/// Folds one state at a time with its own memory of proofs.
class Pareto::Worker {
 public:
  Worker(Pareto& all, std::unique_ptr<Dominance> own)
      : all_(all),
        own_(std::move(own)),
        comparison_(own_ ? *own_ : all.dominance_),
        front_(comparison_.width()),
        first_(comparison_.width()),
        second_(comparison_.width()),
        values_(comparison_.width()) {}

  /// The front of a state whose children are known; false when stopped.
  bool fold(Position position) {
    Recursion& recursion = all_.recursion_;
    const Expansion expansion = recursion.expand(position.id);
    front_.clear();
    if (expansion.linear) {
      recursion.leaf_terms(position.id, position.outermost, nests_);
      for (const Recursion::Nest& leaf : nests_) offer_leaf(leaf);
    }
    for (const Transition& t : expansion.transitions) fuse(position, t);
    for (const Join& both : expansion.joins) join(position, both);
    return !watch_->stopped();
  }

  void offer_root(StateId id) {
    side(first_, all_.front(all_.outermost(id)), {}, {}, {});
    for (std::size_t n = 0; n < first_.size(); ++n)
      offer(roots_front(), first_.time(n), first_.memory(n), first_.values(n), first_.elements(n));
  }
  ClassList& roots_front() {
    if (!roots_) roots_ = std::make_unique<ClassList>(comparison_.width());
    return *roots_;
  }

  /// Fronts that are finished but not yet published.
  struct Done {
    Position position;
    std::uint32_t classes;
  };
  void keep_front(Position position) {
    done_.push_back({position, static_cast<std::uint32_t>(front_.size())});
    for (std::size_t n = 0; n < front_.size(); ++n)
      finished_.add(front_.time(n), front_.memory(n), nullptr, front_.elements(n));
    // Some 128 bytes a class.
    all_.unpublished_ += front_.size() * 128;
  }
  const std::vector<Done>& done() const { return done_; }
  const ClassList& finished() const { return finished_; }
  void clear_finished() {
    done_.clear();
    finished_.clear();
  }

  void start(Watch watch) { watch_ = std::make_unique<Watch>(std::move(watch)); }
  Watch& watch() { return *watch_; }
  std::uint64_t take_dropped() { return std::exchange(dropped_, 0); }
  std::size_t bytes() const { return comparison_.bytes(); }
  std::exception_ptr failure;

 private:
  void offer_leaf(const Recursion::Nest& leaf) {
    merge(leaf.merges, {&leaf.term, 1}, time_);
    double elements = 0;
    comparison_.evaluate(time_, {}, values_.data(), elements);
    offer(front_, time_, {}, values_.data(), elements);
  }

  /// A child's classes below the loops `prefix`, each with some more time and memory terms, and with the
  /// merges of these loops.
  void side(ClassList& list, std::span<const Entry> classes, const Recursion::Nest& prefix, Terms more_time,
            Terms more_memory) {
    list.clear();
    for (const Entry& entry : classes) {
      merge(all_.sums_.at(entry.time), more_time, below_);
      for (cost::Term& term : below_) term |= prefix.term;
      merge(below_, prefix.merges, time_);
      merge(all_.sums_.at(entry.memory), more_memory, memory_);
      double elements = 0;
      comparison_.evaluate(time_, memory_, values_.data(), elements);
      list.add(time_, memory_, values_.data(), elements);
    }
  }

  bool fits(IndexSet temporary) { return (own_ ? *own_ : all_.dominance_).fits(extents_of(temporary)); }

  /// Offers the classes of a transition.
  void fuse(Position position, const Transition& t) {
    if (std::popcount(t.temporary) > all_.max_memory_depth_ || !fits(t.temporary)) return;
    const bool outermost = position.outermost && t.prefix == 0;
    const std::span<const Entry> producers = all_.front({t.producer, outermost});
    const std::span<const Entry> consumers = all_.front({t.consumer, outermost});
    if (producers.empty() || consumers.empty()) return;
    const cost::Term temporary = extents_of(t.temporary);
    const cost::Term clearing = all_.recursion_.clearing(position.id, t, position.outermost);
    // The same in a serial phase is no better.
    all_.recursion_.common_terms(position.id, t, position.outermost, nests_);
    for (const Recursion::Nest& prefix : nests_) {
      side(first_, producers, prefix, {&clearing, clearing == 0 ? 0U : 1U}, {&temporary, 1});
      side(second_, consumers, {prefix.term, 1, {}}, {}, {});
      combine();
    }
  }

  /// Offers the classes of a combination.
  void join(Position position, const Join& join) {
    if (std::max(std::popcount(join.left_temporary), std::popcount(join.right_temporary)) >
        all_.max_memory_depth_)
      return;
    if (!fits(join.left_temporary) || !fits(join.right_temporary)) return;
    const std::span<const Entry> lefts = all_.front({join.left, position.outermost});
    const std::span<const Entry> rights = all_.front({join.right, position.outermost});
    if (lefts.empty() || rights.empty()) return;
    const cost::Term left = extents_of(join.left_temporary);
    const cost::Term right = extents_of(join.right_temporary);
    const auto [clear_left, clear_right] = all_.recursion_.clearing(join, position.outermost);
    side(second_, rights, {}, {&clear_right, clear_right == 0 ? 0U : 1U}, {&right, 1});
    all_.recursion_.join_terms(position.id, join, position.outermost, nests_);
    for (const Recursion::Nest& nest : nests_) {
      more_ = {nest.term};
      if (clear_left != 0) more_.push_back(clear_left);
      std::sort(more_.begin(), more_.end());
      side(first_, lefts, {}, more_, {&left, 1});
      combine();
    }
  }

  /// Every class of one side with every class of the other.
  void combine() {
    for (std::size_t a = 0; a < first_.size(); ++a) {
      for (std::size_t b = 0; b < second_.size(); ++b) {
        if (watch_->stopped()) return;
        const double* ours = first_.values(a);
        const double* theirs = second_.values(b);
        for (std::size_t n = 0; n < values_.size(); ++n) values_[n] = ours[n] + theirs[n];
        merge(first_.time(a), second_.time(b), time_);
        merge(first_.memory(a), second_.memory(b), memory_);
        offer(front_, time_, memory_, values_.data(), first_.elements(a) + second_.elements(b));
      }
    }
  }

  /// Adds a class to a front unless one there covers it; removes those it covers. Of classes that cover each
  /// other the first in the order of ties stays.
  void offer(ClassList& front, Terms time, Terms memory, const double* values, double elements) {
    for (std::size_t n = 0; n < front.size(); ++n) {
      if (!comparison_.no_worse(front.values(n), values)) continue;
      const Terms their_time = front.time(n);
      const Terms their_memory = front.memory(n);
      if (std::equal(their_time.begin(), their_time.end(), time.begin(), time.end()) &&
          std::equal(their_memory.begin(), their_memory.end(), memory.begin(), memory.end()))
        return;
      if (!comparison_.covers(their_time, their_memory, time, memory)) continue;
      ++dropped_;
      if (cost::stays_before({time, memory, elements}, {their_time, their_memory, front.elements(n)}) &&
          comparison_.no_worse(values, front.values(n)) &&
          comparison_.covers(time, memory, their_time, their_memory))
        front.replace(n, time, memory, values, elements);
      return;
    }
    dropped_ += front.remove_if([&](std::size_t n) {
      return comparison_.no_worse(values, front.values(n)) &&
             comparison_.covers(time, memory, front.time(n), front.memory(n));
    });
    front.add(time, memory, values, elements);
  }

  Pareto& all_;
  std::unique_ptr<Dominance> own_;
  Comparison comparison_;
  ClassList front_, first_, second_;
  ClassList finished_{0};
  std::unique_ptr<ClassList> roots_;
  std::vector<Done> done_;
  std::vector<double> values_;
  std::vector<Recursion::Nest> nests_;
  std::vector<cost::Term> time_, below_, memory_, more_;
  std::unique_ptr<Watch> watch_;
  std::uint64_t dropped_ = 0;
};

Pareto::Pareto(Recursion& recursion, Dominance& dominance, int max_memory_depth, int threads)
    : recursion_(recursion),
      dominance_(dominance),
      max_memory_depth_(max_memory_depth),
      threads_(number_of_threads(threads)) {
  workers_.push_back(std::make_unique<Worker>(*this, nullptr));
}

Pareto::~Pareto() = default;

const ClassList& Pareto::roots() const { return workers_[0]->roots_front(); }

std::size_t Pareto::bytes() const {
  std::size_t bytes = sums_.bytes() + kept_.bytes() + known_.capacity() * sizeof(Front);
  for (const auto& worker : workers_) bytes += worker->bytes();
  return bytes;
}

/// The states below the roots that have no front yet, by level.
std::vector<Pareto::Level> Pareto::levels_below(std::span<const Side> roots, Watch& watch) {
  std::vector<Position> stack, found;
  const auto meet = [&](Position position) {
    if (position.number() >= known_.size()) known_.resize(2 * recursion_.size());
    if (std::exchange(known_[position.number()].met, true)) return;
    stack.push_back(position);
    found.push_back(position);
  };
  for (const Side& root : roots) meet(outermost(root.state));
  while (!stack.empty() && !watch.stopped()) {
    const Position position = stack.back();
    stack.pop_back();
    const Expansion expansion = recursion_.expand(position.id);
    for (const Transition& t : expansion.transitions) {
      meet({t.producer, position.outermost && t.prefix == 0});
      meet({t.consumer, position.outermost && t.prefix == 0});
    }
    for (const Join& join : expansion.joins) {
      meet({join.left, position.outermost});
      meet({join.right, position.outermost});
    }
  }
  constexpr std::size_t loops = max_indices + 1, slots = max_operands + 1;
  // By operands, then loops, then operands that are no plain arrays: transitions lead to lower levels alone.
  std::vector<Level> levels(slots * loops * slots);
  for (Position position : found) {
    if (known_[position.number()].done) continue;
    const State& state = recursion_.state(position.id);
    const auto bound = static_cast<std::size_t>(std::count_if(
        state.slots.begin(), state.slots.begin() + state.size, [](Slot slot) { return !is_plain(slot); }));
    const auto size = state.size * loops + static_cast<std::size_t>(std::popcount(state.loops));
    levels[size * slots + bound].push_back(position);
  }
  std::erase_if(levels, [](const Level& level) { return level.empty(); });
  return levels;
}

/// Folds a thread's states of one level. A failure is kept for the end of the fold.
void Pareto::fold_share(Worker& worker, const Level& level, std::atomic<std::size_t>& next) {
  try {
    for (std::size_t begin; (begin = next.fetch_add(share)) < level.size();) {
      for (std::size_t n = begin; n < std::min(begin + share, level.size()); ++n) {
        if (!worker.fold(level[n])) return;
        worker.keep_front(level[n]);
      }
      worker.watch().hold(bytes_at_level_ + unpublished_);
    }
  } catch (...) {
    worker.failure = std::current_exception();
  }
}

/// Moves a worker's fronts to where all threads read them. Runs while no thread folds.
void Pareto::publish(Worker& worker) {
  std::vector<Entry> entries;
  std::size_t n = 0;
  for (const Worker::Done& done : worker.done()) {
    entries.clear();
    for (std::uint32_t k = 0; k < done.classes; ++k, ++n)
      entries.push_back({sums_.intern(worker.finished().time(n)), sums_.intern(worker.finished().memory(n))});
    Front& front = known_[done.position.number()];
    front.entries = kept_.keep(entries).data();
    front.count = done.classes;
    front.done = true;
  }
  folded_ += worker.done().size();
  worker.clear_finished();
  dropped_ += worker.take_dropped();
}

/// Folds all levels, with a barrier after each.
void Pareto::fold(const std::vector<Level>& levels, Watch& watch) {
  std::size_t states = 0;
  for (const Level& level : levels) states += level.size();
  const std::size_t team = states < worth_threads ? 1 : threads_;
  while (workers_.size() < team) workers_.push_back(std::make_unique<Worker>(*this, dominance_.another()));
  // The first worker is this thread.
  for (std::size_t w = 0; w < team; ++w) workers_[w]->start(w == 0 ? watch : watch.without_tick());

  std::atomic<std::size_t> next = 0;
  bool go_on = true;
  bytes_at_level_ = recursion_.bytes() + bytes();
  const auto end_level = [&]() noexcept {
    for (std::size_t w = 0; w < team; ++w) {
      Worker& worker = *workers_[w];
      if (worker.failure || worker.watch().stopped()) go_on = false;
    }
    for (std::size_t w = 0; w < team && go_on; ++w) publish(*workers_[w]);
    next = 0;
    unpublished_ = 0;
    bytes_at_level_ = recursion_.bytes() + bytes();
  };
  std::barrier barrier(static_cast<std::ptrdiff_t>(team), end_level);
  const auto work = [&](Worker& worker) {
    for (const Level& level : levels) {
      fold_share(worker, level, next);
      barrier.arrive_and_wait();
      if (!go_on) return;
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t w = 1; w < team; ++w) others.emplace_back([&, w] { work(*workers_[w]); });
    work(*workers_[0]);
  }
  for (std::size_t w = 0; w < team; ++w) {
    Worker& worker = *workers_[w];
    worker.clear_finished();
    if (worker.failure) std::rethrow_exception(worker.failure);
    if (worker.watch().stopped()) watch.stop(worker.watch().error());
  }
}

void Pareto::add_roots(std::span<const Side> roots, Watch& watch) {
  const std::vector<Level> levels = levels_below(roots, watch);
  if (watch.stopped()) return;
  fold(levels, watch);
  if (watch.stopped()) return;
  for (const Side& root : roots) workers_[0]->offer_root(root.state);
  dropped_ += workers_[0]->take_dropped();
}

}  // namespace schaas::space
