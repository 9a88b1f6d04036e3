#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/loop_ir/nodes.h"
#include "compiler/lower/analysis/iteration_space.h"
#include "compiler/lower/analysis/nest.h"
#include "compiler/lower/emit/emission_facts.h"
#include "compiler/lower/emit/kernel_builder.h"
#include "compiler/lower/emit/position.h"
#include "compiler/lower/emit/scope.h"
#include "compiler/lower/emit/thread_mapping.h"

namespace schaas::lower {

using Statements = std::vector<loop_ir::StatementPtr>;

/// Turns a numbered tree into loop IR, phase by phase.
class Emitter {
 public:
  Emitter(const NestTree& tree, KernelBuilder& builder) : tree_(tree), builder_(builder) {}

  /// Splits a root `where` into the phases of its producer, then those of its consumer.
  void emit_phases(const NestPtr& nest);

 private:
  /// Product of a chain: the factors not multiplied yet, and a name for the rest (null: none).
  struct PartialProduct {
    std::vector<int> factors;
    loop_ir::ExpressionPtr prefix;
  };
  using Body = std::function<void(Scope&, Statements&)>;

  loop_ir::Write write_mode(const NestPtr& nest);
  void emit_shared(const Branch& branch);
  void emit_phase(const NestPtr& nest, const Sink& sink, loop_ir::Step step);
  Scope start(const NestPtr& nest, Statements& out);
  bool writes_own(const Loop& loop) const;
  bool reduces_across_threads(const NestPtr& nest) const;

  // cleared.cc
  std::optional<ClearedRows> cleared_rows(const NestPtr& nest, const Sink& sink) const;
  bool cuts_rows(const merge_lattice::LevelAccess& walked) const;
  bool lanes_own_elements(const Operand& target) const;
  loop_ir::StatementPtr cleared_by_lanes(const Operand& target, const loop_ir::ExpressionPtr& row);
  Body with_clearing(const Loop& loop, const Body& body);
  /// Clears rows before the one at `position`, a coordinate or the position of one, is written.
  void clear_rows(const loop_ir::ExpressionPtr& position, const loop_ir::ExpressionPtr& coordinate, bool own,
                  Statements& out);
  void emit_blocks_of_row(const Blocks& blocks, const Scope& scope, const Sink& sink, Statements& out);
  // thread_writes.cc
  // Returns the write mode of a GPU phase: by each thread for itself or by groups.
  loop_ir::Write thread_write_mode(const NestPtr& nest);
  bool writes_exclusively() const;
  void close_mapping(Statements& out, loop_ir::Phase& phase);
  Statements with_flush(Statements body) const;
  Body with_deferred(const Body& body);
  /// Returns the statement by which one thread or a group passes a value to an array element.
  loop_ir::StatementPtr stored(const Sink& sink, const std::string& array,
                               const loop_ir::ExpressionPtr& index,
                               const loop_ir::ExpressionPtr& value) const;
  loop_ir::ExpressionPtr folded_in_group(const std::string& sum, operators::Monoid monoid, Statements& out);
  loop_ir::StatementPtr interleaved(const loop_ir::StatementPtr& statement) const;

  // partial_results.cc
  // Emits another tree with the same arrays, in the same phase.
  Emitter(const NestTree& tree, const Emitter& other);
  loop_ir::RowSplit emit_row_split(const NestPtr& nest, const Sink& sink, const RowSplit& row_split);
  loop_ir::StatementPtr emit_fix_up(const NestPtr& nest, const Sink& sink, const RowSplit& row_split,
                                    const std::vector<int>& indices);
  void emit(const NestPtr& nest, const Scope& scope, const Sink& sink, Statements& out);
  std::set<int> absent_factors(const NestPtr& nest, const Scope& scope, const Sink& sink) const;
  void emit_where_present(const NestPtr& nest, const std::set<int>& operands, const Scope& scope,
                          const Sink& sink, Statements& out);
  bool is_one_element(const Sink& sink, const Scope& scope) const;
  /// Emits statements around a body that continues with the given sink.
  using Around = std::function<void(const Sink& inner)>;
  void reduce(const Scope& scope, const Sink& sink, Statements& out, const Around& around);
  void emit_branch(const Branch& branch, const Scope& scope, const Sink& sink, Statements& out);
  void emit_chain(const NestPtr& nest, const Scope& scope, PartialProduct partial, const Sink& sink,
                  Statements& out);
  void emit_counting(const Loop& loop, const Scope& scope, const Sink& sink, const Body& body,
                     Statements& out);
  bool reports_execution(const Loop& loop) const;
  void emit_reset(const NestPtr& nest, const Scope& scope, int target, Statements& out);
  loop_ir::StatementPtr accumulator(const std::string& name, operators::Monoid monoid) const;

  // loops.cc
  void emit_loop(const Loop& loop, const Scope& scope, loop_ir::Shape shape, Statements& out,
                 const Body& body);
  void emit_over(const Loop& loop, const Scope& scope, loop_ir::Shape shape, Statements& out,
                 const Body& whole);
  Body where_entries_are_made(const Loop& loop, const Body& body);
  loop_ir::Range open_blocks(const Blocks& blocks, Scope& scope);
  void emit_blocks(const Blocks& blocks, const Scope& scope, Statements& out, const Body& body);
  void emit_divided(const Blocks& blocks, Scope& inner, const loop_ir::Range& all, Statements& out,
                    const Body& body);
  void emit_block_loop(const Loop& loop, const Scope& scope, loop_ir::Shape shape, Statements& out,
                       const Body& body);
  void bind_block(const Loop& loop, const loop_ir::ExpressionPtr& offset, Scope& scope) const;
  void emit_range(const Loop& loop, const LoopSpace& space, const Scope& scope, loop_ir::Shape shape,
                  Statements& out, const Body& body);
  loop_ir::Range bounds_of(const Loop& loop, const Scope& scope);
  void emit_walk(const Loop& loop, const LoopSpace& space, const Scope& scope, loop_ir::Shape shape,
                 Statements& out, const Body& body);
  void emit_merge(const Loop& loop, const LoopSpace& space, const Scope& scope, Statements& out,
                  const Body& body);
  loop_ir::StatementPtr loop_body(const Loop& loop, const LoopSpace& space, Scope inner,
                                  const std::string& coordinate, Statements statements, const Body& body);

  // located.cc
  void emit_band(const Loop& loop, const LoopSpace& space, const Scope& scope, loop_ir::Shape shape,
                 Statements& out, const Body& body);
  void emit_hashed(const Loop& loop, const LoopSpace& space, const Scope& scope, loop_ir::Shape shape,
                   Statements& out, const Body& body);
  bool runs_over_band(int operand, const Loop& loop) const;
  Band open_band(const merge_lattice::LevelAccess& access, const Scope& scope, Statements& out);
  void open_bands(const LoopSpace& space, Scope& scope, Statements& out);
  void locate(const merge_lattice::LevelAccess& access, const std::string& coordinate, Scope& scope,
              Statements& out);
  loop_ir::ExpressionPtr locate_in_band(const merge_lattice::LevelAccess& access,
                                        const loop_ir::ExpressionPtr& coordinate, Scope& scope,
                                        Statements& out);
  loop_ir::ExpressionPtr locate_in_table(const merge_lattice::LevelAccess& access,
                                         const loop_ir::ExpressionPtr& coordinate, Scope& scope,
                                         Statements& out);
  loop_ir::ExpressionPtr locate_in_bitmap(const merge_lattice::LevelAccess& access,
                                          const loop_ir::ExpressionPtr& coordinate, Scope& scope,
                                          Statements& out);
  void bind(const Loop& loop, const std::string& coordinate, Scope& scope, Statements& out);
  void search_diagonal(int operand, int index, const std::string& coordinate, Scope& scope, Statements& out);
  loop_ir::ExpressionPtr holding(const merge_lattice::Formula& formula, const Scope& scope) const;
  loop_ir::ExpressionPtr first_range(const std::string& border, const loop_ir::Cursor& list);
  format::LevelFormat level_format(const merge_lattice::LevelAccess& access) const;
  loop_ir::Cursor cursor(const merge_lattice::LevelAccess& access, const std::string& preferred,
                         const Scope& scope);
  EntryRanges find_entry_ranges(const Loop& loop, Statements& out);
  int operand_at(const Loop& loop) const;
  std::string letter_of(int index) const {
    return Names::base(tree_.index_names[static_cast<std::size_t>(index)], "x");
  }
  loop_ir::Phase describe(const NestPtr& nest);
  loop_ir::Shape chain_shape(const Loop& loop, const Scope& scope) const;

  // values.cc
  void store(const Sink& sink, const Scope& scope, const loop_ir::ExpressionPtr& value, Statements& out);
  void write(const Sink& sink, const Scope& scope, const loop_ir::ExpressionPtr& value, Statements& out);
  void hoist(const Scope& scope, PartialProduct& partial, Statements& out);
  void hoist_values(const NestPtr& chain, const Scope& scope, Statements& out);
  void hoist_value(const ValuePtr& value, const Scope& scope, Statements& out);
  bool is_known(const ValuePtr& value, const Scope& scope) const;
  loop_ir::ExpressionPtr product(const Scope& scope, loop_ir::ExpressionPtr prefix,
                                 const std::vector<int>& factors);
  loop_ir::ExpressionPtr multiply(loop_ir::ExpressionPtr left, loop_ir::ExpressionPtr right) const;
  loop_ir::ExpressionPtr load_of(int operand, const Scope& scope);
  loop_ir::ExpressionPtr value_of(int operand, const Scope& scope);
  loop_ir::ExpressionPtr evaluate(const ValuePtr& value, const Scope& scope, const std::set<int>& present);
  loop_ir::ExpressionPtr evaluate_zeros(const ValuePtr& value, const Scope& scope,
                                        const std::set<int>& present);
  void annihilators(const ValuePtr& value, const Scope& scope, std::set<int>& out) const;
  loop_ir::ExpressionPtr presence(const std::set<int>& operands, const Scope& scope) const;
  operators::Function meant(operators::Function function) const;

  // appends.cc
  bool appends_to(int target) const;
  void emit_appending_phases(const NestPtr& nest, const Sink& sink);
  bool iterates_rows_in_order(const NestPtr& nest) const;
  bool decides_entries(const Branch& branch) const;
  void emit_count(const NestPtr& nest, const Scope& scope, Statements& out);
  void open_rows(const Loop& loop, Statements& out);
  Body with_counters(const Loop& loop, const Body& body);
  Body with_append(const Loop& loop, const Body& body);
  /// `entry`: the level of the result whose loop is around.
  void emit_append(const merge_lattice::LevelAccess& entry, const Scope& scope, const std::string& position,
                   const std::string& before, Statements& out);

  // sparse_accumulator.cc
  bool tracks(int target) const;
  bool is_ordered(int target) const;
  /// Values written to the operand may be summed in a register first. Writes that make entries of a sparse
  /// result may not: they must happen in both phases.
  bool sums_in_register(int target) const;
  /// Allocates the memory of the temporary around the statements that fill and read it.
  void emit_accumulator(const Branch& branch, Statements& out, const std::function<void()>& produce,
                        const std::function<void()>& consume);
  void emit_counted(const Branch& branch, const std::vector<int>& occupancy_levels, Statements& out,
                    const std::function<void()>& produce);
  bool starts_clean(int target) const;
  void emit_clean(const SparseAccumulator& accumulator, Statements& out);
  void emit_epoch(const SparseAccumulator& accumulator, const loop_ir::ExpressionPtr& element,
                  Statements& out);
  void emit_occupy(const loop_ir::For& walk, const std::string& coordinates, const std::string& coordinate,
                   Statements& out);
  void emit_inserts(const NestPtr& nest, const Scope& scope, Statements& out);
  void emit_insert(int target, Scope& scope, Statements& out);
  void emit_first(int target, const loop_ir::ExpressionPtr& slot, Statements& out);

  // hash_tables.cc
  void emit_table(const Branch& branch, Statements& out, const std::function<void()>& produce,
                  const std::function<void()>& consume);
  void emit_table_insert(int target, Scope& scope, Statements& out);
  void emit_table_clear(const SparseAccumulator& accumulator, Statements& out);
  void emit_table_read(const Operand& read, const std::string& coordinate, Scope& scope, Statements& out);
  void bind_slot(int number, const std::string& slot, Scope& scope, Statements& out);
  const Operand* occupied_read(const NestPtr& body, int index) const;
  bool emit_list_loop(const Loop& loop, const Scope& scope, Statements& out, const Body& body);
  Body with_flag(const Loop& loop, const Body& body);
  loop_ir::ExpressionPtr occupancy_index(const Operand& use, const Scope& scope);

  bool accumulates_here(const Sink& sink, const Scope& scope, const PartialProduct& partial) const;
  bool is_complete(int operand, const Scope& scope) const;
  void resolve_all(const std::vector<int>& operands, Scope& scope, Statements& out);

  /// Returns the position at which the operand is read or written.
  const Position& position_of(int number, const Scope& scope) const {
    const int located_by = operand(number).located_by;
    return scope.positions[static_cast<std::size_t>(located_by < 0 ? number : located_by)];
  }

  const Operand& operand(int number) const { return tree_.operands[static_cast<std::size_t>(number)]; }
  const Tensor& tensor_of(int number) const {
    return tree_.tensors[static_cast<std::size_t>(operand(number).tensor)];
  }

  const NestTree& tree_;
  KernelBuilder& builder_;
  const bool for_gpu_ = is_for_gpu(tree_);
  MappedLoops mapped_;  ///< the present phase's, on a GPU
  ThreadWrites thread_writes_ = ThreadWrites::alone;
  std::string target_array_;         ///< array written by the present GPU phase
  loop_ir::Deferred deferred_;       ///< updates the present phase flushes later
  const void* outermost_ = nullptr;  ///< the Loop or Blocks over [begin, end) of the phase
  bool adds_terms_ = false;          ///< the phases are the terms of one sum
  const Branch* reader_ = nullptr;   ///< branch whose consumer reads the target of the phase
  int vector_depth_ = 0;             ///< number of vector loops around
  EntryRanges entry_ranges_;
  std::optional<ClearedRows> cleared_;                     ///< the present phase's
  std::optional<merge_lattice::LevelAccess> split_level_;  ///< walked only at its positions [first, last)
  int atomic_ = -1;                                        ///< tensor that the phase writes atomically, or -1
  std::map<int, std::string> scalars_;                     ///< temporaries held in local names
  std::map<const Value*, std::string> known_;  ///< parts of the present chain's value held in names
  loop_ir::Step step_ = loop_ir::Step::compute;
  bool rows_follow_ = false;  ///< iterations are rows of the result whose entries follow each other
  std::map<int, std::string> counters_;  ///< counted level of the result -> entries so far, in this phase
  std::map<int, std::string> counts_;    ///< counted level of the result -> the array of its counts
  std::map<int, SparseAccumulator> accumulators_;  ///< by temporary
};

}  // namespace schaas::lower
