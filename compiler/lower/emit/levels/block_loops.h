#pragma once
#include <string>

#include "compiler/lower/emit/facts/emission_facts.h"
#include "compiler/lower/emit/levels/levels.h"
#include "compiler/lower/emit/levels/scope.h"

namespace schaas::lower {

/// Loops over the blocks of an index; loops over the values of one block are inside (Loops).
class BlockLoops {
 public:
  BlockLoops(const EmissionFacts& facts, const Levels& levels) : facts_(facts), levels_(levels) {}

  /// Opens the values or positions that blocks are taken from, with names for the bounds of the present
  /// block. Returns all of them.
  loop_ir::Range open(const Blocks& blocks, Scope& scope) const;
  /// Emits `body` once per block; walked lists advance by the block size.
  void emit(const Blocks& blocks, const Scope& scope, Statements& out, const Body& body) const;

 private:
  void emit_divided(const Blocks& blocks, Scope& inner, const loop_ir::Range& all, Statements& out,
                    const Body& body) const;

  const EmissionFacts& facts_;
  const Levels& levels_;
};

/// Returns the offset of a value in its block.
loop_ir::ExpressionPtr offset_in(const OpenBlock& block, const std::string& value);
/// Binds temporaries that hold one block at `offset` in it.
void bind_block(const Loop& loop, const loop_ir::ExpressionPtr& offset, const NestTree& tree, Scope& scope);

}  // namespace schaas::lower
