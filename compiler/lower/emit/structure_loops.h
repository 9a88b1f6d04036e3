#pragma once
#include "compiler/lower/emit/facts/emission_facts.h"
#include "compiler/lower/emit/levels/block_loops.h"
#include "compiler/lower/emit/levels/levels.h"
#include "compiler/lower/emit/levels/scope.h"
#include "compiler/lower/emit/loops.h"
#include "compiler/lower/emit/sparse_accumulators.h"

namespace schaas::lower {

/// Loops of a nest without its values: they count entries, record written elements, or reset them.
class StructureLoops {
 public:
  StructureLoops(const EmissionFacts& facts, const Levels& levels, const BlockLoops& block_loops,
                 const Loops& loops, SparseAccumulators& accumulators)
      : facts_(facts),
        levels_(levels),
        block_loops_(block_loops),
        loops_(loops),
        accumulators_(accumulators) {}

  /// Emits the loops that decide what is appended to a sparse result.
  void emit_count(const NestPtr& nest, const Scope& scope, Statements& out) const;
  /// Walks the producer's loops again and stores 0, the start value of the temporary, wherever it wrote.
  void emit_reset(const NestPtr& nest, const Scope& scope, int target, Statements& out) const;

 private:
  void emit_inserts(const NestPtr& nest, const Scope& scope, Statements& out) const;

  const EmissionFacts& facts_;
  const Levels& levels_;
  const BlockLoops& block_loops_;
  const Loops& loops_;
  SparseAccumulators& accumulators_;
};

}  // namespace schaas::lower
