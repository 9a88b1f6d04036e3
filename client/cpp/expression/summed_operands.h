#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "schaas/expression.h"

namespace schaas::client {

/// Operands by name, with the indices of their only access.
using SummedOperands = std::map<std::string, std::vector<std::string>>;

/// Returns the operands whose entries a program only adds up, each multiplied by elements of dense tensors or
/// of rows of others. They are csr or csc matrices, or tensors with more dense levels, and the result is
/// dense. Their entries may come in any order, and repeatedly, for a kernel that takes them so. `formats`:
/// texts by tensor, dense where there is none.
SummedOperands summed_operands(const Program& program, const std::map<std::string, std::string>& formats);

/// True when each index has one loop in a loop tree ("ij", "i<j,>"). Nothing but numbers is then kept between
/// loops: no temporary has an element for each entry of an operand.
bool loops_once(std::string_view tree);

/// True when the kernel with this loop tree takes entries of all these operands in any order, and repeatedly.
/// Each index has one loop, or the loops over the indices of each operand meet in a single leaf, as in
/// "<jk,ij>". A temporary whose elements stand for entries would be read in another leaf.
bool takes_any_order(std::string_view tree, const SummedOperands& summed);

}  // namespace schaas::client
