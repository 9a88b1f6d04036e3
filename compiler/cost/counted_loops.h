#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/cost/iteration_space.h"

namespace schaas::cost {

/// The innermost loops of a reduction that is needed everywhere, as far as they walk entries. They fold the
/// value of all other coordinates by their number (lower/passes/nests/unstored.h).
struct CountedLoops {
  IterationSpace stored;  ///< the entries that the innermost one walks
  std::size_t loops = 0;
};

/// `indices`: of the loops around the leaf, innermost first, without any that must stay around. `bounds`
/// tells whether operands list an index. Nothing when no loop is counted.
std::optional<CountedLoops> counted_loops(const concrete_notation::Assign& leaf,
                                          const std::vector<std::string>& indices, const Operands& operands,
                                          const std::function<bool(OperandSet, const std::string&)>& bounds);

}  // namespace schaas::cost
