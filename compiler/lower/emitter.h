#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/loop_ir/nodes.h"
#include "compiler/lower/iteration_space.h"
#include "compiler/lower/kernel_builder.h"
#include "compiler/lower/nest.h"
#include "compiler/lower/position.h"
#include "compiler/lower/scope.h"
#include "compiler/lower/units.h"

namespace schaas::lower {

using Statements = std::vector<loop_ir::StatementPtr>;

/// How the threads of a GPU write what they compute together.
enum class Together {
  alone,    ///< each for itself
  grouped,  ///< GroupStore
  pending,  ///< Defer
};

/// What becomes of the value a statement computes.
struct Sink {
  enum class Kind {
    array,       ///< stored at the target operand's place with `mode`
    accumulate,  ///< folded into the accumulator `name`
    define,      ///< `name` is declared with it
  } kind = Kind::array;
  int operand = -1;
  loop_ir::Write mode = loop_ir::Write::fold;
  std::string name;
  operators::Monoid monoid = operators::Monoid::sum;
};

/// What a temporary that is tracked is remembered by (Tensor::tracked): a flag for each element of its first
/// levels, or, where one level is tracked and the thread has it to itself, marks, and the list of those that
/// are set, made when all are.
struct Tracking {
  std::string flags;
  std::string list;                 ///< "": none, the flags are asked one by one
  std::string count;                ///< of the list
  loop_ir::ExpressionPtr extent{};  ///< of what is marked
  int writer = -1;  ///< whose elements are to be made 0 again once they have been read; -1: of none
  const Loop* reader = nullptr;  ///< the loop that reads each of them once, if it is one
  std::string stamp{};           ///< when they are only counted: what `flags` then holds for those written
  /// Of a hash table: its keys, a coordinate and one, 0 where a place is free, and the places that are taken.
  std::string keys{};
  std::string taken{};

  loop_ir::Marks marks() const { return {flags, list, count, extent}; }  ///< that the list is made from
};

/// Of a phase whose range counts the entries of one operand down to some level (Manner::positions): what of
/// each of these levels holds the entries of the range.
struct Shares {
  int operand = -1;
  std::vector<loop_ir::Range> levels{};
};

/// Of a phase whose outermost loop goes through the rows of a dense result: it clears them on its way, so
/// that nobody has to clear the whole result before, and they are in the cache when they are added to.
struct ClearedRows {
  int target = -1;
  const Loop* rows = nullptr;
  bool own = false;  ///< each row it comes by, since it adds to it; else it stores all of it
  /// Each block of these adds to all of the row: where there is but one, it stores it instead.
  const Blocks* blocks = nullptr;
  std::optional<merge_lattice::LevelAccess>
      walked;       ///< level whose coordinates are the rows it comes by; else all
  int factor = -1;  ///< operand of which rows without entries give rows of zeros, which are cleared; or -1
};

/// Turns a numbered tree into loop IR, phase by phase.
class Emitter {
 public:
  Emitter(const NestTree& tree, KernelBuilder& builder) : tree_(tree), builder_(builder) {}

  /// A root `where` is split into its producer's phases, then its consumer's.
  void emit_phases(const NestPtr& nest);

 private:
  /// The part of a chain's product that is not computed yet, and a name for the part that is (null: none).
  struct Pending {
    std::vector<int> factors;
    loop_ir::ExpressionPtr prefix;
  };
  using Body = std::function<void(Scope&, Statements&)>;

  loop_ir::Write write_mode(const NestPtr& nest);
  void emit_shared(const Branch& branch);
  void emit_phase(const NestPtr& nest, const Sink& sink, loop_ir::Step step);
  Scope start(const NestPtr& nest, Statements& out);
  bool writes_own(const Loop& loop) const;
  bool sums_pieces(const NestPtr& nest) const;

  // cleared.cc
  std::optional<ClearedRows> cleared_rows(const NestPtr& nest, const Sink& sink) const;
  Body with_clearing(const Loop& loop, const Body& body);
  /// Before the row at `place`, a coordinate or the position of one, is written.
  void clear_rows(const loop_ir::ExpressionPtr& place, const loop_ir::ExpressionPtr& coordinate, bool own,
                  Statements& out);
  void emit_blocks_of_row(const Blocks& blocks, const Scope& scope, const Sink& sink, Statements& out);

  // for_units.cc
  /// Of a phase for a GPU: how its target is written, by each thread for itself or by groups.
  loop_ir::Write unit_write_mode(const NestPtr& nest);
  bool has_one_writer() const;
  void close_units(Statements& out, loop_ir::Phase& phase);
  Statements settled(Statements body) const;
  Body with_pending(const Body& body);
  /// What a thread, or several together, do with a value that goes to an element of an array.
  loop_ir::StatementPtr stored(const Sink& sink, const std::string& array,
                               const loop_ir::ExpressionPtr& index,
                               const loop_ir::ExpressionPtr& value) const;
  loop_ir::StatementPtr in_turns(const loop_ir::StatementPtr& statement) const;

  // parts.cc
  /// Another tree with the same arrays, in the same phase.
  Emitter(const NestTree& tree, const Emitter& other);
  loop_ir::Cut emit_cut(const NestPtr& nest, const Sink& sink, const PhaseCut& cut);
  loop_ir::StatementPtr emit_combine(const NestPtr& nest, const Sink& sink, const PhaseCut& cut,
                                     const std::vector<int>& indices);
  void emit(const NestPtr& nest, const Scope& scope, const Sink& sink, Statements& out);
  /// Emits around a body that goes on with the sink it is given.
  using Around = std::function<void(const Sink& inner)>;
  void reduce(const Scope& scope, const Sink& sink, Statements& out, const Around& around);
  void emit_branch(const Branch& branch, const Scope& scope, const Sink& sink, Statements& out);
  void emit_chain(const NestPtr& nest, const Scope& scope, Pending pending, const Sink& sink,
                  Statements& out);
  void emit_counting(const Loop& loop, const Scope& scope, const Sink& sink, const Body& body, Statements& out);
  bool tells_whether_it_runs(const Loop& loop) const;
  void emit_reset(const NestPtr& nest, const Scope& scope, int target, Statements& out);
  loop_ir::StatementPtr accumulator(const std::string& name, operators::Monoid monoid) const;

  // loops.cc
  void emit_loop(const Loop& loop, const Scope& scope, loop_ir::Shape shape, Statements& out,
                 const Body& body);
  void emit_over(const Loop& loop, const Scope& scope, loop_ir::Shape shape, Statements& out,
                 const Body& whole);
  loop_ir::Range open_blocks(const Blocks& blocks, Scope& scope);
  void emit_blocks(const Blocks& blocks, const Scope& scope, Statements& out, const Body& body);
  void emit_parts(const Blocks& blocks, Scope& inner, const loop_ir::Range& all, Statements& out,
                  const Body& body);
  void emit_block_loop(const Loop& loop, const Scope& scope, loop_ir::Shape shape, Statements& out,
                       const Body& body);
  void bind_block(const Loop& loop, const loop_ir::ExpressionPtr& place, Scope& scope) const;
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
  loop_ir::ExpressionPtr first_stretch(const std::string& border, const loop_ir::Cursor& list);
  format::LevelFormat level_format(const merge_lattice::LevelAccess& access) const;
  loop_ir::Cursor cursor(const merge_lattice::LevelAccess& access, const std::string& wish,
                         const Scope& scope);
  Shares find_shares(const Loop& loop, Statements& out);
  int operand_at(const Loop& loop) const;
  std::string letter_of(int index) const {
    return Names::base(tree_.index_names[static_cast<std::size_t>(index)], "x");
  }
  loop_ir::Phase describe(const NestPtr& nest);
  loop_ir::Shape chain_shape(const Loop& loop, const Scope& scope) const;

  // values.cc
  void store(const Sink& sink, const Scope& scope, const loop_ir::ExpressionPtr& value, Statements& out);
  void write(const Sink& sink, const Scope& scope, const loop_ir::ExpressionPtr& value, Statements& out);
  void hoist(const Scope& scope, Pending& pending, Statements& out);
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
  bool runs_by_rows(const NestPtr& nest) const;
  void emit_count(const NestPtr& nest, const Scope& scope, Statements& out);
  void open_rows(const Loop& loop, Statements& out);
  Body with_unit(const Loop& loop, const Body& body);
  Body with_append(const Loop& loop, const Body& body);
  /// `entry`: of the result's levels the one whose loop is around.
  void emit_append(const merge_lattice::LevelAccess& entry, const Scope& scope, const std::string& position,
                   const std::string& before, Statements& out);

  // tracked.cc
  bool tracks(int target) const;
  bool is_ordered(int target) const;
  /// What is written to the operand may be summed in a register before. Not what a sparse result is made
  /// from: there each write tells of an entry, and must do so in both phases.
  bool sums_in_register(int target) const;
  /// The memory of the temporary around what fills and what reads it.
  void emit_tracked(const Branch& branch, Statements& out, const std::function<void()>& produce,
                    const std::function<void()>& consume);
  void emit_counted(const Branch& branch, const std::vector<int>& tracked, Statements& out,
                    const std::function<void()>& produce);
  bool starts_clean(int target) const;
  void emit_clean(const Tracking& tracking, Statements& out);
  void emit_stamp(const Tracking& tracking, const loop_ir::ExpressionPtr& element, Statements& out);
  void emit_marking(const loop_ir::For& walk, const std::string& coordinates, const std::string& coordinate,
                    Statements& out);
  void emit_inserts(const NestPtr& nest, const Scope& scope, Statements& out);
  void emit_insert(int target, Scope& scope, Statements& out);
  void emit_first(int target, const loop_ir::ExpressionPtr& place, Statements& out);

  // tables.cc
  void emit_table(const Branch& branch, Statements& out, const std::function<void()>& produce,
                  const std::function<void()>& consume);
  void emit_table_insert(int target, Scope& scope, Statements& out);
  void emit_table_forget(const Tracking& tracking, Statements& out);
  void emit_table_read(const Operand& read, const std::string& coordinate, Scope& scope, Statements& out);
  void bind_place(int number, const std::string& place, Scope& scope, Statements& out);
  const Operand* tracked_read(const NestPtr& body, int index) const;
  bool emit_list_loop(const Loop& loop, const Scope& scope, Statements& out, const Body& body);
  Body with_flag(const Loop& loop, const Body& body);
  loop_ir::ExpressionPtr tracked_place(const Operand& use, const Scope& scope);

  bool accumulates_here(const Sink& sink, const Scope& scope, const Pending& pending) const;
  bool is_complete(int operand, const Scope& scope) const;
  void settle_all(const std::vector<int>& operands, Scope& scope, Statements& out);

  /// Where the operand is read or written.
  const Position& position_of(int number, const Scope& scope) const {
    const int place = operand(number).place;
    return scope.positions[static_cast<std::size_t>(place < 0 ? number : place)];
  }

  const Operand& operand(int number) const { return tree_.operands[static_cast<std::size_t>(number)]; }
  const Tensor& tensor_of(int number) const {
    return tree_.tensors[static_cast<std::size_t>(operand(number).tensor)];
  }

  const NestTree& tree_;
  KernelBuilder& builder_;
  const bool for_gpu_ = is_for_gpu(tree_);
  SharedLoops units_;  ///< of the present phase, for a GPU
  Together together_ = Together::alone;
  std::string target_array_;         ///< what this phase writes, when it is for a GPU
  loop_ir::Pending pending_;         ///< what this phase writes later
  const void* outermost_ = nullptr;  ///< the Loop or Blocks that run over [begin, end) of the phase
  bool adds_terms_ = false;          ///< the phases are the terms of one sum
  const Branch* reader_ = nullptr;   ///< whose consumer reads what the phase writes
  int lanes_ = 0;                    ///< depth of lanes loops around
  Shares shares_;
  std::optional<ClearedRows> cleared_;             ///< by the present phase
  std::optional<merge_lattice::LevelAccess> cut_;  ///< only its positions [first, last) are walked
  int atomic_ = -1;                                ///< tensor that the phase writes with atomic folds, or -1
  std::map<int, std::string> scalars_;             ///< temporaries that are names
  std::map<const Value*, std::string> known_;      ///< parts of the present chain's value that are names
  loop_ir::Step step_ = loop_ir::Step::compute;
  bool rows_follow_ = false;  ///< a unit is a row of the result, whose entries follow those of the one before
  std::map<int, std::string> counters_;  ///< counted level of the result -> entries so far, in this phase
  std::map<int, std::string> counts_;    ///< counted level of the result -> the array of its counts
  std::map<int, Tracking> tracking_;     ///< by temporary
};

}  // namespace schaas::lower
