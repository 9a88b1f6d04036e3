#pragma once
#include "compiler/lower/emit/facts/emission_facts.h"
#include "compiler/lower/emit/levels/scope.h"

/// Phases over ranges of entries (LoopAnnotation::positions), of which the loops of several levels walk some.
namespace schaas::lower {

/// Returns the operand whose entries the loop and those inside walk together. Vector loops may stand between
/// them.
int operand_at(const Loop& loop, const NestTree& tree);

/// Computes the ranges upwards from the last level, whose entries the phase counts. Entries of a level have
/// as parents those from the last one that begins no later to the first one that ends no sooner. The single
/// entry of a thread has one parent; several are searched from there on.
EntryRanges find_entry_ranges(const Loop& loop, const EmissionFacts& facts, Statements& out);

/// Threads of a GPU take ranges of entries, and rows of the target are the rows that the entries are of.
bool cuts_rows(const merge_lattice::LevelAccess& walked, const Scope& scope, const EmissionFacts& facts);

/// Iterations of a phase's outermost loop, or of its collapsed loops, write disjoint elements.
bool writes_own(const Loop& loop, const NestTree& tree);

}  // namespace schaas::lower
