#include "compiler/concrete_notation/checks/block_checks.h"

#include <algorithm>

#include "compiler/concrete_notation/match.h"
#include "compiler/concrete_notation/tree_checks.h"

// Legality of blocks (README.md, rule 7). Every path to an assignment passes one loop over the index, which
// runs over the values of the present block. A sparse level is walked block by block only where its list of
// coordinates is reached by loops outside the blocks. Each coordinate has to stand there once, so that
// exactly one block has it.
namespace schaas::concrete_notation {
namespace {

using index_notation::Access;
using support::Result;

// Checks that each path to an assignment passes a loop over the index, and no further blocks of it.
Result<void> check_ways(const StatementPtr& body, const std::string& index) {
  return match(
      body->node,
      [&](const Forall& loop) { return loop.index == index ? Result<void>() : check_ways(loop.body, index); },
      [&](const Blocks& blocks) -> Result<void> {
        if (blocks.index == index)
          return illegal("blocks of " + quoted(index) + " stand inside blocks of " + quoted(index));
        return check_ways(blocks.body, index);
      },
      [&](const Where& branch) -> Result<void> {
        SCHAAS_RETURN_IF_ERROR(check_ways(branch.producer, index));
        return check_ways(branch.consumer, index);
      },
      [&](const Terms& sum) -> Result<void> {
        for (const auto& term : sum.terms) SCHAAS_RETURN_IF_ERROR(check_ways(term, index));
        return {};
      },
      [&](const Assign&) -> Result<void> {
        return illegal("inside the blocks of " + quoted(index) +
                       " every way to an assignment must pass a loop over " + quoted(index));
      });
}

// Checks that the entries of an access along the index can be walked block by block.
Result<void> check_entries(const Access& access, const std::string& index, const format::TensorFormat& format,
                           const std::vector<std::string>& loops) {
  for (std::size_t level = 0; level < format.levels.size(); ++level) {
    const auto& bound = access.indices[static_cast<std::size_t>(format.mode_order[level])];
    if (bound == index && format::is_located(format.levels[level]))
      return illegal("there are no blocks of " + quoted(index) + ": " + quoted(access) +
                     " has no list of its coordinates, but a " +
                     std::string(format::properties(format.levels[level]).name));
    if (bound == index && !format::is_unique(format.levels[level]))
      return illegal("there are no blocks of " + quoted(index) + ": " + quoted(access) +
                     " holds its coordinates several times");
    if (bound == index) break;
    if (std::find(loops.begin(), loops.end(), bound) == loops.end())
      return illegal("blocks of the entries of " + quoted(access) + " over " + quoted(index) +
                     " stand outside loop " + quoted(bound) + ", which leads to these entries");
  }
  return {};
}

}  // namespace

Result<void> check_blocks(const Blocks& blocks, const std::vector<std::string>& loops,
                          const problem::Problem& problem) {
  if (std::find(loops.begin(), loops.end(), blocks.index) != loops.end())
    return illegal("blocks of " + quoted(blocks.index) + " stand inside a loop " + quoted(blocks.index));
  SCHAAS_RETURN_IF_ERROR(check_ways(blocks.body, blocks.index));
  for (const Access& access : reads(blocks.body)) {
    if (sparse_level(access, blocks.index, problem) < 0) continue;
    SCHAAS_RETURN_IF_ERROR(check_entries(access, blocks.index, problem.formats.at(access.tensor), loops));
  }
  return {};
}

}  // namespace schaas::concrete_notation
