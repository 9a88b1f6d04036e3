#pragma once
#include <cstdint>
#include <vector>

#include "compiler/frontier/depth_poset.h"
#include "compiler/frontier/pairwise.h"
#include "compiler/frontier/proofs/log_proof.h"
#include "compiler/space/space.h"

namespace schaas::test_support {

/// Classes that the sound test keeps of the papers' stages 1 and 2 (as-written space, memory depth 2, depth
/// poset), to be compared with what their own test keeps.
struct SoundStages {
  std::vector<cost::Cost> kept;
  std::vector<frontier::Removal> removals;
  std::uint64_t loop_trees = 0;  ///< trees of the kept classes
};

inline support::Result<SoundStages> sound_after_stage2(const problem::Problem& problem) {
  const support::Cancellation never;
  space::Space space(problem, {space::Rule::as_written});
  SCHAAS_ASSIGN_OR_RETURN(const std::vector<space::ClassCount> counted, space.classes(2, never));
  std::vector<cost::Cost> classes;
  for (const space::ClassCount& one : counted) classes.push_back(one.cost);
  const auto front = frontier::depth_front(classes);
  std::erase_if(classes, [&](const cost::Cost& cost) {
    const space::Space::Depths depths = frontier::depths_of(cost);
    return front[frontier::covering(depths, front)] != depths;
  });
  frontier::LogBounds bounds(problem);
  frontier::ProvenDominance dominance(bounds, 256, 0);
  const auto solver = frontier::make_z3_solver();
  const frontier::Options options = frontier::options_for(problem.profile);
  frontier::Counts counts;
  frontier::Pairwise pairwise(bounds, dominance, *solver, options, counts);
  SCHAAS_ASSIGN_OR_RETURN(const frontier::Pairwise::Outcome outcome,
                          pairwise.prune(
                              classes, [](std::uint64_t, std::uint64_t) {}, never));
  SoundStages result;
  result.kept = outcome.kept;
  result.removals = outcome.removals;
  for (const cost::Cost& cost : result.kept) {
    SCHAAS_ASSIGN_OR_RETURN(const space::Space::Members members, space.members_of(cost, 1, never));
    result.loop_trees += members.loop_trees;
  }
  return result;
}

}  // namespace schaas::test_support
