#pragma once
#include <string>

#include "compiler/index_notation/nodes.h"

namespace schaas::index_notation {

/// "A(i,l) = B(i,j) * C(j,l)"; a scalar prints without parentheses. parse(print(x)) == x.
std::string print(const Assignment& assignment);
std::string print(const Expression& expression);
std::string print(const Access& access);

}  // namespace schaas::index_notation
