#pragma once
#include <map>
#include <string>

#include "compiler/loop_ir/nodes.h"

namespace schaas::loop_ir {

/// What names stand for.
using Substitution = std::map<std::string, ExpressionPtr>;

/// `expression` with the names in `with` replaced; arrays are no names. Shares what does not change.
ExpressionPtr substitute(const ExpressionPtr& expression, const Substitution& with);

}  // namespace schaas::loop_ir
