#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop_ir/nodes.h"
#include "compiler/lower/nest.h"
#include "compiler/lower/position.h"
#include "compiler/merge_lattice/merge_lattice.h"

/// What is known at a place in a nest.
namespace schaas::lower {

/// The present block of an index: values [begin, end) of a dense range, or of the positions of the one
/// compressed level that is walked.
struct OpenBlock {
  std::string begin, end;
  std::optional<merge_lattice::LevelAccess> walked;
};

/// The coordinates [first, end) of one parent of a banded level; a coordinate and `shift` make its position.
struct Band {
  loop_ir::ExpressionPtr first, end, shift;
};

/// Where each operand stands, the blocks that are open and the coordinates that are known, by index; copied
/// on entering a loop.
struct Scope {
  std::vector<Position> positions;
  std::map<int, OpenBlock> blocks{};
  std::map<int, std::string> coordinates{};
  std::map<std::pair<int, int>, Band> bands{};  ///< by operand and level: those of the loops entered
  std::string unit{};                           ///< the iteration of the phase's outermost loop
  std::string row{};                            ///< of two collapsed loops: the value of the outer one
  const Loop* inner_of_pair = nullptr;
};

}  // namespace schaas::lower
