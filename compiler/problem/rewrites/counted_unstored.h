#pragma once
#include "compiler/problem/problem.h"

namespace schaas::problem {

/// Splits reductions of programs into what is stored and what is not. Done where loops over the stored
/// entries cannot count the others (lower/unstored.h). There the operand stores a reduced index, in a dense
/// level, above one that stays. Two examples with B by rows:
///     m(j) = max(i)(abs(B(i,j)))
///     -> B_unstored(j) = sum(i)(i >= 0) - sum(i)(B(i,j) != 0)
///        m(j) = max(max(i)(where(B(i,j) != 0, abs(B(i,j)), -inf)), where(B_unstored(j) != 0, 0, -inf))
///     v(j) = sum(i)(pow(B(i,j) - m(j), 2))
///     -> v(j) = sum(i)(where(B(i,j) != 0, pow(B(i,j) - m(j), 2), 0))
///               + where(B_unstored(j) != 0, B_unstored(j) * pow(0 - m(j), 2), 0)
/// It is for sums, min and max of one sparse operand whose unstored elements all count alike. Counts must be
/// exact, so values are f64, i64 or u64; with others a schedule counts in a copy (copies/needed_copies.h).
/// Problems that the verifier would refuse for their size stay.
Problem with_unstored_counted(Problem problem);

}  // namespace schaas::problem
