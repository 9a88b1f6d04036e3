#pragma once
#include <map>
#include <string>

#include "compiler/loop_ir/nodes.h"

namespace schaas::loop_ir {

/// Replacements of names.
using Substitution = std::map<std::string, ExpressionPtr>;

/// Replaces the names in `with`; arrays are no names. Returns unchanged subtrees as they are.
ExpressionPtr substitute(const ExpressionPtr& expression, const Substitution& with);

}  // namespace schaas::loop_ir
