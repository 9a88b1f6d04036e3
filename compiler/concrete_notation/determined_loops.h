#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/linear_form.h"
#include "compiler/problem/problem.h"

/// Loops that an equation of coordinates leaves one value: `p == i + k` of `A(i) += B(p) * w(k) * (p == i +
/// k)` for the innermost of the three. Shifted accesses are such sums (docs/language.md, "Shifts").
namespace schaas::concrete_notation {

/// The one value of a loop's index, in coordinates of loops around it. Where it is no coordinate of the
/// index, nothing is added. `equation`: the factor of the leaf that says so.
struct DeterminedLoop {
  problem::LinearForm value;
  index_notation::Expression equation;
};

/// Tells whether the leaf, inside loops over `around`, adds something at one value of `index` only. All
/// tensors store the index densely, and the target, if it has the index, is a result that a loop around sums
/// into. Nothing under semirings other than plus-times.
std::optional<DeterminedLoop> determined_loop(const Assign& leaf, const std::string& index,
                                              const std::vector<std::string>& around,
                                              const problem::Problem& problem);

/// The same of a loop of a tree; nothing of loops with annotations, and where more than loops stands around
/// the assignment below.
std::optional<DeterminedLoop> determined_loop(const Forall& loop, const std::vector<std::string>& around,
                                              const problem::Problem& problem);

}  // namespace schaas::concrete_notation
