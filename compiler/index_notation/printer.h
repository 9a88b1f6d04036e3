#pragma once
#include <string>

#include "compiler/index_notation/nodes.h"

namespace schaas::index_notation {

/// "min-plus: A(i,l) = B(i,j) * C(j,l)", statements joined by "; ", the semiring left out when it is
/// plus-times. Parentheses stand where the parser needs them and nowhere else; numbers are the shortest texts
/// that read back. A scalar prints without parentheses. parse(print(x)) == x.
std::string print(const Program& program);
std::string print(const Assignment& assignment);
std::string print(const Expression& expression);
std::string print(const Access& access);
/// One mode: `i(2:5)`, and a fixed coordinate as `0` or `(n)`.
std::string print(const std::string& index, const Range& range);

}  // namespace schaas::index_notation
