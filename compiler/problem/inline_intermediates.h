#pragma once
#include "compiler/problem/problem.h"

namespace schaas::problem {

/// Intermediates are dense, but one that is a product with a sparse operand, `E(i,j) = B(i,j) * exp(T(i,j))`,
/// is worth reading only where that operand is stored: its definition takes the place of its readings, so
/// that the sparse iteration space reaches the statements that read it (ReACT, "sparse iteration space
/// propagation"). Done where nothing is summed in the definition and the statements stay within the limits;
/// others stay intermediates.
///     E(i,j) = B(i,j) * exp(T(i,j)); S(i) = E(i,j)   ->   S(i) = B(i,j) * exp(T(i,j))
Problem with_sparse_intermediates_inlined(Problem problem);

}  // namespace schaas::problem
