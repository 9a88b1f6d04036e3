#pragma once
#include <string>
#include <vector>

#include "compiler/index_notation/nodes.h"

/// Names that stand alone as numbers: scalar operands, or coordinates of indices.
namespace schaas::index_notation {

/// Returns the expression with coordinates for the scalars that have the name of one of `indices`.
Expression with_coordinates(const Expression& expression, const std::vector<std::string>& indices);

/// Returns the program with coordinates for the scalars that have the name of an index and of no other
/// tensor.
Program with_coordinates(const Program& program);

}  // namespace schaas::index_notation
