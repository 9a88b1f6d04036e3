#include <algorithm>
#include <map>
#include <optional>

#include "compiler/cost/access.h"
#include "compiler/cost/cost.h"
#include "compiler/support/result.h"

namespace schaas::cost {
namespace {

using concrete_notation::Assign;
using concrete_notation::Blocks;
using concrete_notation::Forall;
using concrete_notation::StatementPtr;
using concrete_notation::Where;

/// The access a statement leaves its value in: its last consumer's target.
const index_notation::Access& target_of(const StatementPtr& statement) {
  if (const auto* loop = std::get_if<Forall>(&statement->node)) return target_of(loop->body);
  if (const auto* blocks = std::get_if<Blocks>(&statement->node)) return target_of(blocks->body);
  if (const auto* both = std::get_if<Where>(&statement->node)) return target_of(both->consumer);
  return std::get<Assign>(statement->node).target;
}

bool has(const index_notation::Access& access, const std::string& index) {
  return std::find(access.indices.begin(), access.indices.end(), index) != access.indices.end();
}

class TreeCost {
 public:
  explicit TreeCost(const problem::Problem& problem)
      : problem_(problem),
        papers_(problem.profile == problem::Profile::sparseauto),
        variables_(variables_of(problem)) {}

  Cost of(const StatementPtr& statement) {
    walk(statement, {});
    std::sort(cost_.time.begin(), cost_.time.end());
    std::sort(cost_.memory.begin(), cost_.memory.end());
    return std::move(cost_);
  }

 private:
  /// Where a walk stands.
  struct Place {
    Term above = 0;          ///< the product of the loops above, serial when their phase is
    std::vector<int> own{};  ///< the loops below the innermost branch above, outermost first; of blocks none
    bool phase = true;       ///< no loop is above that branch: the first of `own` is a phase's outermost
    bool outermost() const { return phase && own.empty(); }
  };

  void walk(const StatementPtr& statement, Place place) {
    if (const auto* loop = std::get_if<Forall>(&statement->node)) {
      if (place.outermost() && !papers_ && !has(target_of(statement), loop->index)) place.above |= serial_bit;
      place.above |= counted(loop->index, loop->body);
      if (in_blocks_.count(loop->index) == 0) place.own.push_back(number(loop->index));
      walk(loop->body, std::move(place));
    } else if (const auto* blocks = std::get_if<Blocks>(&statement->node)) {
      if (place.outermost() && !papers_ && !has(target_of(statement), blocks->index))
        place.above |= serial_bit;
      place.phase = false;
      const auto outside = in_blocks_;
      in_blocks_[blocks->index] = trips(blocks->index, blocks->body);
      walk(blocks->body, std::move(place));
      in_blocks_ = outside;
    } else if (const auto* both = std::get_if<Where>(&statement->node)) {
      const Place inside{place.above, {}, place.outermost()};
      branch(*both, inside);
      walk(both->producer, inside);
      walk(both->consumer, inside);
    } else {
      const auto& leaf = std::get<Assign>(statement->node);
      cost_.time.push_back(make_term(place.above, access(leaf, place)));
    }
  }

  void branch(const Where& both, const Place& place) {
    Term extents = 0;
    Term reached = 0;
    for (const std::string& index : target_of(both.producer).indices) {
      extents |= extent(index);
      reached |= counted(index, both.producer);
    }
    cost_.memory.push_back(extents);
    if (const Term term = clearing(place.phase, place.above, reached, extents); term != 0 && !papers_)
      cost_.time.push_back(term);
  }

  int number(const std::string& index) const {
    for (std::size_t n = 0; n < variables_.extents.size(); ++n) {
      if (variables_.extents[n].index == index) return static_cast<int>(n);
    }
    throw support::InternalError("the tree has a loop over `" + index + "`, which the problem does not have");
  }
  Term extent(const std::string& index) const { return Term{1} << number(index); }

  /// The fiber of the first compressed level in `body` with this index, else the extent.
  Term trips(const std::string& index, const StatementPtr& body) const {
    std::size_t first = variables_.fibers.size();
    for (const index_notation::Access& read : concrete_notation::reads(body)) {
      const auto known = problem_.formats.find(read.tensor);
      if (known == problem_.formats.end()) continue;
      for (std::size_t n = 0; n < first; ++n) {
        const Variable& fiber = variables_.fibers[n];
        if (fiber.tensor != read.tensor || fiber.index != index) continue;
        const auto mode =
            static_cast<std::size_t>(known->second.mode_order[static_cast<std::size_t>(fiber.level)]);
        if (read.indices[mode] == index) first = n;
      }
    }
    return first < variables_.fibers.size() ? Term{1} << (Variables::first_fiber + first) : extent(index);
  }

  /// All blocks of a loop together count what the loop would count.
  Term counted(const std::string& index, const StatementPtr& body) const {
    const auto blocked = in_blocks_.find(index);
    return blocked != in_blocks_.end() ? blocked->second : trips(index, body);
  }

  Access access(const Assign& leaf, const Place& place) const {
    if (papers_ || place.own.empty()) return Access::contiguous;
    InnerLoops loops;
    if (place.own.size() > 1) loops.around = place.own[place.own.size() - 2];
    loops.around_phase = place.phase && place.own.size() == 2;
    const std::string& innermost = variables_.extents[static_cast<std::size_t>(place.own.back())].index;
    std::vector<Seen> operands;
    for (const index_notation::Access& read : index_notation::operands(leaf.value)) {
      operands.push_back(seen(read, innermost));
    }
    return leaf_access(operands, seen(leaf.target, innermost), loops);
  }

  /// A temporary is taken to be laid out so that the innermost loop of either side finds its elements side by
  /// side.
  Seen seen(const index_notation::Access& access, const std::string& loop) const {
    Seen result;
    for (const std::string& index : access.indices) result.indices |= Indices{1} << number(index);
    if (const auto known = problem_.formats.find(access.tensor); known != problem_.formats.end()) {
      result.touch = touch(access.indices, known->second, loop);
    } else if (has(access, loop)) {
      result.touch = Touch::adjacent;
    }
    return result;
  }

  const problem::Problem& problem_;
  bool papers_;
  Variables variables_;
  std::map<std::string, Term> in_blocks_;  ///< index -> what its blocks count together
  Cost cost_;
};

}  // namespace

Cost of(const concrete_notation::StatementPtr& statement, const problem::Problem& problem) {
  return TreeCost(problem).of(statement);
}

}  // namespace schaas::cost
