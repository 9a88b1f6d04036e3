#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/loop_ir/nodes.h"
#include "compiler/lower/kernel_builder.h"
#include "compiler/lower/nest.h"
#include "compiler/lower/position.h"
#include "compiler/merge_lattice/merge_lattice.h"

namespace schaas::lower {

using Statements = std::vector<loop_ir::StatementPtr>;

/// The present block of an index: values [begin, end) of a dense range, or of the positions of the one
/// compressed level that is walked.
struct OpenBlock {
  std::string begin, end;
  std::optional<merge_lattice::LevelAccess> walked;
};

/// Where each operand stands, and the blocks that are open, by index; copied on entering a loop.
struct Scope {
  std::vector<Position> positions;
  std::map<int, OpenBlock> blocks{};
};

/// What becomes of the value a statement computes.
struct Sink {
  enum class Kind {
    array,       ///< stored at the target operand's place with `mode`
    accumulate,  ///< added to the accumulator `name`
    define,      ///< `name` is declared with it
  } kind = Kind::array;
  int operand = -1;
  loop_ir::Write mode = loop_ir::Write::fold;
  std::string name;
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

  void emit_phase(const NestPtr& nest, const Sink& sink);
  void emit(const NestPtr& nest, const Scope& scope, const Sink& sink, Statements& out);
  /// Emits around a body that goes on with the sink it is given.
  using Around = std::function<void(const Sink& inner)>;
  void reduce(const Scope& scope, const Sink& sink, Statements& out, const Around& around);
  void emit_branch(const Branch& branch, const Scope& scope, const Sink& sink, Statements& out);
  void emit_chain(const NestPtr& nest, const Scope& scope, Pending pending, const Sink& sink, bool reducing,
                  Statements& out);
  void emit_clear(const NestPtr& nest, const Scope& scope, int target, Statements& out);

  void emit_loop(const Loop& loop, const Scope& scope, loop_ir::Shape shape, Statements& out,
                 const Body& body);
  void emit_blocks(const Blocks& blocks, const Scope& scope, Statements& out, const Body& body);
  void emit_block_loop(const Loop& loop, const Scope& scope, loop_ir::Shape shape, Statements& out,
                       const Body& body);
  void emit_merge(const Loop& loop, const merge_lattice::MergePoint& point, const Scope& scope,
                  Statements& out, const Body& body);
  loop_ir::StatementPtr loop_body(const Loop& loop, Scope inner, const std::string& coordinate,
                                  Statements statements, const Body& body);
  merge_lattice::MergePoint merge_point(int index, const NestPtr& body) const;
  loop_ir::Cursor cursor(const merge_lattice::LevelAccess& access, const std::string& wish,
                         const Scope& scope);
  loop_ir::Phase describe(const NestPtr& nest);

  loop_ir::Shape chain_shape(const Loop& loop, const Scope& scope) const;
  bool accumulates_here(const Sink& sink, const Scope& scope, const Pending& pending, bool reducing) const;
  void write(const Sink& sink, const Scope& scope, const loop_ir::ExpressionPtr& value, Statements& out);
  void hoist(const Scope& scope, Pending& pending, Statements& out);
  loop_ir::ExpressionPtr product(const Scope& scope, loop_ir::ExpressionPtr prefix,
                                 const std::vector<int>& factors);
  loop_ir::ExpressionPtr value_of(int operand, const Scope& scope);
  bool is_complete(int operand, const Scope& scope) const;
  void settle_all(const std::vector<int>& operands, Scope& scope, Statements& out);

  const Operand& operand(int number) const { return tree_.operands[static_cast<std::size_t>(number)]; }
  const Tensor& tensor_of(int number) const {
    return tree_.tensors[static_cast<std::size_t>(operand(number).tensor)];
  }

  const NestTree& tree_;
  KernelBuilder& builder_;
  const void* outermost_ = nullptr;     ///< the Loop or Blocks that run over [begin, end) of the phase
  int lanes_ = 0;                       ///< depth of lanes loops around
  std::map<int, std::string> scalars_;  ///< temporaries that are names
};

}  // namespace schaas::lower
