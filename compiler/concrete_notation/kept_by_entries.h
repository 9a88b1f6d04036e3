#pragma once
#include <optional>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"

namespace schaas::concrete_notation {

/// The pattern whose entries number the elements of the temporary that a branch passes: a masked intermediate
/// (problem/masks.h) with all of its indices, of which every assignment that writes or reads an element has
/// the entry of one operand. Then there is no need for an array of its whole extents (ReACT, section 4.5). As
/// the producer writes it; nothing for others.
std::optional<index_notation::Access> kept_by_entries(const Where& branch, const problem::Problem& problem);

}  // namespace schaas::concrete_notation
