#pragma once
#include <optional>
#include <string>

#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/analysis/nest.h"
#include "compiler/merge_lattice/merge_lattice.h"

namespace schaas::lower {

/// Returns the compressed level over whose entries all reads of a temporary between phases loop, else
/// nothing. Only rows at its stored coordinates are referenced; others need not be computed. Two thirds of
/// wiki-Vote's columns have no entries; `T(j,l) = C(j,k) * D(k,l)` read by `B(i,j) * T(j,l)` has three times
/// the rows it needs.
std::optional<merge_lattice::LevelAccess> referenced_rows(const NestPtr& reader, int temporary,
                                                          const NestTree& tree);

/// The outermost loop of the phase that writes operand `target` runs over all of its rows, each once, and may
/// run over a subset.
bool iterates_rows(const NestPtr& phase, int target, const NestTree& tree);

/// Makes the phase, whose outermost loop runs over all rows, run over the referenced rows in shared array
/// `list`. `variable`: new name of the loop's variable.
loop_ir::Phase over_referenced_rows(loop_ir::Phase phase, const std::string& list,
                                    const std::string& variable);

}  // namespace schaas::lower
