#include "compiler/schedule/directives/divide.h"

#include <string>
#include <utility>

#include "compiler/schedule/directives/split.h"
#include "compiler/schedule/illegal.h"

namespace schaas::schedule {

using concrete_notation::StatementPtr;

support::Result<StatementPtr> apply_divide(const StatementPtr& tree, const Divide& directive) {
  if (directive.parts < 2) {
    return illegal("parts is " + std::to_string(directive.parts) + "; a loop is divided into at least 2");
  }
  return with_blocks(tree, directive.path, directive.loop, directive.outer, [&](StatementPtr body) {
    return concrete_notation::divided(directive.loop, directive.parts, std::move(body));
  });
}

}  // namespace schaas::schedule
