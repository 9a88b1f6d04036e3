#include "compiler/schedule/replay/ordered_appends.h"

#include <algorithm>
#include <utility>

#include "compiler/concrete_notation/loop_order.h"
#include "compiler/concrete_notation/match.h"
#include "compiler/schedule/directives/distribute.h"
#include "compiler/schedule/section.h"
#include "compiler/schedule/temporary_names.h"

// A sparse result is written once, front to back, so appends must come in the lexicographic order of its
// levels. Loops on the path to its assignment append in order as long as they are its levels, outermost
// first. At the first other loop a workspace of all missing levels is inserted: Gustavson's algorithm for
// sparse matrix products, with the workspaces of Kjolstad et al. (CGO 2019). The branch stands at the
// innermost depth at which the loops above are in order, so the workspace is as small as they allow.
// A dense result needs none of this, and trees in blocks are left as they are.
namespace schaas::schedule {
namespace {

using concrete_notation::Assign;
using concrete_notation::Blocks;
using concrete_notation::Forall;
using concrete_notation::match;
using concrete_notation::StatementPtr;
using concrete_notation::Terms;
using concrete_notation::Where;
using index_notation::Access;
using Names = std::vector<std::string>;

/// The loops on the path to the result's assignment; those below several terms apart.
struct Way {
  Names loops;
  Names in_terms;
};

/// Finds the path; false for trees with blocks.
bool find_way(const StatementPtr& statement, Names& loops, Way& way) {
  return match(
      statement->node,
      [&](const Forall& loop) {
        loops.push_back(loop.index);
        return find_way(loop.body, loops, way);
      },
      [](const Blocks&) { return false; },
      [&](const Where& branch) { return find_way(branch.consumer, loops, way); },
      [&](const Terms& sum) {
        return std::all_of(sum.terms.begin(), sum.terms.end(),
                           [&](const StatementPtr& term) { return find_way(term, way.in_terms, way); });
      },
      [](const Assign&) { return true; });
}

/// Some operand stores the index in a sparse level, so a loop over it runs over entries.
bool is_walked(const std::vector<Access>& reads, const std::string& index, const problem::Problem& problem) {
  return std::any_of(reads.begin(), reads.end(),
                     [&](const Access& read) { return concrete_notation::is_walked(read, index, problem); });
}

/// Puts the branch below the first `depth` loops of the path.
StatementPtr with_branch(const StatementPtr& statement, std::size_t depth, const StatementPtr& consumer,
                         const Access& temporary) {
  if (depth == 0)
    return concrete_notation::where(consumer, concrete_notation::with_target(statement, temporary));
  return match(
      statement->node,
      [&](const Forall& loop) {
        return concrete_notation::with_body(loop, with_branch(loop.body, depth - 1, consumer, temporary));
      },
      [&](const Blocks&) { return statement; },
      [&](const Where& branch) {
        return concrete_notation::where(with_branch(branch.consumer, depth, consumer, temporary),
                                        branch.producer);
      },
      [&](const Terms&) { return statement; }, [&](const Assign&) { return statement; });
}

/// The section that computes the result reads a temporary written at the entries of something sparse, over
/// one of the result's compressed levels; its loops would run over the whole extent.
bool reads_sparse_temporary(const StatementPtr& tree, const problem::Problem& problem) {
  const auto appended = [&](const std::string& index) {
    return concrete_notation::is_walked(problem.statement.result, index, problem);
  };
  return match(
      tree->node, [&](const Forall& loop) { return reads_sparse_temporary(loop.body, problem); },
      [](const Blocks&) { return false; }, [](const Terms&) { return false; },
      [&](const Where& branch) {
        const Names& indices = concrete_notation::leaf_of(branch.producer).target.indices;
        return std::any_of(indices.begin(), indices.end(),
                           [&](const std::string& index) {
                             return appended(index) &&
                                    is_walked(concrete_notation::reads(branch.producer), index, problem);
                           }) ||
               reads_sparse_temporary(branch.consumer, problem);
      },
      [](const Assign&) { return false; });
}

/// Distributes a sum that reads such a temporary over its terms, which write at their entries.
StatementPtr with_terms_apart(const StatementPtr& tree, const problem::Problem& problem) {
  if (!reads_sparse_temporary(tree, problem)) return tree;
  // The result is computed by the last consumer: the path of consumers as far as it leads.
  Distribute directive;
  for (auto at = find_statement(tree, {}); at.ok(); at = find_statement(tree, directive.path))
    directive.path.push_back(1);
  directive.path.pop_back();
  const auto apart = apply_distribute(tree, directive, problem);
  return apart.ok() ? *apart : tree;
}

/// Returns a name that neither the problem nor a directive has used: temporaries of the tree count as taken.
std::string new_name(const StatementPtr& tree, const problem::Problem& problem) {
  TemporaryNames names(problem);
  const auto reads = concrete_notation::reads(tree);
  while (true) {
    std::string name = names.next();
    if (std::none_of(reads.begin(), reads.end(), [&](const Access& read) { return read.tensor == name; }))
      return name;
  }
}

}  // namespace

AppendRule::AppendRule(const problem::Problem& problem, const std::vector<Access>& reads) {
  const Access& result = problem.statement.result;
  const auto& format = problem.formats.at(result.tensor);
  for (const int mode : format.mode_order) levels_.push_back(result.indices[static_cast<std::size_t>(mode)]);
  const auto last = std::find_if(format.levels.rbegin(), format.levels.rend(), format::is_sparse);
  for (auto level = last; level != format.levels.rend(); ++level)
    summed_below_.push_back(!format::is_sparse(*level));
  std::reverse(summed_below_.begin(), summed_below_.end());
  for (std::size_t level = 0; level < needed(); ++level) {
    if (summed_below_[level]) continue;
    // A sum below a sparse level is safe where only nonempty rows are kept, or where loops run over entries.
    const bool kept_when_filled = level + 1 < needed() && format::is_sparse(format.levels[level + 1]);
    summed_below_[level] = kept_when_filled || is_walked(reads, levels_[level], problem);
  }
}

int AppendRule::level_of(const std::string& index) const {
  const auto found = std::find(levels_.begin(), levels_.end(), index);
  return found == levels_.end() ? -1 : static_cast<int>(found - levels_.begin());
}

std::size_t AppendRule::in_order(std::span<const int> loops, std::span<const int> in_terms) const {
  const auto summed = [](int level) { return level < 0; };
  // A sum anywhere on the path, deeper loops included, stands below each level that appends so far.
  const bool sums = std::any_of(loops.begin(), loops.end(), summed) ||
                    std::any_of(in_terms.begin(), in_terms.end(), summed);
  std::size_t ordered = 0;
  while (ordered < needed() && ordered < loops.size() && loops[ordered] == static_cast<int>(ordered) &&
         (!sums || summed_below_[ordered]))
    ++ordered;
  return ordered;
}

StatementPtr with_ordered_appends(const StatementPtr& given, const problem::Problem& problem) {
  const Access& result = problem.statement.result;
  const auto& levels = problem.formats.at(result.tensor).levels;
  if (std::none_of(levels.begin(), levels.end(), format::is_sparse)) return given;
  const StatementPtr tree = with_terms_apart(given, problem);
  Way way;
  if (!find_way(tree, way.loops, way)) return tree;
  const AppendRule rule(problem, concrete_notation::reads(tree));
  std::vector<int> loops, in_terms;
  for (const std::string& index : way.loops) loops.push_back(rule.level_of(index));
  for (const std::string& index : way.in_terms) in_terms.push_back(rule.level_of(index));
  const std::size_t ordered = rule.in_order(loops, in_terms);
  if (ordered == rule.needed()) return tree;
  // The workspace has the levels from the first unordered one on, and the target keeps its monoid.
  Access temporary;
  temporary.tensor = new_name(tree, problem);
  temporary.indices.assign(rule.levels().begin() + static_cast<std::ptrdiff_t>(ordered), rule.levels().end());
  const auto monoid = concrete_notation::leaf_of(tree).monoid;
  const auto consumer = concrete_notation::forall(temporary.indices,
                                                  concrete_notation::assign(result, {temporary, {}}, monoid));
  return with_branch(tree, ordered, consumer, temporary);
}

}  // namespace schaas::schedule
