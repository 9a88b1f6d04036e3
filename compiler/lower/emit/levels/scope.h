#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop_ir/nodes.h"
#include "compiler/lower/analysis/nest.h"
#include "compiler/lower/emit/levels/position.h"
#include "compiler/merge_lattice/merge_lattice.h"

/// Facts known at one point of a nest.
namespace schaas::lower {

using Statements = std::vector<loop_ir::StatementPtr>;

/// The present block of an index: values [begin, end) of a dense range, or of the positions of the only
/// compressed level that is walked.
struct OpenBlock {
  std::string begin, end;
  std::optional<merge_lattice::LevelAccess> walked;
};

/// The coordinates [first, end) of one parent of a banded level; a coordinate and `shift` make its position.
struct Band {
  loop_ir::ExpressionPtr first, end, shift;
};

/// Entries of a range of positions (LoopAnnotation::positions): the positions that contain them, by level.
struct EntryRanges {
  int operand = -1;
  std::vector<loop_ir::Range> levels{};
};

/// A factor scale * array[at] that a loop knows, `at` its position.
struct KnownFactor {
  std::string array, at;
  loop_ir::ExpressionPtr scale;
};

/// Sum of the innermost loop of a chain: `factor` times each entry of an operand, folded into a row of a
/// sparse accumulator.
struct RowSum {
  int operand = -1;
  int target = -1;
  loop_ir::ExpressionPtr factor;
  std::optional<KnownFactor> known{};  ///< the parts of `factor`
  loop_ir::RowArithmetic arithmetic{};
};

/// Positions of the operands, open blocks and known coordinates by index; copied on entering a loop.
struct Scope {
  std::vector<Position> positions;
  std::map<int, OpenBlock> blocks{};
  std::map<int, std::string> coordinates{};
  std::set<int> certain{};  ///< loops with one value whose value is known to be a coordinate of their index
  std::map<std::pair<int, int>, Band> bands{};  ///< by operand and level; only of the loops entered
  std::map<int, std::string> scalars{};         ///< temporaries held in local names
  std::map<const Value*, std::string> known{};  ///< parts of the present chain's value held in names
  std::optional<RowSum> row_sum{};              ///< the sum of a chain, in its innermost loop
  EntryRanges entry_ranges{};                   ///< those of the phase's range
  std::optional<merge_lattice::LevelAccess> split_level{};  ///< walked only at its positions [first, last)
  bool in_vector_loop = false;
  std::string lane{};       ///< the variable of a vector loop around loops with one value
  std::string iteration{};  ///< the iteration of the phase's outermost loop
  std::string row{};        ///< value of the outer of two collapsed loops
  const Loop* inner_of_pair = nullptr;
};

/// Emits the statements inside a loop, in the scope of one iteration.
using Body = std::function<void(Scope&, Statements&)>;

/// Emits producer or consumer of a temporary, in the scope that both share.
using Part = std::function<void()>;

}  // namespace schaas::lower
