#include "compiler/concrete_notation/checks/annotation_checks.h"

#include <algorithm>
#include <string>

#include "compiler/concrete_notation/match.h"
#include "compiler/concrete_notation/positions.h"
#include "compiler/concrete_notation/result_workspace.h"
#include "compiler/concrete_notation/thread_mapping.h"
#include "compiler/concrete_notation/tree_checks.h"
#include "compiler/support/contains.h"

// Legality of loop annotations, by one walk down the tree. Threads share the outermost loop of a phase, on a
// GPU also the one directly inside it, and no loop further in. A shared loop is checked against its target.
// Iterations that write elements of their own need no synchronisation; others fold by atomics or into private
// arrays, and need a dense target. Unroll factors are bounded together, along nested loops. Bounded one by
// one, two loops of 64 kept a C compiler for a minute.
namespace schaas::concrete_notation {
namespace {

using support::Result;

constexpr int max_unroll_factor = 64;
/// Copies of statements that unrolled loops around each other write: a C compiler takes a minute for 4096.
constexpr int max_unrolled_copies = 256;

/// Collapsed loops both run over whole extents.
Result<void> check_collapsed(const Forall& loop, const problem::Problem& problem) {
  if (!loop.annotation.collapsed) return {};
  const Forall* inner = inner_of(loop);
  if (inner == nullptr) return illegal("no loop stands directly inside loop " + quoted(loop.index));
  auto accesses = reads(loop.body);
  accesses.push_back(leaf_of(loop.body).target);
  for (const auto& access : accesses) {
    const auto format = problem.formats.find(access.tensor);
    if (format == problem.formats.end()) continue;
    for (std::size_t level = 0; level < format->second.levels.size(); ++level) {
      const auto& index = access.indices[static_cast<std::size_t>(format->second.mode_order[level])];
      if (!format::is_sparse(format->second.levels[level]) || (index != loop.index && index != inner->index))
        continue;
      return illegal("loops " + quoted(loop.index) + " and " + quoted(inner->index) +
                     " are one loop where both run over all values, and " + quoted(index) +
                     " runs over the entries of " + quoted(access) +
                     "; rows that hold most of the entries are split automatically");
    }
  }
  const auto& target = leaf_of(loop.body).target;
  const auto format = problem.formats.find(target.tensor);
  if (format != problem.formats.end() && !format->second.all_dense())
    return illegal("the pairs of values of loops " + quoted(loop.index) + " and " + quoted(inner->index) +
                   " are shared out in any pieces, and " + quoted(target) +
                   " is appended to by whole iterations of loop " + quoted(loop.index));
  return {};
}

/// Checks the write mode of an outermost parallel loop.
Result<void> check_races(const Forall& loop, const problem::Problem& problem) {
  SCHAAS_RETURN_IF_ERROR(check_collapsed(loop, problem));
  SCHAAS_RETURN_IF_ERROR(check_positions(loop, problem));
  if (!loop.annotation.parallel) return {};
  const auto& target = leaf_of(loop.body).target;
  const std::string races = name(*loop.annotation.parallel);
  // Loops that are shared as one write elements of their own if the target has all of their indices.
  bool own = support::contains(target.indices, loop.index);
  if (loop.annotation.collapsed) own = own && support::contains(target.indices, inner_of(loop)->index);
  for (const auto& index : loops_of_positions(loop)) own = own && support::contains(target.indices, index);
  if (*loop.annotation.parallel == Races::none) {
    if (own) return {};
    return illegal("iterations of loop " + quoted(loop.index) + " write the same elements of " +
                   quoted(target) +
                   ": races=none is for loops over an index of what they write; private or " +
                   "atomics keep the threads apart");
  }
  if (own) {
    return illegal("each iteration of loop " + quoted(loop.index) + " writes elements of " + quoted(target) +
                   " of its own, so there is nothing to keep apart: races=none instead of races=" + races);
  }
  const auto format = problem.formats.find(target.tensor);
  if (format != problem.formats.end() && !format->second.all_dense()) {
    return illegal("races=" + races + " needs a dense array to fold into, and " + quoted(target) +
                   " is appended to in order");
  }
  return {};
}

/// Returns the copies of statements that the unrolled loops of the tree write, no more than
/// max_unrolled_copies + 1.
int copies_of(const StatementPtr& statement) {
  const std::int64_t copies = match(
      statement->node,
      [](const Forall& loop) {
        return std::int64_t{std::clamp(loop.annotation.unroll, 1, max_unroll_factor)} * copies_of(loop.body);
      },
      [](const Blocks& blocks) { return std::int64_t{copies_of(blocks.body)}; },
      [](const Where& branch) {
        return std::int64_t{copies_of(branch.producer)} + copies_of(branch.consumer);
      },
      [](const Terms& sum) {
        std::int64_t all = 0;
        for (const auto& term : sum.terms) all += copies_of(term);
        return all;
      },
      [](const Assign&) { return std::int64_t{1}; });
  return static_cast<int>(std::min<std::int64_t>(copies, max_unrolled_copies + 1));
}

/// Bounds the unroll factor of a loop, and the copies that it makes of unrolled loops inside.
Result<void> check_loop(const Forall& loop) {
  const int factor = loop.annotation.unroll;
  if (factor > max_unroll_factor) {
    return illegal("loop " + quoted(loop.index) + " is unrolled " + std::to_string(factor) +
                   " times; at most " + std::to_string(max_unroll_factor) + " are written");
  }
  if (factor == 1 || factor * copies_of(loop.body) <= max_unrolled_copies) return {};
  return illegal("loop " + quoted(loop.index) + " and the loops inside it are unrolled to more than " +
                 std::to_string(max_unrolled_copies) + " copies of statements");
}

/// `outermost`: the loop around.
Result<void> check_inside(const StatementPtr& statement, const std::string& outermost,
                          const problem::Problem& problem) {
  return match(
      statement->node,
      [&](const Forall& loop) -> Result<void> {
        if (loop.annotation.parallel) {
          return illegal("threads share the iterations of an outermost loop only, and loop " +
                         quoted(loop.index) + " stands inside loop " + quoted(outermost) +
                         ": reorder brings it outside");
        }
        if (loop.annotation.collapsed) {
          return illegal("loop " + quoted(loop.index) + " stands inside loop " + quoted(outermost) +
                         "; only the two outermost loops become one for the threads");
        }
        if (loop.annotation.positions > 0) {
          return illegal("loop " + quoted(loop.index) + " stands inside loop " + quoted(outermost) +
                         "; threads share the entries that a phase's outermost loops walk, and `split` cuts "
                         "the entries of one row");
        }
        if (loop.annotation.mapping) {
          return illegal("loop " + quoted(loop.index) + " stands inside loop " + quoted(outermost) +
                         "; threads of a GPU share the outermost loop of a phase, or that and the one inside "
                         "it");
        }
        SCHAAS_RETURN_IF_ERROR(check_loop(loop));
        return check_inside(loop.body, outermost, problem);
      },
      [&](const Blocks& blocks) { return check_inside(blocks.body, outermost, problem); },
      [&](const Where& branch) -> Result<void> {
        SCHAAS_RETURN_IF_ERROR(check_hashed(branch, true, problem));
        SCHAAS_RETURN_IF_ERROR(check_inside(branch.producer, outermost, problem));
        return check_inside(branch.consumer, outermost, problem);
      },
      [&](const Terms& sum) -> Result<void> {
        for (const auto& term : sum.terms) SCHAAS_RETURN_IF_ERROR(check_inside(term, outermost, problem));
        return {};
      },
      [](const Assign&) -> Result<void> { return {}; });
}

}  // namespace

Result<void> check_annotations(const StatementPtr& statement, const problem::Problem& problem) {
  return match(
      statement->node,
      [&](const Forall& loop) -> Result<void> {
        SCHAAS_RETURN_IF_ERROR(check_races(loop, problem));
        SCHAAS_RETURN_IF_ERROR(check_loop(loop));
        // Below two mapped loops, columns around rows, nothing else may be shared.
        const MappedLoops loops = mapped_loops(loop);
        if (loops.columns == nullptr) {
          SCHAAS_RETURN_IF_ERROR(check_inside(loop.body, loop.index, problem));
          return check_thread_mapping(loop, problem);
        }
        SCHAAS_RETURN_IF_ERROR(check_races(*loops.rows, problem));
        SCHAAS_RETURN_IF_ERROR(check_loop(*loops.rows));
        SCHAAS_RETURN_IF_ERROR(check_inside(loops.rows->body, loop.index, problem));
        return check_thread_mapping(loop, problem);
      },
      [&](const Blocks& blocks) { return check_inside(blocks.body, blocks.index, problem); },
      [&](const Where& branch) -> Result<void> {
        SCHAAS_RETURN_IF_ERROR(check_hashed(branch, false, problem));
        SCHAAS_RETURN_IF_ERROR(check_annotations(branch.producer, problem));
        return check_annotations(branch.consumer, problem);
      },
      [&](const Terms& sum) -> Result<void> {
        for (const auto& term : sum.terms) SCHAAS_RETURN_IF_ERROR(check_annotations(term, problem));
        return {};
      },
      [](const Assign&) -> Result<void> { return {}; });
}

}  // namespace schaas::concrete_notation
