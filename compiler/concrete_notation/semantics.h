#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"

/// What the assignments of a tree mean for a problem: what they start from, and which monoid the result is
/// folded with.
namespace schaas::concrete_notation {

/// What a temporary, or a result that is not updated, holds before the first `monoid=` of it: the zero of the
/// semiring when the monoid is its sum, else the monoid's identity.
double start_value(operators::Monoid monoid, const problem::Problem& problem);

/// The monoid a statement's target is written with: the update's, else that of the reduction its right side
/// is as a whole, else the semiring's sum.
operators::Monoid target_monoid(const index_notation::Assignment& statement, const problem::Problem& problem);

/// What the client fills the result with before a kernel that does not update it.
double result_fill(const problem::Problem& problem);

/// The statement with all sums explicit, the top of a contraction's included: Reduction where something is
/// reduced.
index_notation::Expression explicit_value(const index_notation::Assignment& statement,
                                          const problem::Problem& problem);

}  // namespace schaas::concrete_notation
