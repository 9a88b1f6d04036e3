#pragma once
#include <map>
#include <string>

#include "compiler/index_notation/nodes.h"

namespace schaas::index_notation {

/// New names of tensors and of indices; what has no entry keeps its name.
struct Renaming {
  std::map<std::string, std::string> tensors, indices;
};

/// The same under other names, without source ranges.
Access renamed(const Access& access, const Renaming& names);
Expression renamed(const Expression& expression, const Renaming& names);
Assignment renamed(const Assignment& statement, const Renaming& names);

}  // namespace schaas::index_notation
