#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gmpxx.h>

#include "compiler/cost/cost.h"
#include "compiler/problem/problem.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/cancellation.h"
#include "compiler/support/result.h"

/// The complete schedule space of a contraction as a memoised recursion (SparseAuto section 4; exact rules:
/// docs/schedule_space.md), never a list.
namespace schaas::space {

/// Operand orders of double-producer combinations: every one (symmetric, ours) or only the
/// order as written (the papers' system). `published` is as written, with the slip of the system that the
/// papers' counts come from. There the consumer of a right-hand producer in a nest of its own takes T to have
/// the indices of the other side's temporary. Its loops are right. With four operands and more some of
/// its members are no schedules. They are counted, never listed (docs/schedule_space.md).
enum class Rule { symmetric, as_written, published };

struct Options {
  Rule rule = Rule::symmetric;
  /// Limit of what states, sums and classes hold together; more is exhausted [space-memory].
  std::size_t max_bytes = std::size_t{2} << 30;
  /// Threads that fold large spaces; the answer is the same for any number. 0: one per core, at most 8.
  int threads = 0;
  /// 0: every operand order. Else only so many, those first in which most neighbours share an index, the
  /// order as written always. They are a part of the space, for products too large for the whole.
  std::size_t max_operand_orders = 0;
};

struct ClassCount {
  cost::Cost cost;
  mpz_class members;
};

/// Rule for what the recursion may drop. Everything said must hold at every size the problem allows.
/// Asked by one thread at a time.
class Dominance {
 public:
  virtual ~Dominance() = default;
  /// Sizes at which costs are compared first: where the loser is better at one of them, no proof is tried.
  virtual const std::vector<cost::Point>& samples() const = 0;
  /// True when a temporary of this many elements counts nothing.
  virtual bool free(cost::Term elements) = 0;
  /// False when a temporary of this many elements is too large at every size: no member may have it.
  virtual bool fits(cost::Term elements) = 0;
  /// Proofs that sum(winner) <= sum(loser) everywhere, for sums of time terms and of memory terms. They come
  /// without free temporaries, without the terms both have, divided by the variables all have.
  virtual bool time_at_most(std::span<const cost::Term> winner, std::span<const cost::Term> loser) = 0;
  virtual bool memory_at_most(std::span<const cost::Term> winner, std::span<const cost::Term> loser) = 0;
  /// One more of the same for another thread, with the same answers.
  virtual std::unique_ptr<Dominance> another() const = 0;
};

/// Not thread-safe (the memo grows); one per thread.
class Space {
 public:
  Space(const problem::Problem& problem, Options options);
  ~Space();
  Space(Space&&) noexcept;
  Space& operator=(Space&&) noexcept;

  /// Exact number of members.
  /// `tick` is called now and then, milliseconds apart.
  support::Result<mpz_class> count(const support::Cancellation& cancellation,
                                   const std::function<void()>& tick = {});
  std::size_t states() const;

  /// Largest number of factors of a time term, largest number of indices of a temporary.
  struct Depths {
    int loops = 0, memory = 0;
    auto operator<=>(const Depths&) const = default;
  };
  struct DepthCount {
    Depths depths;
    mpz_class members;
  };
  /// Counts members by pair of depths, ascending. The front of the pairs is known before any class is.
  support::Result<std::vector<DepthCount>> depths(const support::Cancellation& cancellation);

  /// Every (time, memory) class with its exact multiplicity, of members within a bound on depths; of all
  /// members with memory depth of at most `max_memory_depth` (stage 1 inside the recursion).
  support::Result<std::vector<ClassCount>> classes(Depths bound, const support::Cancellation& cancellation);
  support::Result<std::vector<ClassCount>> classes(int max_memory_depth,
                                                   const support::Cancellation& cancellation);

  /// Every distinct (time, memory) pair as SparseAuto tells them apart: the memory terms not sorted but in
  /// preorder (a nest's temporary, its producer's, its consumer's; of a combination left before right, as
  /// written under Rule::published). Members with a deeper temporary are left out.
  support::Result<std::vector<cost::Cost>> published_pairs(int max_memory_depth,
                                                           const support::Cancellation& cancellation);

  /// Counts distinct loop trees among members within at least one of the bounds. It is the papers' count
  /// after stage 1 for one bound on memory alone, after stage 2 for the front of the depth pairs. Errors:
  /// exhausted [loop-trees] beyond four million.
  support::Result<std::uint64_t> loop_trees(const std::vector<Depths>& bounds,
                                            const support::Cancellation& cancellation);

  struct ParetoClasses {
    std::vector<cost::Cost> classes;
    std::uint64_t dropped = 0;       ///< classes of partial schedules, over all states
    std::size_t states = 0;          ///< folded
    std::size_t operand_orders = 0;  ///< searched completely, best first (fewest neighbours without an index)
    mpz_class members;               ///< members of these operand orders
    /// Reason for the end of the search before the last operand order; absent: the answer is complete.
    std::optional<support::Diagnostic> ended;
  };
  /// Progress of pareto_classes, told after every few operand orders and within them, milliseconds apart.
  struct ParetoProgress {
    std::size_t states = 0, folded = 0;
    std::size_t operand_orders = 0, of_operand_orders = 0;
    std::size_t classes = 0;  ///< kept, of the finished operand orders
    mpz_class members;        ///< members of the finished operand orders
  };
  /// Classes kept when dominated ones are dropped inside the recursion. Exact because dominance survives
  /// multiplying both sides by the same loops and adding the same terms to both (docs/schedule_space.md). One
  /// of classes with equal objectives stays. Members with a temporary of more than `max_memory_depth` indices
  /// are left out. Anytime: the deadline or the memory limit may end it after the first operand order. Then
  /// the classes of the finished ones are the answer, marked by `ended`. Before, and when cancelled, that is
  /// the error.
  support::Result<ParetoClasses> pareto_classes(
      Dominance& dominance, int max_memory_depth, const support::Cancellation& cancellation,
      const std::function<void(const ParetoProgress&)>& progress = {});

  /// One cost class: its exact size, the number of its distinct loop trees, and up to `limit` members. These
  /// are traces, one per distinct loop tree, best first (docs/cost_model.md, "Inside a class"). Under
  /// Rule::published `limit` must be 0: some of its members have no trace. Errors: exhausted [space-memory]
  /// when it takes more than the limit of the search; [cancelled], [deadline].
  struct Members {
    mpz_class members;
    std::uint64_t loop_trees = 0;
    bool loop_trees_exact = true;  ///< false: there may be more than were counted
    std::vector<schedule::Trace> traces;
  };
  support::Result<Members> members_of(const cost::Cost& cost, std::size_t limit,
                                      const support::Cancellation& cancellation);

  /// One member, uniformly at random over the whole space.
  support::Result<schedule::Trace> draw(std::mt19937_64& random);
  /// All members in a fixed order, as traces; stops early when `visit` returns false.
  support::Result<void> for_each(const std::function<bool(const schedule::Trace&)>& visit,
                                 const support::Cancellation& cancellation);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace schaas::space
