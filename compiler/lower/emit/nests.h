#pragma once
#include <functional>
#include <set>

#include "compiler/lower/emit/chains.h"
#include "compiler/lower/emit/cleared.h"
#include "compiler/lower/emit/facts/emission_facts.h"
#include "compiler/lower/emit/levels/block_loops.h"
#include "compiler/lower/emit/levels/levels.h"
#include "compiler/lower/emit/levels/scope.h"
#include "compiler/lower/emit/loops.h"
#include "compiler/lower/emit/sinks.h"
#include "compiler/lower/emit/sparse_accumulators.h"
#include "compiler/lower/emit/structure_loops.h"
#include "compiler/lower/emit/values.h"

namespace schaas::lower {

/// The classes that a nest is emitted with.
struct NestParts {
  const EmissionFacts& facts;
  const Levels& levels;
  const Values& values;
  const BlockLoops& block_loops;
  const Loops& loops;
  const Chains& chains;
  const Sinks& sinks;
  const StructureLoops& structure;
  const RowClearing& clearing;
  SparseAccumulators& accumulators;
};

/// Nests whose values go to a sink: sums of terms, branches and the loops around them, down to chains.
class Nests {
 public:
  explicit Nests(const NestParts& parts)
      : facts_(parts.facts),
        levels_(parts.levels),
        values_(parts.values),
        block_loops_(parts.block_loops),
        loops_(parts.loops),
        chains_(parts.chains),
        sinks_(parts.sinks),
        structure_(parts.structure),
        clearing_(parts.clearing),
        accumulators_(parts.accumulators) {}

  /// Emits the nest; its value goes to the sink.
  void emit(const NestPtr& nest, const Scope& scope, const Sink& sink, Statements& out) const;

 private:
  /// Emits statements around a body that continues with the given sink.
  using Around = std::function<void(const Sink& inner)>;

  std::set<int> absent_factors(const NestPtr& nest, const Scope& scope, const Sink& sink) const;
  void emit_where_present(const NestPtr& nest, const std::set<int>& operands, const Scope& scope,
                          const Sink& sink, Statements& out) const;
  void reduce(const Scope& scope, const Sink& sink, Statements& out, const Around& around) const;
  void clear_and_emit(const Blocks& blocks, const Scope& scope, const Sink& sink, Statements& out) const;
  void emit_branch(const Branch& branch, const Scope& scope, const Sink& sink, Statements& out) const;

  const EmissionFacts& facts_;
  const Levels& levels_;
  const Values& values_;
  const BlockLoops& block_loops_;
  const Loops& loops_;
  const Chains& chains_;
  const Sinks& sinks_;
  const StructureLoops& structure_;
  const RowClearing& clearing_;
  SparseAccumulators& accumulators_;
};

}  // namespace schaas::lower
