#pragma once
#include <vector>

#include "compiler/index_notation/nodes.h"

namespace schaas::index_notation {

/// Calls that cost far more than a multiplication: exp, log, sin, ..., once per occurrence, in
/// the order of the text. They point into `value`.
std::vector<const Expression*> costly_calls(const Expression& value);

}  // namespace schaas::index_notation
