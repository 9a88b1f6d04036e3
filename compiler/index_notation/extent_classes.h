#pragma once
#include <map>
#include <string>
#include <vector>

#include "compiler/index_notation/nodes.h"

namespace schaas::index_notation {

/// Index -> the first index (in index_variables order) that must have the same extent, since both stand at
/// the same mode of one tensor. Examples: in B(i,j) * B(j,k) all of i, j, k; in T(i) = ...; y(j) = T(j) both.
/// An index alone in its class stands for itself.
std::map<std::string, std::string> extent_classes(const std::vector<Assignment>& statements);

}  // namespace schaas::index_notation
