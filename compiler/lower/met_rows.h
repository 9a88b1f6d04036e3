#pragma once
#include <optional>
#include <string>

#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/nest.h"
#include "compiler/merge_lattice/merge_lattice.h"

namespace schaas::lower {

/// Rows of a temporary between phases that somebody reads: where all reads stand in loops over the entries of
/// one compressed level, that level, else nothing. A row is what belongs to one coordinate of the temporary's
/// first level; a row that no entry meets need not be computed: of wiki-Vote's columns two thirds have no
/// entries, so `T(j,l) = C(j,k) * D(k,l)` read by `B(i,j) * T(j,l)` has three times the rows it needs.
std::optional<merge_lattice::LevelAccess> met_rows(const NestPtr& reader, int temporary,
                                                   const NestTree& tree);

/// Whether the outermost loop of the phase that writes operand `target` runs over all of its rows, each once,
/// and may as well run over some of them.
bool goes_by_rows(const NestPtr& phase, int target, const NestTree& tree);

/// The phase, whose outermost loop runs over all rows, over those of a shared array of what is met; `place`,
/// a new name, is the variable of its loop.
loop_ir::Phase over_list(loop_ir::Phase phase, const std::string& list, const std::string& place);

}  // namespace schaas::lower
