#pragma once
#include "compiler/problem/problem.h"

namespace schaas::problem {

/// Distributes products over sums of a sparse operand and of something that is a product in its indices,
/// where these indices are summed over. Multiplied out, the sparse term walks what is stored, and the other
/// one is a contraction whose sums move into its factors. Undistributed, both would be computed for every
/// pair of coordinates. These are the gradient of a factorisation and its loss:
///     A(i,k) = (B(i,j) - sum(l)(X(i,l) * Y(j,l))) * Y(j,k)
///     -> A(i,k) = sum(j)(B(i,j) * Y(j,k)) - sum(l,j)(X(i,l) * Y(j,l) * Y(j,k))
///     s = sum(i,j)(pow(B(i,j) - x(i) * y(j), 2))
///     -> s = sum(i,j)(B(i,j) * B(i,j)) - 2 * sum(i,j)(...) + sum(i)(x(i) * x(i)) * sum(j)(y(j) * y(j))
/// A function of a sparse element that is not zero where nothing is stored counts as a sum with its value
/// there: `exp(B(i,j)) * x(j)` -> `(exp(B(i,j)) - 1) * x(j) + x(j)`. Sums of sparse operands whose storage
/// orders contradict each other, `(B(i,j) + B(j,i)) * x(j)`, are distributed for a dense result.
/// Intermediates with two indices of a sparse operand become part of their only readers first where that
/// helps, as in programs of derivatives. Sums that would repeat an index get one of a new name. Problems
/// without such a product stay as they are, and so do those that would leave the limits of the language.
Problem with_sums_distributed(Problem problem);

}  // namespace schaas::problem
