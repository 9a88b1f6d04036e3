#pragma once
#include <optional>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"

namespace schaas::concrete_notation {

/// Returns the pattern whose entries number the elements of the temporary that a branch passes. The temporary
/// is a masked intermediate (problem/masks.h) with all of its indices. Every assignment that writes or reads
/// an element has the entry of one operand; no array of whole extents is needed (ReACT, section 4.5). As the
/// producer writes it; nothing for others.
std::optional<index_notation::Access> stored_by_entries(const Where& branch, const problem::Problem& problem);

}  // namespace schaas::concrete_notation
