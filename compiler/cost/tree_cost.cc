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

/// One walk over a tree; `loops_` is the product of the loops above.
class TreeCost {
 public:
  explicit TreeCost(const problem::Problem& problem) : problem_(problem), variables_(variables_of(problem)) {}

  Cost of(const StatementPtr& statement) {
    walk(statement, 0, "");
    std::sort(cost_.time.begin(), cost_.time.end());
    std::sort(cost_.memory.begin(), cost_.memory.end());
    return std::move(cost_);
  }

 private:
  void walk(const StatementPtr& statement, Term loops, const std::string& innermost) {
    if (const auto* loop = std::get_if<Forall>(&statement->node)) {
      walk(loop->body, loops | trips(*loop), loop->index);
    } else if (const auto* blocks = std::get_if<Blocks>(&statement->node)) {
      const auto outside = in_blocks_;
      in_blocks_[blocks->index] = trips(blocks->index, blocks->body);
      walk(blocks->body, loops, innermost);
      in_blocks_ = outside;
    } else if (const auto* both = std::get_if<Where>(&statement->node)) {
      Term elements = 0;
      for (const std::string& index : target_of(both->producer).indices) elements |= extent(index);
      cost_.memory.push_back(elements);
      walk(both->producer, loops, innermost);
      walk(both->consumer, loops, innermost);
    } else {
      const auto& leaf = std::get<Assign>(statement->node);
      cost_.time.push_back(make_term(loops, access(leaf, innermost)));
    }
  }

  Term extent(const std::string& index) const {
    for (std::size_t n = 0; n < variables_.extents.size(); ++n) {
      if (variables_.extents[n].index == index) return Term{1} << n;
    }
    throw support::InternalError("the tree has a loop over `" + index + "`, which the problem does not have");
  }

  /// The fiber of the first compressed level below with this index, else the extent.
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
  Term trips(const Forall& loop) const {
    const auto blocked = in_blocks_.find(loop.index);
    return blocked != in_blocks_.end() ? blocked->second : trips(loop.index, loop.body);
  }

  Access access(const Assign& leaf, const std::string& innermost) const {
    if (problem_.profile == problem::Profile::sparseauto || innermost.empty()) return Access::contiguous;
    std::vector<Touch> operands;
    for (const index_notation::Access& read : index_notation::operands(leaf.value)) {
      operands.push_back(touch_of(read, innermost));
    }
    return leaf_access(operands, touch_of(leaf.target, innermost));
  }

  /// A temporary is laid out so that the innermost loop of either side finds its elements side by side.
  Touch touch_of(const index_notation::Access& access, const std::string& loop) const {
    if (const auto known = problem_.formats.find(access.tensor); known != problem_.formats.end()) {
      return touch(access.indices, known->second, loop);
    }
    const bool has = std::find(access.indices.begin(), access.indices.end(), loop) != access.indices.end();
    return has ? Touch::adjacent : Touch::absent;
  }

  const problem::Problem& problem_;
  Variables variables_;
  std::map<std::string, Term> in_blocks_;  ///< index -> what its blocks count together
  Cost cost_;
};

}  // namespace

Cost of(const concrete_notation::StatementPtr& statement, const problem::Problem& problem) {
  return TreeCost(problem).of(statement);
}

}  // namespace schaas::cost
