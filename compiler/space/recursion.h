#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "compiler/space/arena.h"
#include "compiler/space/contraction.h"
#include "compiler/space/merge_orders.h"
#include "compiler/space/prefixes.h"
#include "compiler/space/shapes.h"
#include "compiler/space/space.h"

/// The states of the space and the transitions between them (docs/schedule_space.md). Everything the
/// space answers (counts, classes, trees, members) is one fold over this graph. A state's transitions lead to
/// states with fewer operands, or as many operands and fewer loops. Or with as many of both and fewer
/// operands that are no plain arrays, where one was merged. So the graph has no cycle.
namespace schaas::space {

using StateId = std::uint32_t;

/// A rest of a computation: a sequence of operands, each by its shape. A state and its mirror image (operands
/// reversed, the newest temporary at the other end) have the same members but for left and right. The smaller
/// one is kept (both under Rule::published, which is not symmetric).
struct State {
  enum class End : std::uint8_t { none, left, right };

  std::array<Slot, max_operands> slots{};
  std::uint16_t loops = 0;  ///< the union of the operands' indices (more under Rule::published)
  std::uint16_t out = 0;    ///< indices of the target within `loops`
  std::uint8_t size = 0;
  End newest = End::none;     ///< end of the newest temporary: it never is a side of a split alone
  bool final_result = false;  ///< computes the problem's result
  bool joins = false;         ///< double-producer combinations are allowed here
  bool operator==(const State&) const = default;
};

/// A state as its parent meets it: canonical, or the mirror image of the canonical one.
struct Side {
  StateId state = 0;
  bool mirrored = false;
};

/// producer and consumer below common loops `prefix`.
struct Transition {
  StateId producer = 0, consumer = 0;
  std::uint16_t prefix = 0;
  std::uint16_t temporary = 0;  ///< indices of the temporary: shared, not in the prefix
  std::uint8_t split = 0;
  bool producer_left = true;
  bool producer_mirrored = false, consumer_mirrored = false;
  bool blocked = false;  ///< the only loop of the prefix runs in blocks, with temporaries of one block
};

/// Two producers, both stored whole, combined by one more nest.
struct Join {
  StateId left = 0, right = 0;
  std::uint16_t loops = 0;  ///< loops of the combining nest
  std::uint16_t left_temporary = 0, right_temporary = 0;
  std::uint8_t split = 0;
  bool left_mirrored = false, right_mirrored = false;
};

struct Expansion {
  std::span<const Transition> transitions;
  std::span<const Join> joins;
  bool linear = false;  ///< the state has linear nests: orders of all its loops
};

class Recursion {
 public:
  Recursion(const problem::Problem& problem, Options options);

  const Contraction& contraction() const { return contraction_; }
  const Shapes& shapes() const { return shapes_; }
  /// One root per operand order p <= reverse(p): the order as written first, then those with the fewest
  /// neighbours that share no index. Orders of interchangeable operands have one state.
  const std::vector<Side>& roots() const { return roots_; }
  const std::vector<std::vector<int>>& operand_orders() const { return operand_orders_; }

  std::size_t size() const { return states_.size(); }
  const State& state(StateId id) const { return states_[id]; }
  /// The state's transitions, found on first use; spans stay valid.
  Expansion expand(StateId id);
  /// Bytes held, about.
  std::size_t bytes() const;
  /// True once a state did not fit the memory limit: the answer in progress is not to be used. What needs no
  /// new state can still be asked.
  bool overflowed() const { return overflowed_; }
  void clear_overflow() { overflowed_ = false; }
  const Options& options() const { return options_; }

  /// Loop orders of a state, and what its loops count.
  Orders& orders(StateId id) { return contexts_[context_number(id)]->orders; }
  const Context& context(StateId id) { return contexts_[context_number(id)]->context; }

  /// Loops in the orders that give them the same terms.
  struct Nest {
    cost::Term term = 0;
    std::uint64_t orders = 0;
    Merges merges{};  ///< in addition to it
  };
  /// The terms of the state's linear nest. `outermost`: no loop is above, so that the first loop is a
  /// phase's.
  std::vector<Nest> leaf_nests(StateId id, bool outermost);
  /// The terms of a combining nest, which merges nothing.
  std::vector<Nest> join_nests(StateId id, const Join& join, bool outermost);
  /// The products of a transition's common loops and their merges: without merges at most one in a parallel
  /// phase and one in a serial phase.
  std::vector<Nest> common_loops(StateId id, const Transition& t, bool outermost);
  /// The same terms without numbers of orders, into `terms`; of common loops without merges the parallel ones
  /// when there are any such. Thread-safe for states that are expanded.
  void leaf_terms(StateId id, bool outermost, std::vector<Nest>& terms);
  void join_terms(StateId id, const Join& join, bool outermost, std::vector<Nest>& terms);
  void common_terms(StateId id, const Transition& t, bool outermost, std::vector<Nest>& terms);
  /// The same terms, of one order.
  Nest leaf_nest(StateId id, const Order& order, bool outermost);
  cost::Term join_term(StateId id, const Join& join, const Order& order, bool outermost);
  Nest common_nest(StateId id, const Transition& t, const Order& order, bool outermost);
  /// Returns the cost of clearing a transition's temporary below its common loops (cost::clearing); 0:
  /// nothing.
  cost::Term clearing(StateId id, const Transition& t, bool outermost);
  /// Returns the cost of clearing both temporaries of a join.
  std::array<cost::Term, 2> clearing(const Join& join, bool outermost);
  /// Access weight above contiguous, whatever the profile: ranks members of one class.
  int leaf_jumps(StateId id, const Order& order, bool outermost) const;
  int join_jumps(StateId id, const Join& join, const Order& order, bool outermost) const;

 private:
  static constexpr std::uint32_t unknown = 0xffffffffU;
  struct Record {
    const Transition* transitions = nullptr;
    const Join* joins = nullptr;
    std::uint32_t transition_count = 0;
    std::uint16_t join_count = 0;
    bool done = false;
    bool linear = false;
    std::uint32_t context = unknown;
  };
  struct Position {
    StateId id = 0;         ///< id of the state, plus 1; 0 when empty
    std::uint32_t tag = 0;  ///< more of its hash: most other states are told apart without a look at them
  };
  static std::uint32_t tag_of(std::size_t hash) { return static_cast<std::uint32_t>(hash >> 32); }
  struct PerContext {
    Context context;
    Orders orders;
  };
  Side intern(const State& state);
  StateId intern_canonical(const State& state);
  void grow_table();
  std::uint32_t context_number(StateId id);
  void add_fusions(StateId id, const State& state, int split, bool producer_left);
  void add_join(StateId id, const State& state, int split);
  bool merges(StateId id, Slot slot);
  bool one_block_loop(const State& state, IndexSet prefix) const;
  bool wider(problem::SpaceOption option) const { return contraction_.wider.has(option); }
  /// Reads and writes of a nest, seen by its innermost loop.
  struct Seen {
    std::array<cost::Seen, max_operands> operands;
    std::size_t size = 0;
    cost::Seen target;
    std::span<const cost::Seen> reads() const { return {operands.data(), size}; }
  };
  Seen leaf_seen(StateId id, int last) const;
  Seen join_seen(StateId id, const Join& join, int last) const;
  /// visit(term, first, around, last) for nests over `loops` that count `trips`: what loops give an order
  /// this term; -1: any loop.
  template <class See, class Visit>
  void each_term(StateId id, IndexSet loops, cost::Term trips, bool outermost, const See& see,
                 const Visit& visit);
  template <class See>
  std::vector<Nest> nests(StateId id, IndexSet loops, cost::Term trips, bool outermost, const See& see);
  template <class See>
  void terms_of(StateId id, IndexSet loops, cost::Term trips, bool outermost, const See& see,
                std::vector<Nest>& terms);
  void merging_nests(StateId id, bool outermost, std::vector<Nest>& nests);
  void merging_prefixes(StateId id, IndexSet prefix, bool outermost, std::vector<Nest>& nests);
  cost::Term serial(StateId id, int first, bool outermost) const;

  Contraction contraction_;
  Options options_;
  Shapes shapes_;
  bool overflowed_ = false;
  std::size_t max_bytes_ = ~std::size_t{0};  ///< options_.max_bytes, once the roots are known
  std::vector<State> states_;
  std::vector<Record> records_;
  std::vector<Position> table_;  ///< open addressing
  Arena<Transition> transitions_;
  Arena<Join> joins_;
  std::vector<Transition> found_transitions_;  ///< transitions of the state being expanded
  std::vector<Join> found_joins_;
  std::vector<Side> roots_;
  std::vector<std::vector<int>> operand_orders_;
  std::vector<std::unique_ptr<PerContext>> contexts_;
  std::map<std::vector<Slot>, std::uint32_t> context_numbers_;
};

/// Returns the number of orders of a transition's common loops, or of a combining nest's loops.
inline std::uint64_t orders_of(Recursion& recursion, StateId id, const Transition& t) {
  return recursion.orders(id).count(t.prefix);
}
inline std::uint64_t orders_of(Recursion& recursion, StateId id, const Join& join) {
  return recursion.orders(id).count(join.loops);
}

}  // namespace schaas::space
