#pragma once
#include <vector>

#include "compiler/problem/problem.h"

namespace schaas::concrete_notation {

/// Returns the re-layouts (transposed copies) of operands that give the default nest a loop order. They
/// resolve contradicting storage orders of accesses in one nest, as in `B(i,j) + C(j,i)` by rows. The order
/// of a sparse result may contradict, too, as in `A(i,j) = 2 * B(i,j)` with A by columns and B by rows.
/// Accesses with the fewest entries are chosen, as far as the constraints bound them; else the fewest
/// accesses, the later ones. Not for the result of a contraction (result_copies.h). None for most problems.
/// Deterministic.
std::vector<problem::CopyRequest> needed_copies(const problem::Problem& problem);

/// Returns re-layouts for programs with a sparse result. With these as well, every nest that has the index of
/// the result's first level may begin with the loop over it: `A(i,k) = relu(sum(j)(B(j,i) * C(j,k)))` by
/// rows. All of them can then share that loop, and their temporaries hold a row. Without these a temporary
/// may have to hold all elements. None for contractions (result_copies.h).
std::vector<problem::CopyRequest> row_copies(const problem::Problem& problem);

/// Returns such re-layouts for programs with any result. With these, from that loop on, every loop goes along
/// a sparse operand that the loops around have reached. `A(i,j) = B(i,k) * C(k,j) + D(i,j)` by columns is
/// computed by columns of copies of B and C. Without them C's columns would be merged with every row of B. So
/// would be the rows of `A(i,k) = exp(sum(j)(B(i,j) * B(k,j)))`. None for contractions.
std::vector<problem::CopyRequest> walking_copies(const problem::Problem& problem);

/// Returns re-layouts for reductions in which unstored elements take part whatever their number, as in
/// `y(j) = max(i)(B(i,j))` with B by rows. With them, and those the nests need, such reductions may be the
/// innermost loops, which walk what is stored and count the rest (lower/unstored.h). Without them the loops
/// run over all elements. None for contractions.
std::vector<problem::CopyRequest> counting_copies(const problem::Problem& problem);

/// Returns the re-layout whose modes come in the order of the loops.
problem::CopyRequest copy_along(const std::vector<std::string>& loops, const index_notation::Access& access,
                                const problem::Problem& problem);

/// Returns the problem that costs refer to, without re-layouts. It has unread tensors instead, for those it
/// needs, those its result may be made from, the possible ones under SpaceOption::copies, and those it had.
problem::Problem with_known_copies(const problem::Problem& problem);

}  // namespace schaas::concrete_notation
