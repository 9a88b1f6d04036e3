#pragma once
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "compiler/space/arena.h"
#include "compiler/space/class_list.h"
#include "compiler/space/recursion.h"
#include "compiler/space/space.h"
#include "compiler/space/sums.h"
#include "compiler/space/watch.h"

namespace schaas::space {

/// The classes of a state that no other class of the state is proven to cover.
///
/// Pruning below is safe: every member of a state is completed in the same ways whatever it looks like
/// inside. A completion multiplies its time by a product of loops, adds terms to it, and adds entries to
/// its memory; a serial phase makes all of its time serial. So when c <= s holds for two members of a state
/// at all sizes, it holds for each of their completions. Sampled values decide most comparisons (a class that
/// is better somewhere stays); only where one class is no better at any sample is a proof asked for.
///
/// States are folded level by level, fewest operands, then fewest loops, then fewest operands that are no
/// plain arrays first. The states of a level do not depend on each other and are shared out to threads. A
/// state's front depends on the fronts below it alone, so the answer is the same for any number of threads.
class Pareto {
 public:
  struct Entry {
    SumId time = 0, memory = 0;
  };
  Pareto(Recursion& recursion, Dominance& dominance, int max_memory_depth, int threads);
  ~Pareto();

  /// Adds the fronts of some roots to the front of all roots; when `watch` stops it, of none of them.
  void add_roots(std::span<const Side> roots, Watch& watch);
  const ClassList& roots() const;

  /// Combinations refused or driven out so far, over all states.
  std::uint64_t dropped() const { return dropped_; }
  std::size_t folded() const { return folded_; }
  std::size_t bytes() const;

 private:
  class Worker;
  /// A state and whether no loop is above it: then it has phases of its own, parallel or serial.
  struct Position {
    StateId id = 0;
    bool outermost = false;
    std::size_t number() const { return 2 * std::size_t{id} + (outermost ? 1 : 0); }
  };
  struct Front {
    const Entry* entries = nullptr;
    std::uint32_t count = 0;
    bool done = false, met = false;
  };
  using Level = std::vector<Position>;

  std::vector<Level> levels_below(std::span<const Side> roots, Watch& watch);
  void fold(const std::vector<Level>& levels, Watch& watch);
  void fold_share(Worker& worker, const Level& level, std::atomic<std::size_t>& next);
  void publish(Worker& worker);
  std::span<const Entry> front(Position position) const {
    return {known_[position.number()].entries, known_[position.number()].count};
  }
  /// Returns the position of a root: the papers' profile does not tell phases apart.
  Position outermost(StateId id) const { return {id, recursion_.contraction().access_classes}; }

  Recursion& recursion_;
  Dominance& dominance_;
  int max_memory_depth_;
  std::size_t threads_;
  Sums sums_;
  std::vector<Front> known_;  ///< by Position::number
  Arena<Entry> kept_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::uint64_t dropped_ = 0;
  std::size_t folded_ = 0;
  std::atomic<std::size_t> unpublished_ = 0;  ///< bytes of fronts the workers hold
  std::size_t bytes_at_level_ = 0;            ///< everything else, when the level began
};

}  // namespace schaas::space
