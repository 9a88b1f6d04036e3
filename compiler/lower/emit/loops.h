#pragma once
#include "compiler/lower/emit/appends.h"
#include "compiler/lower/emit/cleared.h"
#include "compiler/lower/emit/coordinate_bounds.h"
#include "compiler/lower/emit/facts/emission_facts.h"
#include "compiler/lower/emit/levels/block_loops.h"
#include "compiler/lower/emit/levels/levels.h"
#include "compiler/lower/emit/levels/merge_loops.h"
#include "compiler/lower/emit/levels/scope.h"
#include "compiler/lower/emit/sparse_accumulators.h"
#include "compiler/lower/emit/thread_writes.h"

namespace schaas::lower {

/// Loops over one index. The body also does what its level of the target needs: clearing, appending, tests of
/// flags, counters, from the inside out.
class Loops {
 public:
  Loops(const EmissionFacts& facts, const Levels& levels, EntryAppends& appends,
        SparseAccumulators& accumulators, const RowClearing& clearing, const ThreadWrites& writes)
      : facts_(facts),
        levels_(levels),
        merges_(facts, levels),
        appends_(appends),
        accumulators_(accumulators),
        clearing_(clearing),
        writes_(writes) {}

  void emit(const Loop& loop, const Scope& scope, loop_ir::Shape shape, Statements& out,
            const Body& body) const;
  /// Returns the shape of a loop of a chain. Innermost loops whose operands advance by one element, or not at
  /// all, become vector code.
  loop_ir::Shape shape_in_chain(const Loop& loop, const Scope& scope) const;

 private:
  bool runs_over_band(int number, const Loop& loop) const;
  loop_ir::StatementPtr with_facts(const Loop& loop, loop_ir::For emitted,
                                   const loop_ir::StatementPtr& last) const;
  Body where_entries_are_made(const Loop& loop, const Body& body) const;
  void emit_over(const Loop& loop, const Scope& scope, loop_ir::Shape shape, Statements& out,
                 const Body& whole) const;
  std::vector<loop_ir::RowAlong> rows_along(const Loop& loop, const loop_ir::Range& bounds,
                                            const Scope& scope) const;
  loop_ir::Range bounds_of(const Loop& loop, const Scope& scope) const;
  CoordinateRange needed(const Loop& loop, const LoopSpace& space, const Scope& scope,
                         const loop_ir::Range& all) const;
  void emit_around(const Loop& loop, const LoopSpace& space, const Scope& scope, const loop_ir::Range& all,
                   const CoordinateRange& inside, Statements& out, const Body& body) const;
  void emit_value(const Loop& loop, const LoopSpace& space, const Scope& scope, Statements& out,
                  const Body& body) const;
  void emit_range(const Loop& loop, const LoopSpace& space, const Scope& scope, loop_ir::Shape shape,
                  Statements& out, const Body& body) const;
  void emit_band(const Loop& loop, const LoopSpace& space, const Scope& scope, loop_ir::Shape shape,
                 Statements& out, const Body& body) const;
  void emit_hashed(const Loop& loop, const LoopSpace& space, const Scope& scope, loop_ir::Shape shape,
                   Statements& out, const Body& body) const;
  void emit_walk(const Loop& loop, const LoopSpace& space, const Scope& scope, loop_ir::Shape shape,
                 Statements& out, const Body& body) const;
  std::optional<loop_ir::RowEntries> row_of(const merge_lattice::LevelAccess& walked,
                                            const loop_ir::For& loop) const;
  std::optional<loop_ir::AddedRow> added_row(const merge_lattice::LevelAccess& walked,
                                             const loop_ir::For& loop, const Scope& scope) const;
  void emit_block_loop(const Loop& loop, const Scope& scope, loop_ir::Shape shape, Statements& out,
                       const Body& body) const;

  const EmissionFacts& facts_;
  const Levels& levels_;
  const MergeLoops merges_;
  EntryAppends& appends_;
  SparseAccumulators& accumulators_;
  const RowClearing& clearing_;
  const ThreadWrites& writes_;
};

}  // namespace schaas::lower
