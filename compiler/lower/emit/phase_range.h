#pragma once
#include "compiler/lower/emit/facts/emission_facts.h"

/// Ranges of phases and their distribution among threads.
namespace schaas::lower {

/// Returns the phase of a nest without its body: range, parallelism, and the level whose positions weigh
/// iterations.
loop_ir::Phase phase_of(const NestPtr& nest, const EmissionFacts& facts);

/// Collapsed or position loops of the phase reduce: each thread holds partial sums of the same elements.
bool reduces_across_threads(const NestPtr& nest, const NestTree& tree);

}  // namespace schaas::lower
