#pragma once
#include <algorithm>
#include <string>

#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/analysis/iteration_space.h"
#include "compiler/lower/analysis/nest.h"
#include "compiler/lower/emit/facts/kernel_builder.h"
#include "compiler/lower/emit/facts/thread_mapping.h"

/// Facts about the phase at hand that emission decides once, before its loops.
namespace schaas::lower {

/// Destination of the value that a statement computes.
struct Sink {
  enum class Kind {
    array,       ///< stored at the position of the target operand with `mode`
    accumulate,  ///< folded into the accumulator `name`
    define,      ///< `name` is declared with it
  } kind = Kind::array;
  int operand = -1;
  loop_ir::Write mode = loop_ir::Write::fold;
  std::string name;
  operators::Monoid monoid = operators::Monoid::sum;
};

/// The tree, and facts of the phase. `Phases` sets them; classes of emission read them.
struct EmissionFacts {
  const NestTree& tree;
  KernelBuilder& builder;
  const bool for_gpu = is_for_gpu(tree);
  MappedLoops mapped{};             ///< on a GPU
  const void* outermost = nullptr;  ///< the Loop or Blocks over [begin, end) of the phase
  bool adds_terms = false;          ///< the phases are the terms of one sum
  int atomic = -1;                  ///< tensor that the phase writes atomically, or -1
  loop_ir::Step step = loop_ir::Step::compute;

  const Operand& operand(int number) const { return lower::operand(tree, number); }
  const Tensor& tensor_of(int number) const { return lower::tensor_of(tree, number); }
  format::LevelFormat level_format(const merge_lattice::LevelAccess& access) const {
    return tensor_of(access.operand).levels[static_cast<std::size_t>(access.level)];
  }
  LoopSpace space_of(const Loop& loop) const { return loop_space(loop.body, loop.index, tree); }
  std::string fresh(const std::string& preferred) const { return builder.names.fresh(preferred); }
  std::string letter_of(int index) const {
    return Names::base(tree.index_names[static_cast<std::size_t>(index)], "x");
  }

  /// The target is a temporary that knows which of its elements were written.
  bool tracks(int target) const { return tensor_of(target).occupancy_levels > 0; }
  /// The target is a result to which entries are appended.
  bool appends_to(int target) const {
    const Tensor& tensor = tensor_of(target);
    return !tensor.temporary() && std::any_of(tensor.levels.begin(), tensor.levels.end(), format::is_sparse);
  }
  /// Values written to the operand may be summed in a register first. Writes that make entries of a sparse
  /// result may not: they must happen in both phases.
  bool sums_in_register(int target) const { return !tracks(target) || !appends_to(target_of(tree.root)); }
};

}  // namespace schaas::lower
