#pragma once
#include "compiler/problem/problem.h"

/// Problems with operands stored twice (re-layout): problems like any other, with one more tensor for each
/// copy, which has the value of its original.
namespace schaas::problem {

/// Adds a re-layout, read as `request` says; copies of one tensor in one order are one. The tensor is an
/// operand of the problem, `order` a permutation of its modes, and it is read at `at`.
Problem with_copy(const Problem& problem, const CopyRequest& request);

/// Adds the tensor and format for `request` without reading it yet.
Problem with_copy_beside(const Problem& problem, const CopyRequest& request);

/// Returns `name`, or one made from it that no tensor, index or intermediate of the problem has.
std::string free_name(std::string name, const Problem& problem);

/// Returns the requested problem, apart from its masks.
Problem without_copies(const Problem& problem);

}  // namespace schaas::problem
