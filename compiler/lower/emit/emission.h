#pragma once
#include "compiler/lower/emit/appends.h"
#include "compiler/lower/emit/chains.h"
#include "compiler/lower/emit/cleared.h"
#include "compiler/lower/emit/facts/emission_facts.h"
#include "compiler/lower/emit/levels/block_loops.h"
#include "compiler/lower/emit/levels/levels.h"
#include "compiler/lower/emit/loops.h"
#include "compiler/lower/emit/nests.h"
#include "compiler/lower/emit/sinks.h"
#include "compiler/lower/emit/sparse_accumulators.h"
#include "compiler/lower/emit/structure_loops.h"
#include "compiler/lower/emit/thread_writes.h"
#include "compiler/lower/emit/values.h"

namespace schaas::lower {

/// The classes of emission for one tree, each made of those before it. They read `facts`, which the phases
/// set.
struct Emission {
  Emission(const NestTree& tree, KernelBuilder& builder) : facts{tree, builder} {}
  Emission(const Emission&) = delete;
  Emission& operator=(const Emission&) = delete;

  EmissionFacts facts;
  Levels levels{facts};
  Values values{facts, levels};
  ThreadWrites writes{facts};
  BlockLoops block_loops{facts, levels};
  RowClearing clearing{facts, block_loops, writes};
  EntryAppends appends{facts, levels};
  SparseAccumulators accumulators{facts, levels, appends};
  Loops loops{facts, levels, appends, accumulators, clearing, writes};
  Sinks sinks{facts, levels, accumulators, writes};
  Chains chains{facts, levels, values, loops, sinks, writes};
  StructureLoops structure{facts, levels, block_loops, loops, accumulators};
  Nests nests{{facts, levels, values, block_loops, loops, chains, sinks, structure, clearing, accumulators}};
};

}  // namespace schaas::lower
