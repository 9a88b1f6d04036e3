#include "compiler/schedule/ordered_appends.h"

#include <algorithm>
#include <utility>

#include "compiler/concrete_notation/match.h"
#include "compiler/schedule/temporary_names.h"

namespace schaas::schedule {
namespace {

using concrete_notation::Assign;
using concrete_notation::Blocks;
using concrete_notation::Forall;
using concrete_notation::match;
using concrete_notation::StatementPtr;
using concrete_notation::Where;
using format::LevelFormat;
using index_notation::Access;
using Names = std::vector<std::string>;

bool has(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The loops on the way to the assignment of the result; nothing said of trees with blocks.
bool path_of(const StatementPtr& statement, Names& loops) {
  return match(
      statement->node,
      [&](const Forall& loop) {
        loops.push_back(loop.index);
        return path_of(loop.body, loops);
      },
      [](const Blocks&) { return false; },
      [&](const Where& branch) { return path_of(branch.consumer, loops); },
      [](const Assign&) { return true; });
}

/// A compressed level of an operand read in the tree has the index.
bool is_walked(const StatementPtr& tree, const std::string& index, const problem::Problem& problem) {
  for (const Access& read : concrete_notation::reads(tree)) {
    const auto known = problem.formats.find(read.tensor);
    if (known == problem.formats.end()) continue;
    const auto& format = known->second;
    for (std::size_t level = 0; level < format.levels.size(); ++level) {
      if (format.levels[level] == LevelFormat::compressed &&
          read.indices[static_cast<std::size_t>(format.mode_order[level])] == index)
        return true;
    }
  }
  return false;
}

/// How many loops come by as the appends need them: all levels up to the last compressed one, or those before
/// the one at which a temporary is needed.
struct Appends {
  std::size_t ordered = 0;
  bool all = false;
};

Appends ordered_loops(const StatementPtr& tree, const problem::Problem& problem, const Names& loops,
                      const Names& levels, std::size_t needed) {
  const auto& format = problem.formats.at(problem.statement.result.tensor);
  const bool sums =
      std::any_of(loops.begin(), loops.end(), [&](const std::string& index) { return !has(levels, index); });
  Appends out;
  while (out.ordered < needed && out.ordered < loops.size() && loops[out.ordered] == levels[out.ordered]) {
    const bool compressed = format.levels[out.ordered] == LevelFormat::compressed;
    if (compressed && sums && !is_walked(tree, levels[out.ordered], problem)) return out;
    ++out.ordered;
  }
  out.all = out.ordered == needed;
  return out;
}

StatementPtr with_target(const StatementPtr& statement, const Access& target) {
  return match(
      statement->node,
      [&](const Forall& loop) {
        return concrete_notation::forall(loop.index, with_target(loop.body, target));
      },
      [&](const Blocks&) { return statement; },
      [&](const Where& branch) {
        return concrete_notation::where(with_target(branch.consumer, target), branch.producer);
      },
      [&](const Assign& leaf) { return concrete_notation::assign(target, leaf.value, leaf.monoid); });
}

/// Puts the branch below the first `depth` loops of the path.
StatementPtr with_branch(const StatementPtr& statement, std::size_t depth, const StatementPtr& consumer,
                         const Access& temporary) {
  if (depth == 0) return concrete_notation::where(consumer, with_target(statement, temporary));
  return match(
      statement->node,
      [&](const Forall& loop) {
        return concrete_notation::forall(loop.index, with_branch(loop.body, depth - 1, consumer, temporary));
      },
      [&](const Blocks&) { return statement; },
      [&](const Where& branch) {
        return concrete_notation::where(with_branch(branch.consumer, depth, consumer, temporary),
                                        branch.producer);
      },
      [&](const Assign&) { return statement; });
}

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

StatementPtr with_ordered_appends(const StatementPtr& tree, const problem::Problem& problem) {
  const Access& result = problem.statement.result;
  const auto& format = problem.formats.at(result.tensor);
  const auto last = std::find(format.levels.rbegin(), format.levels.rend(), LevelFormat::compressed);
  Names loops;
  if (last == format.levels.rend() || !path_of(tree, loops)) return tree;
  Names levels;
  for (const int mode : format.mode_order) levels.push_back(result.indices[static_cast<std::size_t>(mode)]);
  const auto needed = static_cast<std::size_t>(format.levels.rend() - last);
  const Appends appends = ordered_loops(tree, problem, loops, levels, needed);
  if (appends.all) return tree;
  Access temporary;
  temporary.tensor = new_name(tree, problem);
  temporary.indices.assign(levels.begin() + static_cast<std::ptrdiff_t>(appends.ordered), levels.end());
  const auto monoid = concrete_notation::leaf_of(tree).monoid;
  const auto consumer = concrete_notation::forall(temporary.indices,
                                                  concrete_notation::assign(result, {temporary, {}}, monoid));
  return with_branch(tree, appends.ordered, consumer, temporary);
}

}  // namespace schaas::schedule
