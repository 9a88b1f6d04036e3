#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "compiler/concrete_notation/determined_loops.h"
#include "compiler/concrete_notation/masked_elements.h"
#include "compiler/concrete_notation/result_workspace.h"
#include "compiler/concrete_notation/stored_by_entries.h"
#include "compiler/cost/cost.h"
#include "compiler/cost/counted_loops.h"
#include "compiler/cost/iteration_space.h"
#include "compiler/cost/leaf_access.h"
#include "compiler/cost/listed_vectors.h"
#include "compiler/cost/memory_terms.h"
#include "compiler/index_notation/costly_calls.h"
#include "compiler/support/contains.h"
#include "compiler/support/result.h"

// Symbolic cost of a loop tree in one walk. It carries the loops above, each with the iteration space of all
// that is below it. A leaf adds the product of what its loops count. Where operands are united, this is a sum
// with a term for each way to be needed. Temporaries are needed where their producers' operands are, so a
// shared loop runs only where something inside needs it (ReACT, section 4.2). Terms have no constants: the
// temporary of a block counts as if it held the whole index, an upper bound. The memory by scope comes from
// the same walk, so that it cannot disagree with the cost.
namespace schaas::cost {
namespace {

using concrete_notation::Assign;
using concrete_notation::Blocks;
using concrete_notation::Forall;
using concrete_notation::leaf_of;
using concrete_notation::StatementPtr;
using concrete_notation::Terms;
using concrete_notation::Where;

/// Merging more lists than this costs no more per entry (docs/cost_model.md).
constexpr std::size_t max_heads = 4;

}  // namespace

/// Walks one tree after the other.
class TreeCosts::Walk {
 public:
  explicit Walk(const problem::Problem& problem)
      : problem_(problem),
        papers_(problem.profile == problem::Profile::sparseauto),
        variables_(variables_of(problem)),
        copying_(copying(problem)),
        operands_(problem) {
    for (const index_notation::Assignment& each : problem.statements())
      has_coordinates_ = has_coordinates_ || !index_notation::coordinates(each.value).empty();
    for (std::size_t n = 0; n < operands_.size(); ++n) {
      auto& lists = lists_.emplace_back();
      for (const Variable& extent : variables_.extents)
        lists.push_back(variables_.list_of(operands_.at(static_cast<int>(n)), extent.index, problem));
    }
  }

  Cost of(const StatementPtr& statement) {
    cost_ = copying_;
    memory_.clear();
    lists_walked_.clear();
    walk(statement, {});
    std::sort(cost_.time.begin(), cost_.time.end());
    std::sort(cost_.memory.begin(), cost_.memory.end());
    return std::move(cost_);
  }

  std::vector<MemoryTerm> memory_of(const StatementPtr& statement) {
    of(statement);
    for (const Term copy : copying_.memory) memory_.push_back({copy, Scope::operand});
    std::sort(memory_.begin(), memory_.end());
    return std::move(memory_);
  }

 private:
  /// A loop above, and where all that is below it has to be computed.
  struct Loop {
    int index;
    IterationSpace space;
    std::optional<concrete_notation::DeterminedLoop> determined{};  ///< it visits one value
    /// It walks the list of a vector: the trips of that one's producer, with those of the loops around both.
    const std::vector<Term>* list = nullptr;
  };
  /// Position of a walk.
  struct Position {
    std::vector<Loop> above{};
    std::size_t shared = 0;  ///< the first so many of `above` are above the innermost branch
    Term serial = 0;         ///< serial_bit when the phase is
    std::vector<int> own{};  ///< the loops below that branch, outermost first; of blocks none
    bool phase = true;       ///< no loop is above that branch: the first of `own` is a phase's outermost
    bool outermost() const { return phase && own.empty(); }
  };

  /// A block of an index that the walk is in.
  struct Block {
    IterationSpace space;  ///< space of the statements in the block
    int size = 0;          ///< 0: not known
  };

  /// Adds the cost of what is below `position`. Branches and sums begin nests whose own loops are below them.
  void walk(const StatementPtr& statement, Position position) {
    if (const auto* loop = std::get_if<Forall>(&statement->node)) {
      // A phase whose outermost loop is no index of what it writes is taken to run on one thread.
      if (position.outermost() && !papers_ &&
          !support::contains(leaf_of(statement).target.indices, loop->index))
        position.serial = serial_bit;
      const IterationSpace space = counted(loop->index, loop->body);
      if (auto one = determined(*loop, position)) {
        position.above.push_back({number(loop->index), space, std::move(one)});
        return walk(loop->body, std::move(position));
      }
      merge(number(loop->index), space, loop->body, position);
      const auto list = lists_walked_.find(loop);
      position.above.push_back(
          {number(loop->index), space, std::nullopt, list == lists_walked_.end() ? nullptr : &list->second});
      if (in_blocks_.count(loop->index) == 0) position.own.push_back(number(loop->index));
      walk(loop->body, std::move(position));
    } else if (const auto* blocks = std::get_if<Blocks>(&statement->node)) {
      if (position.outermost() && !papers_ &&
          !support::contains(leaf_of(statement).target.indices, blocks->index))
        position.serial = serial_bit;
      position.phase = false;
      const auto outside = in_blocks_;
      in_blocks_[blocks->index] = {space_of(blocks->body, {}), blocks->size};
      walk(blocks->body, std::move(position));
      in_blocks_ = outside;
    } else if (const auto* both = std::get_if<Where>(&statement->node)) {
      Position inside = position;
      inside.shared = position.above.size();
      inside.phase = position.outermost();
      inside.own.clear();
      const bool listed = is_result_workspace(*both);
      branch(*both, inside, listed);
      walk(both->producer, inside);
      if (!listed && !inside.phase && in_blocks_.empty()) give_list(*both);
      if (!listed) return walk(both->consumer, std::move(inside));
      if (both->storage == concrete_notation::Storage::hash) table(inside);
      append(*both, inside);
    } else if (const auto* sum = std::get_if<Terms>(&statement->node)) {
      Position inside = position;
      inside.shared = position.above.size();
      inside.phase = position.outermost();
      inside.own.clear();
      // A workspace around a sum lists what all of its terms write.
      std::vector<Term> leaves, entries;
      for (const StatementPtr& term : sum->terms) {
        walk(term, inside);
        leaves.insert(leaves.end(), last_leaf_.begin(), last_leaf_.end());
        entries.insert(entries.end(), last_entries_.begin(), last_entries_.end());
      }
      last_leaf_ = std::move(leaves);
      last_entries_ = std::move(entries);
    } else {
      add_leaf(std::get<Assign>(statement->node), position);
    }
  }

  /// An equation leaves the loop one value. A system of the papers knows none.
  std::optional<concrete_notation::DeterminedLoop> determined(const Forall& loop,
                                                              const Position& position) const {
    if (papers_ || !has_coordinates_ || !in_blocks_.empty()) return std::nullopt;
    std::vector<std::string> around;
    for (const Loop& each : position.above)
      around.push_back(variables_.extents[static_cast<std::size_t>(each.index)].index);
    return concrete_notation::determined_loop(loop, around, problem_);
  }

  /// The steps of a loop that walks lists together, once for every iteration of the loops above. Lists of
  /// operands that are needed nowhere, as those of a condition, are walked beside those that bound the loop.
  void merge(int index, const IterationSpace& space, const StatementPtr& body, const Position& position) {
    if (in_blocks_.count(variables_.extents[static_cast<std::size_t>(index)].index) != 0) return;
    OperandSet needed = 0;
    for (const OperandSet way : space) needed |= way;
    // A loop that runs over its extent has no steps.
    if (std::any_of(space.begin(), space.end(), [&](OperandSet way) { return lists_of(index, way) == 0; }))
      return;
    const ListSet beside = lists_of(index, operands_of(body) & ~needed);
    const std::size_t comparisons = comparisons_of(lists_of(index, needed) | beside, space);
    for (OperandSet way : space) {
      const bool merged = variables_.intersection(lists_of(index, way) | beside) != nullptr;
      if (!merged && comparisons == 0) continue;
      const Term steps = this->steps(index, way, beside);
      for (Term above : trips_of({way}, position))
        add_steps(above | steps | position.serial, std::max<std::size_t>(comparisons, 1));
    }
  }

  /// The comparisons of a step with the heads of united lists; 0 where no lists are united.
  std::size_t comparisons_of(ListSet lists, const IterationSpace& space) const {
    const auto heads = static_cast<std::size_t>(std::popcount(lists));
    return papers_ || space.size() < 2 || heads < 2 ? 0 : std::min(heads, max_heads) - 1;
  }

  /// The coordinates that a merge of these operands' lists visits, with lists beside them.
  Term steps(int index, OperandSet set, ListSet beside) const {
    const Intersection* both = variables_.intersection(lists_of(index, set) | beside);
    return both != nullptr ? both->steps : trips(index, set);
  }

  void add_steps(Term steps, std::size_t comparisons) {
    cost_.time.insert(cost_.time.end(), comparisons, make_term(steps, Access::merged));
  }

  /// The sparse operands that a statement reads.
  OperandSet operands_of(const StatementPtr& statement) const {
    OperandSet all = 0;
    for (const index_notation::Access& read : concrete_notation::reads(statement)) {
      if (const auto operand = operands_.number(read)) all |= OperandSet{1} << *operand;
    }
    return all;
  }

  /// Notes the loops that walk the list of the branch's vector. Its producer was walked last.
  void give_list(const Where& both) {
    const auto loops = list_loops(both, operands_);
    for (const Forall* loop : loops) lists_walked_[loop] = last_entries_;
  }

  /// Adds the trips of a leaf and of the costly calls in it.
  void add_leaf(const Assign& leaf, const Position& position) {
    const bool of_list = !position.above.empty() && position.above.back().list != nullptr;
    const Access access = of_list ? Access::gathered : this->access(leaf, position);
    last_leaf_.clear();
    const auto add = [&](const std::vector<Term>& sum) {
      for (Term trips : sum) {
        cost_.time.push_back(make_term(trips | position.serial, access));
        last_leaf_.push_back(trips | position.serial);
      }
    };
    const IterationSpace space = space_of(leaf, {});
    last_entries_ = entries_of(leaf, space, position);
    if (const auto walked = walked_entries(leaf, space, position)) {
      const auto [entries, steps] = counted_trips(*walked, position);
      add(entries);
      add_calls(leaf, position, &entries);
      OperandSet all = 0;
      for (const OperandSet way : walked->stored) all |= way;
      const std::size_t comparisons =
          comparisons_of(lists_of(position.above.back().index, all), walked->stored);
      for (Term each : steps) add_steps(each | position.serial, comparisons);
      return;
    }
    add(trips_of(space, position));
    if (!papers_) add_calls(leaf, position, nullptr);
  }

  /// The elements of a vector that a leaf writes, at most: the trips of the loops down to the one over its
  /// index. Of other targets nothing.
  std::vector<Term> entries_of(const Assign& leaf, const IterationSpace& space, Position position) const {
    if (papers_ || leaf.target.indices.size() != 1) return {};
    const int index = number(leaf.target.indices.front());
    auto& above = position.above;
    while (!above.empty() && above.back().index != index) above.pop_back();
    position.shared = std::min(position.shared, above.size());
    std::vector<Term> sum = trips_of(space, position);
    for (Term& each : sum) each |= position.serial;
    return sum;
  }

  /// Adds the costly calls of a leaf. `entries`: the trips of those that the innermost loop changes, where it
  /// walks entries; null: the loops above tell them.
  void add_calls(const Assign& leaf, const Position& position, const std::vector<Term>* entries) {
    const IterationSpace space = space_of(leaf, {});
    for (const index_notation::Expression* call : index_notation::costly_calls(leaf.value)) {
      const Position known = known_before(*call, position);
      const bool each = entries != nullptr && known.above.size() == position.above.size();
      for (Term trips : each ? *entries : trips_of(space, known))
        cost_.time.push_back(make_term(trips | position.serial, Access::function));
    }
  }

  /// Returns the loops that walk entries instead of everything. Nothing of other leaves.
  std::optional<CountedLoops> walked_entries(const Assign& leaf, const IterationSpace& space,
                                             const Position& position) const {
    if (papers_ || space != everywhere || !in_blocks_.empty() || position.above.empty() ||
        position.above.back().list != nullptr)
      return std::nullopt;
    std::vector<std::string> indices;
    for (std::size_t n = position.above.size(); n-- > 1 && indices.size() < position.own.size();)
      indices.push_back(variables_.extents[static_cast<std::size_t>(position.above[n].index)].index);
    return counted_loops(leaf, indices, operands_, [&](OperandSet way, const std::string& index) {
      return bounds(way, number(index));
    });
  }

  /// Returns the trips of a reduction whose innermost loops walk these entries, and the steps of the
  /// innermost one. There is a term for each way to be stored; without any the loops around have the trips.
  std::pair<std::vector<Term>, std::vector<Term>> counted_trips(const CountedLoops& walked,
                                                                Position position) const {
    std::vector<Term> sum, merged;
    const int innermost = position.above.back().index;
    std::vector<int> outer;
    for (std::size_t n = 0; n < walked.loops; ++n) {
      if (n > 0) outer.push_back(position.above.back().index);
      position.above.pop_back();
    }
    position.shared = std::min(position.shared, position.above.size());
    for (Term around : trips_of(everywhere, position)) {
      if (walked.stored.empty()) sum.push_back(around);
      for (OperandSet way : walked.stored) {
        Term inside = around;
        for (const int loop : outer) inside |= trips(loop, way);
        sum.push_back(inside | trips(innermost, way));
        merged.push_back(inside | steps(innermost, way, 0));
      }
    }
    std::sort(sum.begin(), sum.end());
    return {std::move(sum), std::move(merged)};
  }

  /// Returns the loops that a call is computed in: those below the innermost branch down to the last one
  /// that changes its arguments. Lowering computes it there, in blocks with the leaf.
  Position known_before(const index_notation::Expression& call, Position position) const {
    if (!in_blocks_.empty()) return position;
    const auto indices = index_notation::free_indices(call);
    std::size_t known = position.shared;
    for (std::size_t n = position.shared; n < position.above.size(); ++n) {
      const std::string& index = variables_.extents[static_cast<std::size_t>(position.above[n].index)].index;
      if (support::contains(indices, index)) known = n + 1;
    }
    position.above.resize(known);
    return position;
  }

  /// Returns the trips of the loops above, together, for a statement that is needed in `space`. They are a
  /// sum with a term for each way to be needed.
  std::vector<Term> trips_of(const IterationSpace& space, const Position& position) const {
    std::vector<Term> sum;
    for (OperandSet needed : space) {
      std::map<IterationSpace, OperandSet> chosen;
      add_trips(needed, position, 0, 0, chosen, sum);
    }
    std::sort(sum.begin(), sum.end());
    sum.erase(std::unique(sum.begin(), sum.end()), sum.end());
    return sum;
  }

  /// A loop of its own counts what the statement needs. A shared one counts that as well when the statement's
  /// own operands bound it; else it turns for each way in which anything below is needed, the same way at
  /// every loop that all of it shares.
  void add_trips(OperandSet needed, const Position& position, std::size_t at, Term product,
                 std::map<IterationSpace, OperandSet>& chosen, std::vector<Term>& sum) const {
    if (at == position.above.size()) {
      sum.push_back(product);
      return;
    }
    const Loop& loop = position.above[at];
    if (loop.determined) return add_trips(needed, position, at + 1, product, chosen, sum);
    if (loop.list != nullptr) {
      for (const Term entries : *loop.list)
        add_trips(needed, position, at + 1, product | entries, chosen, sum);
      return;
    }
    const bool blocked =
        in_blocks_.count(variables_.extents[static_cast<std::size_t>(loop.index)].index) != 0;
    const auto go_on = [&](OperandSet set) {
      add_trips(needed, position, at + 1, product | trips(loop.index, set), chosen, sum);
    };
    if (loop.space.size() == 1)
      return go_on(at < position.shared || blocked ? needed | loop.space.front() : needed);
    if (at >= position.shared || loop.space.empty() || bounds(needed, loop.index)) return go_on(needed);
    if (const auto same = chosen.find(loop.space); same != chosen.end()) return go_on(same->second);
    for (OperandSet way : loop.space) {
      chosen[loop.space] = way;
      go_on(way);
    }
    chosen.erase(loop.space);
  }

  /// Returns the points at which a statement has to be computed; temporaries that are produced in it are
  /// known by their producers.
  IterationSpace space_of(const StatementPtr& statement, KnownTemporaries known) const {
    if (const auto* loop = std::get_if<Forall>(&statement->node))
      return space_of(loop->body, std::move(known));
    if (const auto* blocks = std::get_if<Blocks>(&statement->node))
      return space_of(blocks->body, std::move(known));
    if (const auto* both = std::get_if<Where>(&statement->node)) {
      const Assign& producer = concrete_notation::leaf_of(both->producer);
      if (producer.monoid == problem_.semiring->sum)
        known[producer.target.tensor] = space_of(both->producer, known);
      return space_of(both->consumer, std::move(known));
    }
    if (const auto* sum = std::get_if<Terms>(&statement->node)) {
      IterationSpace all;
      for (const StatementPtr& term : sum->terms) all = unite(all, space_of(term, known));
      return all;
    }
    return space_of(std::get<Assign>(statement->node), known);
  }
  IterationSpace space_of(const Assign& leaf, const KnownTemporaries& known) const {
    return iteration_space(leaf.value, leaf.monoid, operands_, known);
  }

  /// The branch gathers entries of a sparse result and appends them (schedule/ordered_appends.h): its
  /// temporary keeps a list of what was written.
  bool is_result_workspace(const Where& both) const {
    return !papers_ && concrete_notation::workspace_levels(both, problem_).has_value();
  }

  /// A hash table has room for as many entries as the leaves below the branch have trips, in `table_elements`
  /// arrays of values, coordinates and lists; to find an entry's position costs once more what its list does.
  void table(const Position& position) {
    // Without the variables of loops above the branch: the table holds the entries of one of their
    // iterations.
    Term own = variables_mask;
    for (const Loop& loop : position.above) {
      const std::string& index = variables_.extents[static_cast<std::size_t>(loop.index)].index;
      own &= ~extent(index);
      for (std::size_t n = 0; n < variables_.fibers.size(); ++n) {
        if (variables_.fibers[n].index == index) own &= ~(Term{1} << (Variables::first_fiber + n));
      }
    }
    for (Term trips : last_leaf_) {
      for (std::size_t n = 0; n < table_elements; ++n) add_memory(trips & own, Scope::thread);
      cost_.time.push_back(make_term(trips, Access::gathered));
    }
  }

  /// Adds the arrays of a temporary and the clearing that it needs.
  void branch(const Where& both, const Position& position, bool listed) {
    const IterationSpace written = space_of(both.producer, {});
    Term extents = 0;
    Term reached = 0;
    for (const std::string& index : leaf_of(both.producer).target.indices) {
      extents |= extent(index);
      reached |= reachable(index, in_blocks_.count(index) != 0 ? in_blocks_.at(index).space : written);
    }
    const auto entries = position.phase ? concrete_notation::stored_by_entries(both, problem_) : std::nullopt;
    const Term elements = entries ? entries_of(*entries) : extents;
    const bool hashed = both.storage == concrete_notation::Storage::hash;
    const Scope scope = position.phase ? Scope::shared : Scope::thread;
    if (!hashed) add_memory(elements, scope);
    if (listed && !hashed) add_memory(extents, scope);  // the list and flags
    // An array of the whole result is made zero once, however few of its elements are written.
    if (listed && position.phase && !hashed) cost_.time.push_back(make_term(extents, Access::cleared));
    if (papers_ || listed) return;
    if (position.phase && problem_.mask_of(leaf_of(both.producer).target.tensor) != nullptr)
      return cost_.time.push_back(make_term(elements, Access::cleared));
    // Elements are written before they are read.
    if (concrete_notation::writes_whole_mask(both, problem_)) return;
    std::vector<Term> clear;
    for (Term above : trips_of(written, position)) {
      if (const Term term = clearing(position.phase, above | position.serial, reached, extents); term != 0)
        clear.push_back(term);
    }
    std::sort(clear.begin(), clear.end());
    clear.erase(std::unique(clear.begin(), clear.end()), clear.end());
    cost_.time.insert(cost_.time.end(), clear.begin(), clear.end());
  }

  /// Adds an array of a temporary; within blocks it has the elements of one block.
  void add_memory(Term elements, Scope scope) {
    cost_.memory.push_back(elements);
    MemoryTerm& term = memory_.emplace_back(MemoryTerm{elements, scope});
    for (const auto& [index, block] : in_blocks_) {
      if (block.size == 0 || (elements & extent(index)) == 0) continue;
      term.product &= ~extent(index);
      term.block *= block.size;
    }
  }

  /// Adds the listing, sorting and appending of what the producer wrote, entry by entry. These are all
  /// elements when it writes all of them, else at most as many as it writes.
  void append(const Where& both, const Position& position) {
    const IterationSpace written = space_of(both.producer, {});
    const auto& indices = leaf_of(both.producer).target.indices;
    Term extents = 0;
    for (const std::string& index : indices) extents |= extent(index);
    const bool all = std::any_of(written.begin(), written.end(), [&](OperandSet way) {
      return std::none_of(indices.begin(), indices.end(),
                          [&](const std::string& index) { return bounds(way, number(index)); });
    });
    if (!all) {
      // Terms seldom meet in an entry; products do, and list it once.
      const Access listed = concrete_notation::adds_terms(both.producer) ? Access::merged : Access::gathered;
      for (Term trips : last_leaf_) cost_.time.push_back(make_term(trips, listed));
      return;
    }
    for (Term above : trips_of(written, position))
      cost_.time.push_back(make_term(above | extents | position.serial, Access::gathered));
  }

  /// Returns an upper bound of the values of a temporary's index that its producer may write, as one product.
  Term reachable(const std::string& index, const IterationSpace& written) const {
    return written.size() == 1 ? trips(number(index), written.front()) : extent(index);
  }

  /// The entries of a pattern that has all indices of a temporary.
  Term entries_of(const index_notation::Access& pattern) const {
    const auto operand = operands_.number(pattern);
    Term entries = 0;
    for (const std::string& index : pattern.indices)
      entries |= operand ? trips(number(index), OperandSet{1} << *operand) : extent(index);
    return entries;
  }

  int number(const std::string& index) const { return number_of(variables_, index); }
  Term extent(const std::string& index) const { return Term{1} << number(index); }

  /// The lists of these operands that a loop over the index walks.
  ListSet lists_of(int index, OperandSet set) const {
    ListSet lists = 0;
    for (OperandSet rest = set; rest != 0; rest &= rest - 1)
      lists |= lists_[static_cast<std::size_t>(std::countr_zero(rest))][static_cast<std::size_t>(index)];
    return lists;
  }

  /// The matches of the lists that are merged, else the first fiber of these operands with this index, of
  /// levels that are located last; else the extent.
  Term trips(int index, OperandSet set) const {
    const std::string& name = variables_.extents[static_cast<std::size_t>(index)].index;
    if (const Intersection* both = variables_.intersection(lists_of(index, set))) return both->matches;
    Term located = 0;
    for (std::size_t n = 0; n < variables_.fibers.size(); ++n) {
      if (!is_fiber(variables_.fibers[n]) || !binds(variables_.fibers[n], name, set)) continue;
      const Term fiber = Term{1} << (Variables::first_fiber + static_cast<int>(n));
      if (!is_located(variables_.fibers[n])) return fiber;
      if (located == 0) located = fiber;
    }
    return located != 0 ? located : Term{1} << index;
  }
  /// The fiber belongs to the index in an access of these operands.
  bool binds(const Variable& fiber, const std::string& index, OperandSet set) const {
    if (fiber.index != index) return false;
    for (OperandSet rest = set; rest != 0; rest &= rest - 1) {
      const index_notation::Access& read = operands_.at(std::countr_zero(rest));
      if (read.tensor != fiber.tensor) continue;
      if (walks(read.indices, problem_.formats.at(read.tensor), fiber.level, index)) return true;
    }
    return false;
  }
  bool is_located(const Variable& fiber) const {
    return format::is_located(
        problem_.formats.at(fiber.tensor).levels[static_cast<std::size_t>(fiber.level)]);
  }
  /// The operands store the index sparsely: its loop counts less than the extent.
  bool bounds(OperandSet set, int index) const { return trips(index, set) != Term{1} << index; }

  /// All blocks of a loop together count what the loop would count.
  IterationSpace counted(const std::string& index, const StatementPtr& body) const {
    const auto blocked = in_blocks_.find(index);
    return blocked != in_blocks_.end() ? blocked->second.space : space_of(body, {});
  }

  Access access(const Assign& leaf, const Position& position) const {
    if (papers_) return Access::contiguous;
    LoopsAbove loops{position.own, position.phase, -1, {}};
    if (position.shared > 0) loops.shared = position.above[position.shared - 1].index;
    for (const Loop& each : position.above) {
      if (each.determined)
        loops.determined[variables_.extents[static_cast<std::size_t>(each.index)].index] =
            each.determined->value;
    }
    return access_class(leaf, loops, problem_, variables_);
  }

  const problem::Problem& problem_;
  bool papers_;
  bool has_coordinates_ = false;  ///< some statement has indices as numbers
  Variables variables_;
  Cost copying_;
  Operands operands_;
  std::vector<std::vector<ListSet>> lists_;  ///< by operand and index
  std::map<std::string, Block> in_blocks_;   ///< by index
  std::vector<Term> last_leaf_;              ///< trips of the leaf, or the terms, walked last
  std::vector<Term> last_entries_;           ///< elements of a vector that these write
  std::map<const Forall*, std::vector<Term>> lists_walked_;
  std::vector<MemoryTerm> memory_;
  Cost cost_;
};

TreeCosts::TreeCosts(const problem::Problem& problem) : walk_(std::make_unique<Walk>(problem)) {}
TreeCosts::~TreeCosts() = default;

Cost TreeCosts::of(const StatementPtr& statement) const { return walk_->of(statement); }

Cost of(const StatementPtr& statement, const problem::Problem& problem) {
  return TreeCosts(problem).of(statement);
}

std::vector<MemoryTerm> TreeCosts::memory_of(const StatementPtr& statement) const {
  return walk_->memory_of(statement);
}

std::vector<MemoryTerm> memory_terms(const StatementPtr& statement, const problem::Problem& problem) {
  return TreeCosts(problem).memory_of(statement);
}

}  // namespace schaas::cost
