#include "compiler/concrete_notation/verifier.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/concrete_notation/block_checks.h"
#include "compiler/concrete_notation/loop_order.h"
#include "compiler/concrete_notation/manners.h"
#include "compiler/concrete_notation/match.h"
#include "compiler/concrete_notation/program_verifier.h"
#include "compiler/concrete_notation/tree_checks.h"
#include "compiler/index_notation/printer.h"

// Why these checks are enough. Follow, for each leaf, the operands of the problem its value is a product of
// (a temporary stands for the operands of its producer) and the indices already summed in it. A leaf sums
// over a loop when the loop lies between the place where the leaf's target is zeroed and the leaf, and the
// target does not have the index. Such a sum is right exactly when the index is not one of the result, all
// operands that have it are already factors of the value (else the rest would be multiplied outside the sum:
// no distributive law), and it has not been summed before. If every operand is used exactly once, and every
// sum is right, the result's leaf receives the problem's value.
namespace schaas::concrete_notation {
namespace {

using index_notation::Access;
using support::Result;

template <class Container>
bool has(const Container& container, const std::string& name) {
  return std::find(container.begin(), container.end(), name) != container.end();
}

/// What a statement computes: its target, the operands multiplied into it, the indices summed.
struct Value {
  Access target;
  std::vector<Access> operands;
  std::set<std::string> summed;
};

/// Where the walk is: the loops above, how many of them are above the place where the present target is
/// zeroed, and the temporaries that may be read.
struct Place {
  std::vector<std::string> loops;
  std::size_t zeroed_at = 0;
  std::map<std::string, Value> temporaries;
};

class Verifier {
 public:
  explicit Verifier(const problem::Problem& problem)
      : problem_(problem),
        operands_(problem.operands()),
        indices_(index_notation::index_variables(problem.statement)),
        result_order_(result_loop_order(problem)) {}

  Result<void> run(const StatementPtr& statement) {
    SCHAAS_RETURN_IF_ERROR(check_operands(statement));
    SCHAAS_ASSIGN_OR_RETURN(const Value value, walk(statement, Place{}));
    if (!(value.target == problem_.statement.result)) {
      return illegal("the tree computes " + quoted(value.target) + " instead of " +
                     quoted(problem_.statement.result));
    }
    // Every temporary is read by its consumer, so nothing can be missing here.
    SCHAAS_CHECK(value.operands.size() == operands_.size(), "an operand was lost on the way to the result");
    return {};
  }

 private:
  /// Every operand of the problem is read exactly once, wherever.
  Result<void> check_operands(const StatementPtr& statement) const {
    std::vector<Access> missing = operands_;
    for (const Access& access : reads(statement)) {
      if (!problem_.formats.count(access.tensor)) continue;
      const auto found = std::find(missing.begin(), missing.end(), access);
      if (found != missing.end()) {
        missing.erase(found);
      } else if (std::find(operands_.begin(), operands_.end(), access) != operands_.end()) {
        return illegal(quoted(access) + " is used more often than in " + quoted(statement_text()));
      } else {
        return illegal(quoted(access) + " is not an operand of " + quoted(statement_text()));
      }
    }
    if (!missing.empty()) return illegal(quoted(missing.front()) + " is not used anywhere in the tree");
    return {};
  }

  Result<Value> walk(const StatementPtr& statement, const Place& place) {
    return match(
        statement->node, [&](const Forall& loop) { return walk_loop(loop, place); },
        [&](const Blocks& blocks) { return walk_blocks(blocks, place); },
        [&](const Where& branch) { return walk_where(branch, place); },
        [&](const Terms&) -> Result<Value> {
          return illegal("`terms` stand in a tree of " + quoted(statement_text()) + ", which is no sum");
        },
        [&](const Assign& leaf) { return walk_leaf(leaf, place); });
  }

  Result<Value> walk_loop(const Forall& loop, const Place& place) {
    if (!has(indices_, loop.index)) {
      return illegal("loop " + quoted(loop.index) + " is over no index of " + quoted(statement_text()));
    }
    if (has(place.loops, loop.index)) {
      return illegal("loop " + quoted(loop.index) + " stands inside another loop " + quoted(loop.index));
    }
    Place inner = place;
    inner.loops.push_back(loop.index);
    return walk(loop.body, inner);
  }

  /// Each value of the index is in exactly one block, so the loops inside sum as one loop would.
  Result<Value> walk_blocks(const Blocks& blocks, const Place& place) {
    if (!has(indices_, blocks.index)) {
      return illegal("blocks of " + quoted(blocks.index) + " are of no index of " + quoted(statement_text()));
    }
    SCHAAS_RETURN_IF_ERROR(check_blocks(blocks, place.loops, problem_));
    return walk(blocks.body, place);
  }

  Result<Value> walk_where(const Where& branch, const Place& place) {
    Place producing = place;
    producing.zeroed_at = place.loops.size();
    SCHAAS_ASSIGN_OR_RETURN(Value temporary, walk(branch.producer, producing));
    const std::string name = temporary.target.tensor;
    if (problem_.formats.count(name)) {
      return illegal("the producer of a `where` writes " + quoted(temporary.target) +
                     ", which is no temporary but a tensor of the problem");
    }
    if (!temporaries_.insert(name).second) {
      return illegal("temporary " + quoted(name) + " has two producers");
    }
    SCHAAS_RETURN_IF_ERROR(check_read_once(branch, temporary.target));
    Place consuming = place;
    consuming.temporaries.insert_or_assign(name, std::move(temporary));
    return walk(branch.consumer, consuming);
  }

  static Result<void> check_read_once(const Where& branch, const Access& temporary) {
    const auto accesses = reads(branch.consumer);
    const auto count = std::count_if(accesses.begin(), accesses.end(),
                                     [&](const Access& access) { return access.tensor == temporary.tensor; });
    if (count == 1) return {};
    return illegal("temporary " + quoted(temporary) + " is read " + std::to_string(count) +
                   " times by the consumer of its `where` instead of once");
  }

  Result<Value> walk_leaf(const Assign& leaf, const Place& place) const {
    Value value;
    value.target = leaf.target;
    SCHAAS_RETURN_IF_ERROR(check_kind(leaf));
    SCHAAS_RETURN_IF_ERROR(check_bound(leaf.target, place.loops));
    SCHAAS_RETURN_IF_ERROR(check_target(leaf, place));
    for (const Access& factor : index_notation::operands(leaf.value)) {
      SCHAAS_RETURN_IF_ERROR(check_bound(factor, place.loops));
      SCHAAS_RETURN_IF_ERROR(check_order(loop_order(factor, problem_), place.loops));
      SCHAAS_RETURN_IF_ERROR(multiply(factor, place, value));
    }
    for (std::size_t n = place.zeroed_at; n < place.loops.size(); ++n) {
      if (has(leaf.target.indices, place.loops[n])) continue;
      SCHAAS_RETURN_IF_ERROR(sum(place.loops[n], leaf, value));
    }
    return value;
  }

  Result<void> check_kind(const Assign& leaf) const {
    if (!index_notation::is_product(leaf.value)) {
      return illegal("`" + index_notation::print(leaf.value) + "` is no product of operands of " +
                     quoted(statement_text()));
    }
    if (leaf.monoid == problem_.semiring->sum) return {};
    return illegal(quoted(leaf.target) + " is written with `" + assignment_sign(leaf.monoid) +
                   "` instead of `" + assignment_sign(problem_.semiring->sum) + "`");
  }

  Result<void> check_target(const Assign& leaf, const Place& place) const {
    const Access& target = leaf.target;
    if (target.tensor == problem_.statement.result.tensor) return check_order(result_order_, place.loops);
    if (problem_.formats.count(target.tensor))
      return illegal("the tree writes the operand " + quoted(target));
    std::set<std::string> seen;
    for (const auto& index : target.indices) {
      const auto depth = std::find(place.loops.begin(), place.loops.end(), index) - place.loops.begin();
      if (static_cast<std::size_t>(depth) < place.zeroed_at) {
        return illegal("index " + quoted(index) + " of temporary " + quoted(target) +
                       " is bound outside its `where`, so every value of it is zeroed but one is used");
      }
      if (!seen.insert(index).second) {
        return illegal("temporary " + quoted(target) + " has index " + quoted(index) + " twice");
      }
    }
    return {};
  }

  Result<void> multiply(const Access& factor, const Place& place, Value& value) const {
    if (problem_.formats.count(factor.tensor)) {
      value.operands.push_back(factor);
      return {};
    }
    const auto found = place.temporaries.find(factor.tensor);
    if (found == place.temporaries.end()) {
      return illegal("temporary " + quoted(factor) + " is read where no `where` above has produced it");
    }
    const Value& temporary = found->second;
    if (!(temporary.target == factor)) {
      return illegal("temporary " + quoted(temporary.target) + " is read as " + quoted(factor));
    }
    value.operands.insert(value.operands.end(), temporary.operands.begin(), temporary.operands.end());
    for (const auto& index : temporary.summed) value.summed.insert(index);
    return {};
  }

  Result<void> sum(const std::string& index, const Assign& leaf, Value& value) const {
    const std::string where = "loop " + quoted(index) + " around " + quoted(leaf.target);
    if (has(problem_.statement.result.indices, index)) {
      return illegal(where + " sums over an index of the result " + quoted(problem_.statement.result));
    }
    std::vector<Access> missing = operands_;
    for (const Access& operand : value.operands)
      missing.erase(std::find(missing.begin(), missing.end(), operand));
    for (const Access& operand : missing) {
      if (has(operand.indices, index)) {
        return illegal(where + " sums over " + quoted(index) + " before " + quoted(operand) +
                       " has been multiplied in");
      }
    }
    if (!value.summed.insert(index).second) {
      return illegal(where + " sums over " + quoted(index) + ", which has been summed before");
    }
    return {};
  }

  std::string statement_text() const { return index_notation::print(problem_.statement); }

  const problem::Problem& problem_;
  std::vector<Access> operands_;
  std::vector<std::string> indices_;
  std::vector<LoopOrder> result_order_;
  std::set<std::string> temporaries_;
};

}  // namespace

Result<void> verify(const StatementPtr& statement, const problem::Problem& problem) {
  SCHAAS_RETURN_IF_ERROR(check_manners(statement, problem));
  if (!problem::is_contraction(problem)) return verify_program(statement, problem);
  return Verifier(problem).run(statement);
}

}  // namespace schaas::concrete_notation
