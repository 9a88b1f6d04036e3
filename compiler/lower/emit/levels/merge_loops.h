#pragma once
#include "compiler/lower/emit/facts/emission_facts.h"
#include "compiler/lower/emit/levels/levels.h"
#include "compiler/lower/emit/levels/scope.h"

namespace schaas::lower {

/// Coiteration of several lists, or of one with repeated coordinates.
class MergeLoops {
 public:
  MergeLoops(const EmissionFacts& facts, const Levels& levels) : facts_(facts), levels_(levels) {}

  /// Emits a merge: coordinates that all cursors hold (intersection), that any holds, or all with presence
  /// flags (merge).
  void emit(const Loop& loop, const LoopSpace& space, const Scope& scope, Statements& out,
            const Body& body) const;

 private:
  struct Bounds;
  loop_ir::Cursor open_cursor(const merge_lattice::LevelAccess& walked, const Bounds& bounds,
                              const loop_ir::Merge& merge, Scope& inner) const;
  void cut(const merge_lattice::LevelAccess& walked, const Bounds& bounds, const loop_ir::Merge& merge,
           loop_ir::Cursor& walk, Scope& inner) const;

  const EmissionFacts& facts_;
  const Levels& levels_;
};

}  // namespace schaas::lower
