#pragma once
#include "compiler/index_notation/selections.h"

namespace schaas::index_notation {

/// Writes equations of two indices as selections, `equal(i,j)`, where loops need not visit every pair of
/// them: in sums with a tensor whose entries are walked along one of the two, and in sparse results. Loops
/// then walk a diagonal beside what is stored:
///     A(i,j) = d(i) * (i == j) - B(i,j)        ->  A(i,j) = d(i) * equal(i,j) - B(i,j)
///     A(i,j) = where(i == j, 1, B(i,j))        ->  A(i,j) = equal(i,j) + where(i == j, 0, B(i,j))
/// Terms that walk entries of their own keep theirs, and so do all under other semirings than plus-times,
/// where the number 1 is not the product's identity. The extents of the two may differ.
Program with_equations_selected(const Program& program, const WalkedLevel& walked_level);

}  // namespace schaas::index_notation
