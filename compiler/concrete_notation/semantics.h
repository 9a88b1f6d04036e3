#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"

/// Meaning of a tree's assignments for a problem: start values, and the monoid of the result.
namespace schaas::concrete_notation {

/// Returns the value of a temporary, or of a result that is not updated, before the first `monoid=`; it is
/// the zero of the semiring when the monoid is its sum, else the monoid's identity.
double start_value(operators::Monoid monoid, const problem::Problem& problem);

/// Returns the monoid of a statement's target: the update's, else that of the reduction that is its whole
/// right side, else the semiring's sum.
operators::Monoid target_monoid(const index_notation::Assignment& statement, const problem::Problem& problem);

/// Returns the value the client fills the result with before a kernel that does not update it.
double result_fill(const problem::Problem& problem);

}  // namespace schaas::concrete_notation
