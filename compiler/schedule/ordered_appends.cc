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

/// A compressed level of one of the operands has the index.
bool is_walked(const std::vector<Access>& reads, const std::string& index, const problem::Problem& problem) {
  for (const Access& read : reads) {
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

AppendRule::AppendRule(const problem::Problem& problem, const std::vector<Access>& reads) {
  const Access& result = problem.statement.result;
  const auto& format = problem.formats.at(result.tensor);
  for (const int mode : format.mode_order) levels_.push_back(result.indices[static_cast<std::size_t>(mode)]);
  const auto last = std::find(format.levels.rbegin(), format.levels.rend(), LevelFormat::compressed);
  for (auto level = last; level != format.levels.rend(); ++level)
    summed_below_.push_back(*level != LevelFormat::compressed);
  std::reverse(summed_below_.begin(), summed_below_.end());
  for (std::size_t level = 0; level < needed(); ++level) {
    if (!summed_below_[level]) summed_below_[level] = is_walked(reads, levels_[level], problem);
  }
}

int AppendRule::level_of(const std::string& index) const {
  const auto found = std::find(levels_.begin(), levels_.end(), index);
  return found == levels_.end() ? -1 : static_cast<int>(found - levels_.begin());
}

std::size_t AppendRule::in_order(std::span<const int> loops) const {
  const bool sums = std::any_of(loops.begin(), loops.end(), [](int level) { return level < 0; });
  std::size_t ordered = 0;
  while (ordered < needed() && ordered < loops.size() && loops[ordered] == static_cast<int>(ordered) &&
         (!sums || summed_below_[ordered]))
    ++ordered;
  return ordered;
}

StatementPtr with_ordered_appends(const StatementPtr& tree, const problem::Problem& problem) {
  const Access& result = problem.statement.result;
  const auto& levels = problem.formats.at(result.tensor).levels;
  Names path;
  if (std::find(levels.begin(), levels.end(), LevelFormat::compressed) == levels.end() ||
      !path_of(tree, path))
    return tree;
  const AppendRule rule(problem, concrete_notation::reads(tree));
  std::vector<int> loops;
  for (const std::string& index : path) loops.push_back(rule.level_of(index));
  const std::size_t ordered = rule.in_order(loops);
  if (ordered == rule.needed()) return tree;
  Access temporary;
  temporary.tensor = new_name(tree, problem);
  temporary.indices.assign(rule.levels().begin() + static_cast<std::ptrdiff_t>(ordered), rule.levels().end());
  const auto monoid = concrete_notation::leaf_of(tree).monoid;
  const auto consumer = concrete_notation::forall(temporary.indices,
                                                  concrete_notation::assign(result, {temporary, {}}, monoid));
  return with_branch(tree, ordered, consumer, temporary);
}

}  // namespace schaas::schedule
