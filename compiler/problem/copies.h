#pragma once
#include "compiler/problem/problem.h"

/// A problem some of whose operands are kept twice: a problem like any other, with one more tensor for each
/// copy. What reads a copy computes what reads the original computes.
namespace schaas::problem {

/// The problem with one more copy, read as `request` says; copies of one tensor in one order are one. The
/// tensor is an operand of the problem, `order` a permutation of its modes, and it is read at `at`.
Problem with_copy(const Problem& problem, const CopyRequest& request);

/// The same tensors and formats for `request`, but nothing reads the copy yet.
Problem with_copy_beside(const Problem& problem, const CopyRequest& request);

/// `name`, or one made from it that no tensor, index or intermediate of the problem has.
std::string free_name(std::string name, const Problem& problem);

/// The problem that was asked for, but for its masks.
Problem without_copies(const Problem& problem);

}  // namespace schaas::problem
