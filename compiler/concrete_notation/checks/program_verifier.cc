#include "compiler/concrete_notation/checks/program_verifier.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/concrete_notation/checks/block_checks.h"
#include "compiler/concrete_notation/loop_order.h"
#include "compiler/concrete_notation/match.h"
#include "compiler/concrete_notation/meaning.h"
#include "compiler/concrete_notation/semantics.h"
#include "compiler/concrete_notation/tree_checks.h"
#include "compiler/index_notation/printer.h"
#include "compiler/problem/sparse_factors.h"
#include "compiler/support/contains.h"

// Verification of programs by symbolic evaluation. Each leaf gets a meaning, an expression of the problem:
// temporaries are replaced by their meanings, and loops that the target lacks become a reduction.
// Intermediates keep their names, since each is compared with its own statement once. Meanings are compared
// in normal form (meaning.h). A tree that passes computes the problem; scopes of temporaries and storage
// orders are checked on the way.
namespace schaas::concrete_notation {
namespace {

using index_notation::Access;
using index_notation::Assignment;
using index_notation::Expression;
using support::Result;

/// Target of a statement and its value in terms of arguments and intermediates.
struct ProgramValue {
  Access target;
  Expression meaning;
  operators::Monoid monoid = operators::Monoid::sum;
};

struct ProgramContext {
  std::vector<std::string> loops;
  std::size_t started_at = 0;  ///< number of loops above the start value of the present target
  std::map<std::string, ProgramValue> temporaries;
  std::vector<std::string> blocked{};  ///< indices of the blocks around
};

class ProgramVerifier {
 public:
  explicit ProgramVerifier(const problem::Problem& problem)
      : problem_(problem), result_order_(result_loop_order(problem)) {}

  Result<void> run(const StatementPtr& statement) {
    SCHAAS_ASSIGN_OR_RETURN(const ProgramValue value, walk(statement, ProgramContext{}));
    if (!(value.target == problem_.statement.result)) {
      return illegal("the tree computes " + quoted(value.target) + " instead of " +
                     quoted(problem_.statement.result));
    }
    SCHAAS_RETURN_IF_ERROR(check_meaning(value, problem_.statement));
    for (const auto& intermediate : problem_.intermediates) {
      if (temporaries_.count(intermediate.result.tensor)) continue;
      return illegal("intermediate " + quoted(intermediate.result) + " is not computed anywhere in the tree");
    }
    return {};
  }

 private:
  Result<ProgramValue> walk(const StatementPtr& statement, const ProgramContext& context) {
    return match(
        statement->node, [&](const Forall& loop) { return walk_loop(loop, context); },
        [&](const Blocks& blocks) { return walk_blocks(blocks, context); },
        [&](const Where& branch) { return walk_where(branch, context); },
        [&](const Terms& sum) { return walk_terms(sum, context); },
        [&](const Assign& leaf) { return walk_leaf(leaf, context); });
  }

  Result<ProgramValue> walk_loop(const Forall& loop, const ProgramContext& context) {
    if (support::contains(context.loops, loop.index)) {
      return illegal("loop " + quoted(loop.index) + " stands inside another loop " + quoted(loop.index));
    }
    ProgramContext inner = context;
    inner.loops.push_back(loop.index);
    return walk(loop.body, inner);
  }

  /// Each value of the index is in exactly one block, so the loops inside fold like one loop into a target
  /// outside.
  Result<ProgramValue> walk_blocks(const Blocks& blocks, const ProgramContext& context) {
    SCHAAS_RETURN_IF_ERROR(check_blocks(blocks, context.loops, problem_));
    ProgramContext inner = context;
    inner.blocked.push_back(blocks.index);
    return walk(blocks.body, inner);
  }

  /// Evaluates the producer, compares an intermediate with its statement, then evaluates the consumer.
  Result<ProgramValue> walk_where(const Where& branch, const ProgramContext& context) {
    ProgramContext producing = context;
    producing.started_at = context.loops.size();
    SCHAAS_ASSIGN_OR_RETURN(ProgramValue temporary, walk(branch.producer, producing));
    const std::string name = temporary.target.tensor;
    // A temporary that collects from all blocks of an index is not read inside one of them.
    for (const std::string& index : context.blocked) {
      if (support::contains(context.loops, index) || support::contains(temporary.target.indices, index))
        continue;
      return illegal("temporary " + quoted(temporary.target) + " is complete only after all blocks of " +
                     quoted(index));
    }
    if (problem_.formats.count(name)) {
      return illegal("the producer of a `where` writes " + quoted(temporary.target) +
                     ", which is no temporary but a tensor of the problem");
    }
    if (!temporaries_.insert(name).second) {
      return illegal("temporary " + quoted(name) + " has two producers");
    }
    if (const Assignment* intermediate = intermediate_of(name)) {
      SCHAAS_RETURN_IF_ERROR(check_indices(temporary, intermediate->result, context.loops));
      SCHAAS_RETURN_IF_ERROR(check_meaning(temporary, *intermediate));
    }
    const auto accesses = reads(branch.consumer);
    if (std::none_of(accesses.begin(), accesses.end(),
                     [&](const Access& access) { return access.tensor == name; })) {
      return illegal("temporary " + quoted(temporary.target) + " is not read by the consumer of its `where`");
    }
    ProgramContext consuming = context;
    consuming.temporaries.insert_or_assign(name, std::move(temporary));
    return walk(branch.consumer, consuming);
  }

  /// All terms have one target, which gets their sum.
  Result<ProgramValue> walk_terms(const Terms& sum, const ProgramContext& context) {
    std::vector<ProgramValue> values;
    for (const StatementPtr& term : sum.terms) {
      SCHAAS_ASSIGN_OR_RETURN(ProgramValue value, walk(term, context));
      values.push_back(std::move(value));
    }
    index_notation::Call call{operators::combine(problem_.semiring->sum), {}};
    const ProgramValue& first = values.front();
    for (const ProgramValue& value : values) {
      if (!(value.target == first.target)) {
        return illegal("the terms of one sum write " + quoted(first.target) + " and " + quoted(value.target));
      }
      if (value.monoid != problem_.semiring->sum) {
        return illegal("a term is folded into " + quoted(value.target) + " with `" +
                       assignment_sign(value.monoid) + "`; terms are added");
      }
      call.arguments.push_back(value.meaning);
    }
    SCHAAS_RETURN_IF_ERROR(check_appends(first.target, context));
    return ProgramValue{first.target, Expression{std::move(call), {}}, first.monoid};
  }

  /// An entry of a sparse result is appended once, by the statement below it.
  Result<void> check_appends(const Access& target, const ProgramContext& context) const {
    if (target.tensor != problem_.statement.result.tensor) return {};
    const auto& format = problem_.formats.at(target.tensor);
    for (std::size_t level = 0; level < format.levels.size(); ++level) {
      const std::string& index = target.indices[static_cast<std::size_t>(format.mode_order[level])];
      if (format.levels[level] == format::LevelFormat::dense || support::contains(context.loops, index))
        continue;
      return illegal("every term of a sum appends to level " + quoted(index) + " of the sparse result " +
                     quoted(target) + ", which is appended to once and in order");
    }
    return {};
  }

  /// Returns the meaning of a leaf's value, reduced by its monoid over the loops that the target lacks.
  Result<ProgramValue> walk_leaf(const Assign& leaf, const ProgramContext& context) const {
    SCHAAS_RETURN_IF_ERROR(check_bound(leaf.target, context.loops));
    SCHAAS_RETURN_IF_ERROR(check_target(leaf, context));
    SCHAAS_RETURN_IF_ERROR(check_coordinates(leaf.value, context.loops));
    for (const Access& access : index_notation::operands(leaf.value)) {
      SCHAAS_RETURN_IF_ERROR(check_bound(access, context.loops));
      SCHAAS_RETURN_IF_ERROR(check_order(loop_order(access, problem_), context.loops));
    }
    SCHAAS_ASSIGN_OR_RETURN(Expression meaning, resolved(leaf.value, context));
    // Loops since the start value that the target lacks fold into one element.
    index_notation::Reduction reduction{leaf.monoid, {}, {}};
    for (std::size_t n = context.started_at; n < context.loops.size(); ++n) {
      if (!support::contains(leaf.target.indices, context.loops[n]))
        reduction.indices.push_back(context.loops[n]);
    }
    if (!reduction.indices.empty()) {
      reduction.body.push_back(std::move(meaning));
      meaning = Expression{std::move(reduction), {}};
    }
    return ProgramValue{leaf.target, std::move(meaning), leaf.monoid};
  }

  /// Checks a target: the result in the order of its levels, or a temporary whose indices are bound inside
  /// its `where`.
  Result<void> check_target(const Assign& leaf, const ProgramContext& context) const {
    const Access& target = leaf.target;
    if (target.tensor == problem_.statement.result.tensor) return check_order(result_order_, context.loops);
    if (problem_.formats.count(target.tensor))
      return illegal("the tree writes the operand " + quoted(target));
    for (const auto& index : target.indices) {
      const auto depth = std::find(context.loops.begin(), context.loops.end(), index) - context.loops.begin();
      if (static_cast<std::size_t>(depth) >= context.started_at) continue;
      return illegal("index " + quoted(index) + " of temporary " + quoted(target) +
                     " is bound outside its `where`, so every value of it is reset but one is used");
    }
    return {};
  }

  /// Replaces temporaries by their values; intermediates stay.
  Result<Expression> resolved(const Expression& value, const ProgramContext& context) const {
    if (const auto* access = std::get_if<Access>(&value.node)) return resolved_access(*access, context);
    if (std::holds_alternative<index_notation::Reduction>(value.node))
      return illegal("`" + index_notation::print(value) + "` stands in an assignment of the tree");
    std::vector<Expression> done;
    for (const auto& part : index_notation::parts(value)) {
      SCHAAS_ASSIGN_OR_RETURN(auto one, resolved(part, context));
      done.push_back(std::move(one));
    }
    return index_notation::with_parts(value, std::move(done));
  }

  /// Returns the meaning of a temporary, or the element of an intermediate with all of its indices.
  Result<Expression> resolved_access(const Access& access, const ProgramContext& context) const {
    if (problem_.formats.count(access.tensor)) return Expression{access, {}};
    const auto found = context.temporaries.find(access.tensor);
    if (found == context.temporaries.end()) {
      return illegal("temporary " + quoted(access) + " is read where no `where` above has produced it");
    }
    const ProgramValue& temporary = found->second;
    if (const Assignment* intermediate = intermediate_of(access.tensor)) {
      if (access.indices.size() == temporary.target.indices.size())
        return Expression{in_full(access, temporary.target, intermediate->result), {}};
    } else if (temporary.target == access)
      return temporary.meaning;
    return illegal("temporary " + quoted(temporary.target) + " is read as " + quoted(access));
  }

  const Assignment* intermediate_of(const std::string& tensor) const {
    for (const auto& intermediate : problem_.intermediates) {
      if (intermediate.result.tensor == tensor) return &intermediate;
    }
    return nullptr;
  }

  /// Checks the indices: those of the statement, in any order, without those of loops around its `where`.
  static Result<void> check_indices(const ProgramValue& value, const Access& full,
                                    const std::vector<std::string>& around) {
    std::size_t found = 0;
    for (const auto& index : full.indices) {
      if (support::contains(value.target.indices, index)) {
        ++found;
      } else if (!support::contains(around, index)) {
        return illegal("intermediate " + quoted(full) + " is written as " + quoted(value.target));
      }
    }
    if (found == value.target.indices.size()) return {};
    return illegal("intermediate " + quoted(full) + " is written as " + quoted(value.target));
  }

  /// Returns a read of an intermediate as in the statements: with the indices of the loops around it.
  static Access in_full(const Access& read, const Access& target, const Access& full) {
    Access out = full;
    for (std::size_t n = 0; n < target.indices.size(); ++n) {
      const auto mode = std::find(full.indices.begin(), full.indices.end(), target.indices[n]);
      out.indices[static_cast<std::size_t>(mode - full.indices.begin())] = read.indices[n];
    }
    return out;
  }

  /// Compares the computed value and its monoid with those of the statement.
  Result<void> check_meaning(const ProgramValue& value, const Assignment& statement) const {
    const Expression want = normal_form(explicit_value(statement, problem_), problem_);
    const Expression got = normal_form(value.meaning, problem_);
    const std::string target = quoted(statement.result);
    if (!(want == got)) {
      return illegal("the tree computes `" + index_notation::print(got) + "` for " + target +
                     " instead of `" + index_notation::print(want) + "`");
    }
    const auto monoid = target_monoid(statement, problem_);
    if (value.monoid == monoid) return {};
    return illegal(target + " is written with `" + assignment_sign(value.monoid) + "` instead of `" +
                   assignment_sign(monoid) + "`");
  }

  const problem::Problem& problem_;
  std::vector<LoopOrder> result_order_;
  std::set<std::string> temporaries_;
};

}  // namespace

Result<void> verify_program(const StatementPtr& statement, const problem::Problem& problem) {
  return ProgramVerifier(problem).run(statement);
}

}  // namespace schaas::concrete_notation
