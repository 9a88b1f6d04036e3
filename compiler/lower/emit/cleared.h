#pragma once
#include <functional>
#include <optional>

#include "compiler/lower/emit/facts/emission_facts.h"
#include "compiler/lower/emit/levels/block_loops.h"
#include "compiler/lower/emit/levels/scope.h"
#include "compiler/lower/emit/thread_writes.h"

namespace schaas::lower {

/// Rows of a dense result that the phase clears before it adds to them: they are in the cache then.
struct ClearedRows {
  int target = -1;
  const Loop* rows = nullptr;
  bool own = false;  ///< clears each row it visits, since it adds to it; else it stores all of it
  /// Each of these blocks adds to the whole row; a row with a single block is stored instead.
  const Blocks* blocks = nullptr;
  std::optional<merge_lattice::LevelAccess>
      walked;       ///< level whose coordinates are the visited rows; nothing: all rows are visited
  int factor = -1;  ///< operand whose empty rows give rows of zeros, which are cleared; or -1
};

/// Blocks that each add to a whole row, and the bodies that pass a block's values to a sink.
struct BlocksOfRow {
  const Blocks& blocks;
  const Sink& sink;
  std::function<Body(const Sink&)> into;
};

/// Clearing of the rows of the present phase's result.
class RowClearing {
 public:
  RowClearing(const EmissionFacts& facts, const BlockLoops& block_loops, const ThreadWrites& writes)
      : facts_(facts), block_loops_(block_loops), writes_(writes) {}

  /// Decides whether the phase clears rows of its target: not where the client does, or no row needs it.
  bool open(const NestPtr& nest, const Sink& sink);
  void close() { rows_.reset(); }
  bool is_open() const { return rows_.has_value(); }
  /// The blocks each add to a whole row that is cleared (emit_blocks).
  bool has_blocks(const Blocks& blocks) const { return rows_ && rows_->blocks == &blocks; }

  /// Wraps the body of the loop over rows: clears before it, or instead of it in a row without factors.
  Body around(const Loop& loop, const Body& body) const;
  /// Stores the only block of a short row; adds the blocks of a longer row after clearing it. All rows are
  /// cleared where the test would cost more.
  void emit_blocks(const BlocksOfRow& row, const Scope& scope, Statements& out) const;
  /// Clears rows before the one at `position`, a coordinate or the position of one, is written.
  void clear(const loop_ir::ExpressionPtr& position, const loop_ir::ExpressionPtr& coordinate, bool own,
             Statements& out) const;

 private:
  std::optional<ClearedRows> decide(const NestPtr& nest, const Sink& sink) const;
  bool lanes_own_elements(const Operand& target) const;
  loop_ir::StatementPtr cleared_by_lanes(const Operand& target, const loop_ir::ExpressionPtr& row) const;

  const EmissionFacts& facts_;
  const BlockLoops& block_loops_;
  const ThreadWrites& writes_;
  std::optional<ClearedRows> rows_;
};

}  // namespace schaas::lower
