#include "compiler/schedule/directives/distribute.h"

#include <algorithm>
#include <utility>

#include "compiler/index_notation/printer.h"
#include "compiler/problem/rewrites/sum_terms.h"
#include "compiler/schedule/illegal.h"
#include "compiler/schedule/section.h"

// Result reuse (Kjolstad et al., CGO 2019, section 3): a sum of operands with different entries is computed
// term by term into one target. The alternative, merging, compares each coordinate with the heads of all
// lists. Legal where the section folds with the semiring's sum: then the target may be folded with one term
// after another. A term must vanish where its operands store nothing, since its loops run over their entries
// alone. With depth 0 a producer right above is absorbed when its temporary is one of the terms. It then
// folds into the target itself, and the temporary is gone.
namespace schaas::schedule {
namespace {

using concrete_notation::Assign;
using concrete_notation::StatementPtr;
using concrete_notation::Where;
using index_notation::Access;
using index_notation::Call;
using index_notation::Expression;
using support::Result;
using Names = std::vector<std::string>;

/// Terms of a product that is distributed over its sums: each has loops of its own.
constexpr std::size_t max_terms = 16;

/// The expression is the semiring's zero where none of its operands stores anything.
bool vanishes(const Expression& value, const operators::Semiring& semiring) {
  if (std::holds_alternative<Access>(value.node)) return true;
  const auto& parts = index_notation::parts(value);
  const auto part_vanishes = [&](const Expression& part) { return vanishes(part, semiring); };
  // The semiring's zero annihilates, so one vanishing factor is enough.
  if (std::holds_alternative<index_notation::Product>(value.node))
    return std::any_of(parts.begin(), parts.end(), part_vanishes);
  const auto* call = std::get_if<Call>(&value.node);
  // Functions are ordinary arithmetic, whose zero is the number 0; of other semirings nothing is known.
  if (call == nullptr || &semiring != &operators::plus_times()) return false;
  if (call->function == operators::Function::divide) return part_vanishes(parts.front());
  // Sums, sines and the like are zero when all of their arguments are; evaluation at zeros tells.
  return std::all_of(parts.begin(), parts.end(), part_vanishes) &&
         operators::evaluate(call->function, std::vector<double>(parts.size(), 0.0)) == 0;
}

/// Returns the terms of a sum, or of a product with a sum among its factors, with those that do not vanish
/// merged into one.
std::vector<Expression> separable_terms(const Expression& value, const operators::Semiring& semiring) {
  std::vector<Expression> out, together;
  for (const auto& term : problem::distributed_terms(value, semiring, max_terms))
    (vanishes(term.value, semiring) ? out : together).push_back(term.expression());
  if (together.size() == 1) out.push_back(together.front());
  if (together.size() > 1) {
    Expression& rest = out.emplace_back();
    rest.node = Call{operators::combine(semiring.sum), std::move(together)};
  }
  return out;
}

Result<void> check(const Section& section, const Distribute& directive, std::size_t terms,
                   const problem::Problem& problem) {
  if (section.monoid != problem.semiring->sum) {
    return illegal("the section folds with `" + concrete_notation::assignment_sign(section.monoid) +
                   "`, and only a sum is distributed over its terms");
  }
  if (terms < 2) {
    return illegal("the section computes `" + index_notation::print(section.value) +
                   "`, which is no sum of terms that may be computed apart");
  }
  if (static_cast<std::size_t>(directive.depth) <= section.loops.size()) return {};
  return illegal("depth is " + std::to_string(directive.depth) + " but the section has " +
                 std::to_string(section.loops.size()) + " loops");
}

/// Returns the branch right above a section that is its consumer, or null; `loops`: those around the branch.
const Where* branch_above(const StatementPtr& tree, const Path& path, Names& loops) {
  if (path.empty() || path.back() != 1) return nullptr;
  StatementPtr at = find_statement(tree, Path(path.begin(), path.end() - 1)).value();
  while (const auto* loop = std::get_if<concrete_notation::Forall>(&at->node)) {
    loops.push_back(loop->index);
    const StatementPtr body = loop->body;
    at = body;
  }
  return std::get_if<Where>(&at->node);
}

bool same_names(Names a, Names b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

/// Returns the term that is only the branch's temporary, so that its producer may replace it. Intermediates
/// of the program keep their branch: statements are verified one by one.
std::size_t replaceable(const std::vector<Expression>& terms, const Section& section, const Where& branch,
                        const problem::Problem& problem) {
  const Assign& producer = concrete_notation::leaf_of(branch.producer);
  const bool named =
      std::any_of(problem.intermediates.begin(), problem.intermediates.end(),
                  [&](const auto& statement) { return statement.result.tensor == producer.target.tensor; });
  const auto reads = concrete_notation::reads(branch.consumer);
  const auto uses = std::count_if(reads.begin(), reads.end(),
                                  [&](const Access& read) { return read.tensor == producer.target.tensor; });
  // Another read would need the temporary, another monoid fold differently, other loops leave elements out.
  if (named || uses != 1 || producer.monoid != section.monoid ||
      !same_names(producer.target.indices, section.loops))
    return terms.size();
  const auto found = std::find_if(terms.begin(), terms.end(), [&](const Expression& term) {
    const auto* access = std::get_if<Access>(&term.node);
    return access != nullptr && *access == producer.target;
  });
  return static_cast<std::size_t>(found - terms.begin());
}

}  // namespace

Result<StatementPtr> apply_distribute(const StatementPtr& tree, const Distribute& directive,
                                      const problem::Problem& problem) {
  SCHAAS_ASSIGN_OR_RETURN(const Section section, find_section(tree, directive.path));
  const auto values = separable_terms(section.value, *problem.semiring);
  SCHAAS_RETURN_IF_ERROR(check(section, directive, values.size(), problem));
  const auto begin = section.loops.begin() + directive.depth;
  const Names outer(section.loops.begin(), begin), inner(begin, section.loops.end());
  std::vector<StatementPtr> terms;
  for (const auto& value : values) {
    terms.push_back(
        concrete_notation::forall(inner, concrete_notation::assign(section.target, value, section.monoid)));
  }
  // Turns producers around into terms; rebuilds the branches that stay.
  Path path = directive.path;
  std::vector<std::pair<Names, StatementPtr>> around;  // loops and producer of each, innermost first
  Names loops;
  const Where* branch = directive.depth == 0 ? branch_above(tree, path, loops) : nullptr;
  while (branch != nullptr) {
    const std::size_t term = replaceable(values, section, *branch, problem);
    const bool replaces = term < values.size();
    if (replaces) terms[term] = concrete_notation::with_target(branch->producer, section.target);
    around.emplace_back(loops, replaces ? nullptr : branch->producer);
    path.pop_back();
    // A producer beyond a loop would be folded into the target in each of its iterations, so the walk ends
    // there.
    const bool last = !loops.empty();
    loops.clear();
    branch = last ? nullptr : branch_above(tree, path, loops);
  }
  StatementPtr out = concrete_notation::forall(outer, concrete_notation::terms(std::move(terms)));
  for (const auto& [above, producer] : around) {
    if (producer != nullptr) out = concrete_notation::where(std::move(out), producer);
    out = concrete_notation::forall(above, std::move(out));
  }
  return replace_section(tree, path, out);
}

}  // namespace schaas::schedule
