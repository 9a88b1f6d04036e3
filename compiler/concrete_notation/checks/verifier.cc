#include "compiler/concrete_notation/checks/verifier.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/concrete_notation/checks/annotation_checks.h"
#include "compiler/concrete_notation/checks/block_checks.h"
#include "compiler/concrete_notation/checks/program_verifier.h"
#include "compiler/concrete_notation/loop_order.h"
#include "compiler/concrete_notation/match.h"
#include "compiler/concrete_notation/tree_checks.h"
#include "compiler/index_notation/printer.h"
#include "compiler/support/contains.h"

// Verification of contractions by one walk.
// For each leaf, the walk follows the operands of the problem that its value is a product of, and the indices
// already summed in it. A temporary stands for the operands of its producer. A leaf sums over a loop between
// the start value of its target and the leaf when the target does not have the index. Such a sum is right
// under three conditions. The index is not one of the result; it has not been summed before; all operands
// that have it are already factors of the value. Other operands would be multiplied outside the sum, against
// the distributive law. If every operand is used exactly once, and every sum is right, the result's leaf
// receives the problem's value.
namespace schaas::concrete_notation {
namespace {

using index_notation::Access;
using support::Result;

/// Target of a statement, the operands multiplied into it, and the summed indices.
struct ProductValue {
  Access target;
  std::vector<Access> operands;
  std::set<std::string> summed;
};

/// State of the walk: the loops above, how many of them are above the start value of the present target, and
/// the readable temporaries.
struct ProductContext {
  std::vector<std::string> loops;
  std::size_t zeroed_at = 0;
  std::map<std::string, ProductValue> temporaries;
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
    SCHAAS_ASSIGN_OR_RETURN(const ProductValue value, walk(statement, ProductContext{}));
    if (!(value.target == problem_.statement.result)) {
      return illegal("the tree computes " + quoted(value.target) + " instead of " +
                     quoted(problem_.statement.result));
    }
    // Every temporary is read by its consumer, so nothing can be missing here.
    SCHAAS_CHECK(value.operands.size() == operands_.size(), "an operand was lost on the way to the result");
    return {};
  }

 private:
  /// Every operand of the problem is read exactly once.
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

  Result<ProductValue> walk(const StatementPtr& statement, const ProductContext& context) {
    return match(
        statement->node, [&](const Forall& loop) { return walk_loop(loop, context); },
        [&](const Blocks& blocks) { return walk_blocks(blocks, context); },
        [&](const Where& branch) { return walk_where(branch, context); },
        [&](const Terms&) -> Result<ProductValue> {
          return illegal("`terms` stand in a tree of " + quoted(statement_text()) + ", which is no sum");
        },
        [&](const Assign& leaf) { return walk_leaf(leaf, context); });
  }

  Result<ProductValue> walk_loop(const Forall& loop, const ProductContext& context) {
    if (!support::contains(indices_, loop.index)) {
      return illegal("loop " + quoted(loop.index) + " is over no index of " + quoted(statement_text()));
    }
    if (support::contains(context.loops, loop.index)) {
      return illegal("loop " + quoted(loop.index) + " stands inside another loop " + quoted(loop.index));
    }
    ProductContext inner = context;
    inner.loops.push_back(loop.index);
    return walk(loop.body, inner);
  }

  /// Each value of the index is in exactly one block, so the loops inside sum like one loop.
  Result<ProductValue> walk_blocks(const Blocks& blocks, const ProductContext& context) {
    if (!support::contains(indices_, blocks.index)) {
      return illegal("blocks of " + quoted(blocks.index) + " are of no index of " + quoted(statement_text()));
    }
    SCHAAS_RETURN_IF_ERROR(check_blocks(blocks, context.loops, problem_));
    return walk(blocks.body, context);
  }

  /// Verifies the producer, then the consumer with the temporary. Loops above the branch are above its start
  /// value.
  Result<ProductValue> walk_where(const Where& branch, const ProductContext& context) {
    ProductContext producing = context;
    producing.zeroed_at = context.loops.size();
    SCHAAS_ASSIGN_OR_RETURN(ProductValue temporary, walk(branch.producer, producing));
    const std::string name = temporary.target.tensor;
    if (problem_.formats.count(name)) {
      return illegal("the producer of a `where` writes " + quoted(temporary.target) +
                     ", which is no temporary but a tensor of the problem");
    }
    if (!temporaries_.insert(name).second) {
      return illegal("temporary " + quoted(name) + " has two producers");
    }
    SCHAAS_RETURN_IF_ERROR(check_read_once(branch, temporary.target));
    ProductContext consuming = context;
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

  /// Collects the operands of a leaf, then the sums over loops that its target lacks.
  Result<ProductValue> walk_leaf(const Assign& leaf, const ProductContext& context) const {
    ProductValue value;
    value.target = leaf.target;
    SCHAAS_RETURN_IF_ERROR(check_kind(leaf));
    SCHAAS_RETURN_IF_ERROR(check_bound(leaf.target, context.loops));
    SCHAAS_RETURN_IF_ERROR(check_target(leaf, context));
    for (const Access& factor : index_notation::operands(leaf.value)) {
      SCHAAS_RETURN_IF_ERROR(check_bound(factor, context.loops));
      SCHAAS_RETURN_IF_ERROR(check_order(loop_order(factor, problem_), context.loops));
      SCHAAS_RETURN_IF_ERROR(multiply(factor, context, value));
    }
    for (std::size_t n = context.zeroed_at; n < context.loops.size(); ++n) {
      if (support::contains(leaf.target.indices, context.loops[n])) continue;
      SCHAAS_RETURN_IF_ERROR(sum(context.loops[n], leaf, value));
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

  /// Checks a target: the result in the order of its levels, or a temporary whose indices are bound inside
  /// its `where`.
  Result<void> check_target(const Assign& leaf, const ProductContext& context) const {
    const Access& target = leaf.target;
    if (target.tensor == problem_.statement.result.tensor) return check_order(result_order_, context.loops);
    if (problem_.formats.count(target.tensor))
      return illegal("the tree writes the operand " + quoted(target));
    std::set<std::string> seen;
    for (const auto& index : target.indices) {
      const auto depth = std::find(context.loops.begin(), context.loops.end(), index) - context.loops.begin();
      if (static_cast<std::size_t>(depth) < context.zeroed_at) {
        return illegal("index " + quoted(index) + " of temporary " + quoted(target) +
                       " is bound outside its `where`, so every value of it is zeroed but one is used");
      }
      if (!seen.insert(index).second) {
        return illegal("temporary " + quoted(target) + " has index " + quoted(index) + " twice");
      }
    }
    return {};
  }

  /// Adds the operands of a factor: itself, or those of the temporary's producer with what is summed there.
  Result<void> multiply(const Access& factor, const ProductContext& context, ProductValue& value) const {
    if (problem_.formats.count(factor.tensor)) {
      value.operands.push_back(factor);
      return {};
    }
    const auto found = context.temporaries.find(factor.tensor);
    if (found == context.temporaries.end()) {
      return illegal("temporary " + quoted(factor) + " is read where no `where` above has produced it");
    }
    const ProductValue& temporary = found->second;
    if (!(temporary.target == factor)) {
      return illegal("temporary " + quoted(temporary.target) + " is read as " + quoted(factor));
    }
    value.operands.insert(value.operands.end(), temporary.operands.begin(), temporary.operands.end());
    for (const auto& index : temporary.summed) value.summed.insert(index);
    return {};
  }

  /// Checks that a sum is right, by the three conditions above, and notes it.
  Result<void> sum(const std::string& index, const Assign& leaf, ProductValue& value) const {
    const std::string where = "loop " + quoted(index) + " around " + quoted(leaf.target);
    if (support::contains(problem_.statement.result.indices, index)) {
      return illegal(where + " sums over an index of the result " + quoted(problem_.statement.result));
    }
    std::vector<Access> missing = operands_;
    for (const Access& operand : value.operands)
      missing.erase(std::find(missing.begin(), missing.end(), operand));
    for (const Access& operand : missing) {
      if (support::contains(operand.indices, index)) {
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
  SCHAAS_RETURN_IF_ERROR(check_annotations(statement, problem));
  if (!problem::is_contraction(problem)) return verify_program(statement, problem);
  return Verifier(problem).run(statement);
}

}  // namespace schaas::concrete_notation
