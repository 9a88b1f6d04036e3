#pragma once
#include "compiler/format/blocks.h"
#include "compiler/problem/problem.h"

namespace schaas::problem {

/// Returns every access of a program, for format::blocking.
std::vector<format::Reading> readings(const std::vector<index_notation::Assignment>& statements);

/// Returns the problem over blocks (format/blocks.h): indices of blocked matrices split in two, the inner one
/// of a fixed extent, formats by level. Requested formats have csr instead of blocks. Constraints are never
/// stronger than before: an extent that is no multiple is rounded up to whole blocks, whose number of
/// nonzeros is only bounded; constraints without a certain consequence are dropped. Errors: invalid
/// [constant-range] and [never-true] of constraints.
support::Result<Problem> with_blocks(const Problem& problem, const format::Blocking& blocking);

}  // namespace schaas::problem
