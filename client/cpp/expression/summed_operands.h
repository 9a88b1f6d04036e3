#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "schaas/expression.h"

namespace schaas::client {

/// Names the operands whose entries a program only adds up, each multiplied by elements of dense tensors.
/// They are csr or csc matrices, or tensors with more dense levels. Their entries may come in any order, and
/// repeatedly, for a kernel that walks them once. `formats`: texts by tensor, dense where there is none.
std::set<std::string> summed_operands(const Program& program,
                                      const std::map<std::string, std::string>& formats);

/// True when each index has one loop in a loop tree ("ij", "i<j,>"). Nothing but numbers is then kept between
/// loops: no temporary has an element for each entry of an operand.
bool loops_once(std::string_view tree);

}  // namespace schaas::client
