#include "compiler/cost/leaf_nests.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compiler/concrete_notation/determined_loops.h"
#include "compiler/concrete_notation/result_workspace.h"
#include "compiler/cost/leaf_access.h"
#include "compiler/cost/listed_vectors.h"
#include "compiler/support/result.h"

// Loops and accesses of each leaf, for costs at real sizes (client/cpp/selection/traffic.h). One walk of the
// tree adds a nest for each leaf, in the order in which leaves run. Two nests share the loops that are one
// node of the tree. Temporaries are laid out last, since their rows depend on all nests that have them.
namespace schaas::cost {
namespace {

using concrete_notation::Assign;
using concrete_notation::Blocks;
using concrete_notation::Forall;
using concrete_notation::StatementPtr;
using concrete_notation::Terms;
using concrete_notation::Where;

/// Collects the nests of one tree.
class Nests {
 public:
  explicit Nests(const problem::Problem& problem)
      : problem_(problem), variables_(variables_of(problem)), operands_(problem) {}

  std::vector<LeafNest> of(const StatementPtr& statement) {
    walk(statement, {});
    lay_out_temporaries();
    return std::move(nests_);
  }

 private:
  struct Position {
    std::vector<NestLoop> loops;
    std::vector<const void*> nodes;  ///< nodes of the loops: two nests share those of one node
    /// Own loops: none over blocks, nor first inside of one.
    LoopsAbove above;
    bool serial = false;
  };

  /// Walks what is below `position`; a branch or a sum begins nests with loops of their own.
  void walk(const StatementPtr& statement, Position position) {
    if (const auto* loop = std::get_if<Forall>(&statement->node)) {
      if (auto value = determined(*loop, position)) {
        position.above.determined[loop->index] = std::move(*value);
        return walk(loop->body, std::move(position));
      }
      enter(statement, loop->index, loop->body, 0, position);
      const auto outside =
          std::find_if(position.loops.begin(), position.loops.end() - 1,
                       [&](const NestLoop& other) { return other.block != 0 && other.index == loop->index; });
      const bool inside = outside != position.loops.end() - 1;
      // A row below the first loop of a block is in the first-level cache for all of the block anyway.
      // Registers save little there (K1 in blocks of 8: 1.00 to 1.04).
      if (!inside || !position.above.own.empty())
        position.above.own.push_back(number_of(variables_, loop->index));
      if (inside) {
        position.loops.back().block = outside->block;
        position.loops.back().inside = true;
      }
      walk(loop->body, std::move(position));
    } else if (const auto* blocks = std::get_if<Blocks>(&statement->node)) {
      enter(statement, blocks->index, blocks->body, blocks->size, position);
      position.above.phase = false;
      walk(blocks->body, std::move(position));
    } else if (const auto* both = std::get_if<Where>(&statement->node)) {
      branch(position);
      if (both->storage == concrete_notation::Storage::hash)
        tables_.insert(concrete_notation::leaf_of(both->producer).target.tensor);
      walk(both->producer, position);
      const auto loops = loops_of_list(*both, position);
      const auto* only = std::get_if<Forall>(&both->consumer->node);
      if (appends(*both) || (only != nullptr && loops == std::vector{only} &&
                             std::holds_alternative<Assign>(only->body->node))) {
        ++leaves_;
      } else {
        const index_notation::Access& vector = concrete_notation::leaf_of(both->producer).target;
        for (const Forall* loop : loops) lists_walked_[loop] = list(vector.indices.front(), position);
        walk(both->consumer, std::move(position));
      }
    } else if (const auto* sum = std::get_if<Terms>(&statement->node)) {
      branch(position);
      for (const StatementPtr& term : sum->terms) walk(term, position);
    } else {
      add(std::get<Assign>(statement->node), position);
    }
  }

  /// The one value that an equation leaves the loop: such a loop moves with those around.
  std::optional<problem::LinearForm> determined(const Forall& loop, const Position& position) const {
    std::vector<std::string> around;
    for (const NestLoop& each : position.loops) {
      if (each.block != 0) return std::nullopt;
      around.push_back(each.index);
    }
    for (const auto& [index, value] : position.above.determined) around.push_back(index);
    const auto one = concrete_notation::determined_loop(loop, around, problem_);
    return one ? std::optional(one->value) : std::nullopt;
  }

  /// Loops of its own begin anew below a branch.
  void branch(Position& position) const {
    LoopsAbove& above = position.above;
    above.phase = above.phase && position.loops.empty();
    above.own.clear();
    if (!position.loops.empty()) above.shared = number_of(variables_, position.loops.back().index);
  }

  /// The branch gathers a sparse result: of its consumer's loops only what is listed runs, and the cost has
  /// it.
  bool appends(const Where& both) const {
    return concrete_notation::workspace_levels(both, problem_).has_value();
  }

  /// The loops that walk the list of the branch's vector.
  std::vector<const Forall*> loops_of_list(const Where& both, const Position& position) const {
    const bool in_blocks = std::any_of(position.loops.begin(), position.loops.end(),
                                       [](const NestLoop& loop) { return loop.block != 0; });
    if (position.loops.empty() || in_blocks) return {};
    return list_loops(both, operands_);
  }

  /// A loop over the list of what the nest before wrote: it has the trips of that nest's loop over the
  /// vector's index. With loops around that one they are fewer than the list may have.
  NestLoop list(const std::string& index, const Position& position) const {
    const std::vector<NestLoop>& loops = nests_.back().loops;
    const auto writes =
        std::find_if(loops.rbegin(), loops.rend(), [&](const NestLoop& each) { return each.index == index; });
    SCHAAS_CHECK(writes != loops.rend(), "no loop writes the vector whose list is walked");
    NestLoop walks = *writes;
    walks.under &= (std::uint32_t{1} << position.loops.size()) - 1;
    return walks;
  }

  /// Adds a loop over values (`block` 0) or over blocks. The outermost loop of a phase decides whether it is
  /// serial.
  void enter(const StatementPtr& node, const std::string& index, const StatementPtr& body, int block,
             Position& position) {
    if (position.loops.empty()) {
      const auto& written = concrete_notation::leaf_of(node).target.indices;
      position.serial = std::find(written.begin(), written.end(), index) == written.end();
    }
    NestLoop loop;
    loop.index = index;
    loop.block = block;
    loop.trips = Term{1} << number_of(variables_, index);
    const auto list = lists_walked_.find(std::get_if<Forall>(&node->node));
    if (list != lists_walked_.end()) {
      loop.trips = list->second.trips;
      loop.under = list->second.under;
    } else {
      fiber(loop, body, position);
    }
    position.loops.push_back(std::move(loop));
    position.nodes.push_back(node.get());
  }

  /// The first fiber with the loop's index of an operand below it.
  void fiber(NestLoop& loop, const StatementPtr& body, const Position& position) const {
    const std::vector<index_notation::Access> reads = concrete_notation::reads(body);
    for (std::size_t n = 0; n < variables_.fibers.size(); ++n) {
      const Variable& fiber = variables_.fibers[n];
      if (fiber.index != loop.index) continue;
      for (const index_notation::Access& read : reads) {
        const problem::Pattern* pattern = problem_.pattern_named(read.tensor);
        if ((pattern == nullptr ? read.tensor : pattern->tensor) != fiber.tensor) continue;
        const auto& order = problem_.formats.at(read.tensor).mode_order;
        const auto index_at = [&](int level) {
          return read.indices[static_cast<std::size_t>(order[static_cast<std::size_t>(level)])];
        };
        if (!walks(read.indices, problem_.formats.at(read.tensor), fiber.level, loop.index)) continue;
        loop.trips = Term{1} << (Variables::first_fiber + static_cast<int>(n));
        for (int level = 0; level < fiber.level; ++level) loop.under |= moved_by(index_at(level), position);
        return;
      }
    }
  }

  /// Returns the loops over the index: two when it is in blocks. A determined index moves with all loops that
  /// its value has, or with those by one element that have no other factor (`unit`).
  static std::uint32_t moved_by(const std::string& index, const Position& position, bool unit = false) {
    std::uint32_t loops = 0;
    if (const auto value = position.above.determined.find(index); value != position.above.determined.end()) {
      for (const auto& [other, factor] : value->second.factors)
        if (!unit || factor == 1 || factor == -1) loops |= moved_by(other, position, unit);
      return loops;
    }
    for (std::size_t n = 0; n < position.loops.size(); ++n) {
      if (position.loops[n].index == index) loops |= std::uint32_t{1} << n;
    }
    return loops;
  }

  /// Adds a leaf's nest and counts the outermost loops it shares with the nest before.
  void add(const Assign& leaf, const Position& position) {
    LeafNest nest;
    nest.loops = position.loops;
    nest.serial = position.serial;
    nest.access = access_class(leaf, position.above, problem_, variables_);
    add(leaf.target, position, nest);
    for (const index_notation::Access& read : index_notation::operands(leaf.value)) add(read, position, nest);
    while (nest.shared < std::min(last_.size(), position.nodes.size()) &&
           last_[nest.shared] == position.nodes[nest.shared])
      ++nest.shared;
    last_ = position.nodes;
    nest.leaf = leaves_++;
    nests_.push_back(std::move(nest));
  }

  /// Adds an access of a nest. Rows of temporaries are found later (lay_out_temporaries).
  void add(const index_notation::Access& access, const Position& position, LeafNest& nest) const {
    NestAccess touched;
    const problem::Pattern* pattern = problem_.pattern_named(access.tensor);
    touched.tensor = pattern == nullptr ? access.tensor : pattern->tensor;
    const auto known = problem_.formats.find(access.tensor);
    touched.sparse = known != problem_.formats.end() && !known->second.all_dense();
    // Elements of a hash table are about as close together as if it did not move.
    touched.table = tables_.count(access.tensor) > 0;
    for (const std::string& index : access.indices) {
      if (touched.table) continue;
      const std::uint32_t loops = moved_by(index, position);
      touched.loops |= loops;
      if (position.above.determined.count(index) > 0 && std::popcount(loops) > 1)
        touched.sums.push_back(loops);
    }
    if (known == problem_.formats.end()) {
      // One block's values have the same position as those of the block before.
      for (std::size_t n = 0; n < position.loops.size(); ++n) {
        if (position.loops[n].block != 0 && !position.loops[n].inside)
          touched.loops &= ~(std::uint32_t{1} << n);
      }
    } else if (!access.indices.empty()) {
      const auto last = static_cast<std::size_t>(known->second.mode_order.back());
      touched.unit = moved_by(access.indices[last], position, true);
    }
    nest.accesses.push_back(std::move(touched));
  }

  /// A temporary's rows lie along the innermost of its loops in the deepest nest that has it, its writer's
  /// when they are equally deep (lower/nest.h).
  void lay_out_temporaries() {
    std::map<std::string, std::pair<std::size_t, std::string>> rows;  // depth, index
    each_temporary([&](const LeafNest& nest, NestAccess& access) {
      auto& [depth, index] = rows[access.tensor];
      if (access.loops == 0 || nest.loops.size() <= depth) return;
      depth = nest.loops.size();
      // The highest bit is the innermost loop that moves the temporary.
      index = nest.loops[static_cast<std::size_t>(31 - std::countl_zero(access.loops))].index;
    });
    each_temporary([&](const LeafNest& nest, NestAccess& access) {
      for (std::size_t n = 0; n < nest.loops.size(); ++n) {
        if ((access.loops >> n & 1U) != 0 && nest.loops[n].index == rows[access.tensor].second)
          access.unit |= std::uint32_t{1} << n;
      }
    });
  }

  template <class Visit>
  void each_temporary(const Visit& visit) {
    for (LeafNest& nest : nests_) {
      for (NestAccess& access : nest.accesses) {
        if (problem_.formats.count(access.tensor) == 0) visit(nest, access);
      }
    }
  }

  const problem::Problem& problem_;
  Variables variables_;
  Operands operands_;
  std::set<std::string> tables_;  ///< temporaries that are hash tables
  std::map<const Forall*, NestLoop> lists_walked_;
  std::vector<const void*> last_;  ///< the loops of the nest before
  std::size_t leaves_ = 0;         ///< assignments so far, with those that have no nest
  std::vector<LeafNest> nests_;
};

}  // namespace

std::vector<LeafNest> leaf_nests(const StatementPtr& statement, const problem::Problem& problem) {
  return Nests(problem).of(statement);
}

}  // namespace schaas::cost
