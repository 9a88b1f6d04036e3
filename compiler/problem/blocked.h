#pragma once
#include "compiler/format/blocks.h"
#include "compiler/problem/problem.h"

namespace schaas::problem {

/// Every access of a program, for format::blocking.
std::vector<format::Reading> readings(const std::vector<index_notation::Assignment>& statements);

/// The problem over blocks (format/blocks.h): indices of blocked matrices split in two, the inner one of a
/// fixed extent, formats by level. What is asked for has csr in place of blocks. Constraints say no more than
/// before: an extent that is no multiple is rounded up to whole blocks, of which a count of nonzeros is a
/// bound only; those that tell nothing for certain are left out. Errors: invalid [constant-range] and
/// [never-true] of constraints.
support::Result<Problem> with_blocks(const Problem& problem, const format::Blocking& blocking);

}  // namespace schaas::problem
