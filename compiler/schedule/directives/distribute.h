#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Distributes the loops of a linear section below its first `depth` over the terms of the sum it computes.
/// Each term is computed after the other instead of once over the union of their entries (Kjolstad et al.,
/// CGO 2019, result reuse). docs/schedules.md.
///     forall(i, forall(j, A(i,j) += B(i,j) + C(i,j)))
///     forall(i, terms(forall(j, A(i,j) += B(i,j)), forall(j, A(i,j) += C(i,j))))
/// A product is distributed over the sums among its factors first: `B(i,j) * (C(j,k) + D(j,k))` has two
/// terms. Terms that are not zero where nothing is stored, such as a literal, stay together: only their sum
/// may be. A term that is nothing but a temporary of the `where` right around, read there alone, is computed
/// into the target itself. Errors: invalid [illegal-directive]: the section folds with another monoid than
/// the semiring's sum, is no sum, or has fewer loops.
support::Result<concrete_notation::StatementPtr> apply_distribute(const concrete_notation::StatementPtr& tree,
                                                                  const Distribute& directive,
                                                                  const problem::Problem& problem);

}  // namespace schaas::schedule
